"""JSON, exactly: values by the standard library at full speed, places only when asked for."""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from phalanx.errors import SpecError
from phalanx.spec.places import DEPTH_MAX, Place, Spot

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:]|[^\s,:\[\]{}"]+', re.S)
_NESTING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.S)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORDS = {
    "Expecting value": "a value is missing or is not JSON",
    "Expecting property name enclosed in double quotes": "a name in double quotes belongs here",
    "Expecting ':' delimiter": "a colon is missing after the name",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Extra data": "more text follows after the end of the document",
    "Unterminated string starting at": "this text has no closing quote",
    "Invalid control character at": "a line break or tab stands inside a text; write \\n or \\t",
}


class _Twice(Exception):
    """A name occurs twice in one object."""


def is_json(text: str) -> bool:
    """Whether the text is one JSON object or list from end to end."""
    if text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_json(text: str, file: str) -> object:
    """The plain value. Raises `SpecError`."""
    if not text.strip():
        raise SpecError("is empty", file=file)
    _check_depth(text, file)
    try:
        value: object = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _refusal(text, error, file) from None
    except _Twice:
        json_spots(text, file)
        raise SpecError("a name is given twice", file=file) from None
    except RecursionError:
        raise SpecError("is nested too deeply", file=file) from None
    except ValueError as error:
        message = str(error)
        said = message if message.startswith("holds ") else "holds a number with too many digits"
        raise SpecError(said, file=file) from None
    if "\\u" in text:
        _check_surrogates(value, file)
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Twice
    return members


def _no_constant(name: str) -> object:
    raise ValueError(f"holds {name}, which is not JSON")


def _check_depth(text: str, file: str) -> None:
    if text.count("{") + text.count("[") <= DEPTH_MAX:
        return
    depth = 0
    for match in _NESTING.finditer(text):
        token = match[0]
        depth += (token in "{[") - (token in "}]")
        if depth > DEPTH_MAX:
            line = text.count("\n", 0, match.start()) + 1
            at = line, match.start() - text.rfind("\n", 0, match.start())
            raise SpecError(f"is nested more than {DEPTH_MAX} deep", file=file, at=at)


def _check_surrogates(value: object, file: str) -> None:
    if _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise SpecError("holds half of a \\u surrogate pair, which is no character", file=file)


def _refusal(text: str, error: json.JSONDecodeError, file: str) -> SpecError:
    before = text[: error.pos].rstrip(" \t\r\n")
    rest = text[error.pos :].lstrip(" \t\r\n,")
    at = (error.lineno, error.colno)
    if rest[:1] in ("}", "]") and (before.endswith(",") or text[error.pos : error.pos + 1] == ","):
        offset = len(before) - 1 if before.endswith(",") else error.pos
        at = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
        said = f"a comma stands before the closing {rest[0]}, which JSON does not allow"
        return SpecError(said, file=file, at=at, hint="remove the comma")
    if rest[:2] in ("//", "/*") or rest[:1] == "#":
        said = "JSON has no comments"
        return SpecError(said, file=file, at=at, hint="remove it, or write the file as YAML")
    if rest[:1] == "'":
        return SpecError("JSON puts text in double quotes", file=file, at=at)
    said = next((w for m, w in _WORDS.items() if error.msg.startswith(m)), "")
    if not rest and not said.startswith("this text"):
        said = "the file ends before the document does"
    return SpecError(
        f"is not JSON: {said or error.msg[:1].lower() + error.msg[1:]}", file=file, at=at
    )


class _Open:
    """An object or list whose end has not been met."""

    __slots__ = ("key", "spot")

    def __init__(self, spot: Spot) -> None:
        self.spot = spot
        self.key: tuple[str, Place] | None = None


def json_spots(text: str, file: str) -> Spot:
    """The tree of places of text that is JSON. Raises `SpecError` for a name given twice."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    root: Spot | None = None
    stack: list[_Open] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == ":":
            continue
        if token in "}]":
            stack.pop()
            continue
        line = bisect_right(starts, match.start())
        place = line, match.start() - starts[line - 1] + 1
        top = stack[-1] if stack else None
        if top and top.key is None and isinstance(top.spot.members, dict):
            top.key = _new_key(json.loads(token), place, top.spot.members, file)
            continue
        spot = Spot(*place)
        root = root or spot
        if top:
            _attach(top, spot)
        if token in "{[":
            spot.members = {} if token == "{" else []
            stack.append(_Open(spot))
    return root or Spot(1, 1)


def _new_key(
    name: str, place: Place, members: dict[str, tuple[Place, Spot]], file: str
) -> tuple[str, Place]:
    if name in members:
        raise given_twice(name, members[name][0], place, file)
    return name, place


def given_twice(name: str, first: Place, second: Place, file: str) -> SpecError:
    """The refusal of a member that occurs twice, with both places."""
    said = f"{name[:60]!r} is given twice, first at line {first[0]}, column {first[1]}"
    return SpecError(said, file=file, at=second, hint="keep one of them")


def _attach(top: _Open, spot: Spot) -> None:
    members = top.spot.members
    if isinstance(members, dict) and top.key is not None:
        name, place = top.key
        members[name] = place, spot
        top.key = None
    elif isinstance(members, list):
        members.append(spot)
