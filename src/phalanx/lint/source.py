"""A file as it is handed to lint: its name for people, and its text."""

from __future__ import annotations

from phalanx.frozen import frozen


@frozen
class SourceFile:
    """`name` is the path as the user wrote it; `named` is False when a folder was searched."""

    name: str
    text: str
    named: bool = True
    data_only: bool = False
    """Only there for other files to read (`file()`, `templatefile()`, variables)."""
