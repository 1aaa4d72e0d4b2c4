"""A departure notice as a rank hears it: a small file that its agent writes beside the progress.

The file names a deadline on the machine's monotonic clock and whether this rank's task departs.
Looking costs one failed `stat` a step while there is none.
"""

from __future__ import annotations

import json
import os

from phalanx.frozen import frozen


@frozen
class Notice:
    """`until_ns` is monotonic, 0 for advice without a deadline."""

    id: str
    until_ns: int = 0
    departs: bool = True


class Notices:
    """What this rank's agent has announced; each notice is answered once."""

    def __init__(self, path: str) -> None:
        """`path` is the notice file; '' hears nothing."""
        self._path = path
        self._answered: set[str] = set()
        self._seen = (0, 0)
        """Inode and time of the file: two notices may have the same time."""
        self._notice: Notice | None = None

    def open(self) -> Notice | None:
        """The notice that waits for an answer, or None."""
        if not self._path:
            return None
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        if (found.st_ino, found.st_mtime_ns) != self._seen:
            self._seen = (found.st_ino, found.st_mtime_ns)
            self._notice = _read(self._path)
        notice = self._notice
        return None if notice is None or notice.id in self._answered else notice

    def answered(self, notice: Notice) -> None:
        """It was saved for, or declined."""
        self._answered.add(notice.id)


def _read(path: str) -> Notice | None:
    try:
        with open(path, encoding="utf-8") as file:
            words = json.load(file)
        return Notice(str(words["id"]), int(words["until_ns"]), bool(words["departs"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
