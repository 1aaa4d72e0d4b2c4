"""Regular expressions that are compiled when they are first needed.

Compiling is most of what importing the rules costs, and most rules never reach their pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


class Pattern:
    """What rules use of `re.Pattern`, made at the first call."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    @cached_property
    def _made(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self._made.search(text)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self._made.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.fullmatch`."""
        return self._made.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self._made.finditer(text)

    def findall(self, text: str) -> list[Any]:
        """As `re.Pattern.findall`: texts, or tuples where there are several groups."""
        return self._made.findall(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """As `re.Pattern.sub`."""
        return self._made.sub(new, text, count)

    def split(self, text: str) -> list[str]:
        """As `re.Pattern.split`, without groups."""
        return self._made.split(text)
