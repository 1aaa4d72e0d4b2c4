"""One thing that is wrong in a file, before it has a place, and how values are shown."""

from __future__ import annotations

import json
import re

_PLAIN_WORD = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./=+-]*")
_NOT_TEXT = frozenset({"null", "true", "false", "~", "-", "."})


class Wrong(ValueError):
    """Raised by checks of one value.

    `{path}` in the message becomes the value's path; `below` leads from the checked value to the
    member that is wrong.
    """

    def __init__(self, message: str, hint: str = "", below: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.below = below


def kind_of(value: object) -> str:
    """What a value is, in words; never the value itself."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "text"}
    names |= {list: "a list", dict: "a mapping"}
    return names.get(type(value), "nothing")


def shown(value: object, limit: int = 40) -> str:
    """A value in a message: one line, cut to `limit` characters."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    text = str(value) if isinstance(value, (int, float)) else ascii_quoted(str(value)[:200])
    return text if len(text) <= limit else text[: limit - 3] + "..."


def ascii_quoted(text: object) -> str:
    """Text in single quotes on one line, odd characters escaped."""
    return repr(" ".join(str(text).split()))


def flow_list(items: list[str]) -> str:
    """Words as a YAML list: `[python, train.py, --steps, "2000"]`."""
    return f"[{', '.join(_flow_word(item) for item in items)}]"


def _flow_word(text: str) -> str:
    if _PLAIN_WORD.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
