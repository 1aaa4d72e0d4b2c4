"""The summary that torchrun prints when it gives up: whose failure it saw first. Pure."""

from __future__ import annotations

import re

ROOT = "Root Cause (first observed failure)"
_SECTION = re.compile(r"\bFailures:\s*$")
_ENTRY = re.compile(r"\[\d{1,6}\]:\s*$")
_RANK = re.compile(r"\brank\s{0,12}:\s{0,4}(\d{1,6}) \(local_rank")
_FIELD = re.compile(r"\b(exitcode|traceback|error_file)\s{0,12}:\s?(.*)")


class Summary:
    """Follows the lines of a log through such a summary."""

    def __init__(self, text: str) -> None:
        """Before the first line of `text`."""
        self._has_root = ROOT in text
        self._in_root = False
        self._rank = ""
        self.root = ""
        """Rank of the first failure that torchrun saw; empty when it names none."""
        self._fields: dict[str, str] = {}

    @property
    def signal(self) -> str:
        """The sentence about the signal that ended that rank; empty when none did."""
        was_killed = self._fields.get("exitcode", "").startswith("-")
        return self._fields.get("traceback", "") if was_killed else ""

    def see(self, line: str) -> None:
        """Take note of a section, an entry, or the rank of an entry."""
        if ROOT in line:
            self._in_root, self._rank = True, ""
        elif _SECTION.search(line):
            self._in_root, self._rank = False, ""
        elif _ENTRY.search(line):
            self._rank = ""
        rank = _RANK.search(line)
        if rank:
            self._rank = rank[1]
            self.root = rank[1] if self._in_root else self.root
        field = _FIELD.search(line)
        if field and self._in_root:
            self._fields.setdefault(field[1], field[2])

    def rank_of(self, line: str) -> str:
        """The rank that a line of an entry tells of; empty for any other line."""
        return self._rank if _FIELD.search(line) else ""

    def is_sibling(self, line: str) -> bool:
        """Whether the line is about a rank that torchrun stopped because of the first one."""
        return self._has_root and not self._in_root and bool(self.rank_of(line))
