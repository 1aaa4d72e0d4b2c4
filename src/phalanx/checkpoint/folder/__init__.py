"""Checkpoints that a framework writes by itself into a folder: recognised, kept, put back.

Only structure is read: names, sizes, headers, directories of archives. Nothing is unpickled.
"""
