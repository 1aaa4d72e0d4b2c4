"""Measurements beside peers: `python -m bench [part ...]`. See README.md in this folder."""
