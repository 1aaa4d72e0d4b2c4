"""Which files are not shipped: the rules of `.gitignore`, read by our own small matcher. Pure.

Later rules win, so the order is: built-in defaults, `.gitignore` files (deeper ones last),
`.phalanxignore` files, `exclude` of the job file. A rule that starts with `!` ships again what
an earlier one left out, unless a folder above it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

DEFAULTS = (
    ".git",
    ".hg",
    ".svn",
    ".phalanx",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    "*.py[cod]",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".tox",
    ".nox",
    ".DS_Store",
)
"""Left out unless a rule ships them again. Models and data are shipped unless excluded."""

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "lower": "a-z",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class Rule(NamedTuple):
    """One line of an ignore file."""

    base: str
    """Folder of the file that holds it, relative to the source: "" or `a/b/`."""
    pattern: re.Pattern[str]
    ships: bool
    only_folders: bool

    def covers(self, path: str, is_folder: bool) -> bool:
        """Whether the rule speaks of this path, relative to the source."""
        if self.only_folders and not is_folder:
            return False
        if not path.startswith(self.base):
            return False
        return self.pattern.fullmatch(path, len(self.base)) is not None


def read_rules(lines: Iterable[str], base: str = "") -> tuple[Rule, ...]:
    """The rules of one file; lines that say nothing or that git would not match are dropped."""
    rules = (_rule(line, base) for line in lines)
    return tuple(rule for rule in rules if rule is not None)


def is_ignored(rules: Iterable[Rule], path: str, is_folder: bool) -> bool:
    """What the last rule that speaks of the path says. The folders above are not looked at."""
    for rule in reversed(tuple(rules)):
        if rule.covers(path, is_folder):
            return not rule.ships
    return False


def is_asked_for(rules: Iterable[Rule], path: str, is_folder: bool) -> bool:
    """Whether the last rule that speaks of the path ships it again."""
    for rule in reversed(tuple(rules)):
        if rule.covers(path, is_folder):
            return rule.ships
    return False


def _rule(line: str, base: str) -> Rule | None:
    text = _strip(line)
    ships = text.startswith("!")
    text = text[1:] if ships else text
    if not text or line.startswith("#"):
        return None
    only_folders = text.endswith("/")
    text = text[:-1] if only_folders else text
    if not text:
        return None
    is_anchored = "/" in text
    text = text.removeprefix("/")
    try:
        pattern = re.compile(_regex(text, is_anchored), re.DOTALL)
    except (re.error, ValueError):
        return None
    return Rule(base, pattern, ships, only_folders)


def _strip(line: str) -> str:
    """Without the line's end and without blanks at the end that no backslash protects."""
    text = line.rstrip("\r\n")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    return text


def _regex(text: str, is_anchored: bool) -> str:
    """Raises `ValueError` for a pattern that can match nothing."""
    out = "" if is_anchored else "(?:.*/)?"
    position = 0
    while position < len(text):
        piece, position = _piece(text, position)
        out += piece
    return out


def _piece(text: str, at: int) -> tuple[str, int]:
    """The next part as a regular expression, and where it ends."""
    starts_segment = at == 0 or text[at - 1] == "/"
    if starts_segment and text.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if starts_segment and text[at:] == "**":
        return ".+", len(text)
    if text[at] == "*":
        end = at
        while end < len(text) and text[end] == "*":
            end += 1
        return "[^/]*", end
    if text[at] == "?":
        return "[^/]", at + 1
    if text[at] == "[":
        return _bracket(text, at)
    if text[at] == "\\":
        if at + 1 == len(text):
            raise ValueError("a backslash at the end")
        return re.escape(text[at + 1]), at + 2
    return re.escape(text[at]), at + 1


def _bracket(text: str, at: int) -> tuple[str, int]:
    """`[a-z]`, `[!a]`, `[[:digit:]]`; never matches a slash."""
    position = at + 1
    negated = text[position : position + 1] in ("!", "^")
    position += negated
    items, first = "", True
    while first or text[position : position + 1] != "]":
        first = False
        item, position = _bracket_item(text, position)
        items += item
    body = f"[^{items}]" if negated else f"[{items}]"
    return f"(?!/){body}", position + 1


def _bracket_item(text: str, at: int) -> tuple[str, int]:
    named = re.match(r"\[:(\w+):\]", text[at:])
    if named:
        if named[1] not in _CLASSES:
            raise ValueError(f"no such class: {named[1]}")
        return _CLASSES[named[1]], at + named.end()
    low, at = _bracket_char(text, at)
    if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in ("", "]"):
        high, at = _bracket_char(text, at + 1)
        return f"{re.escape(low)}-{re.escape(high)}", at
    return re.escape(low), at


def _bracket_char(text: str, at: int) -> tuple[str, int]:
    if at < len(text) and text[at] == "\\":
        at += 1
    if at >= len(text):
        raise ValueError("a bracket is not closed")
    return text[at], at + 1
