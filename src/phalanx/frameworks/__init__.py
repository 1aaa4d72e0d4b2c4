"""Callbacks for training frameworks, one module each; nothing here is imported unasked."""
