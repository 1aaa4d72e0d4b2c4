"""Bytes of one file to a plain value with places, or to text; never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from phalanx.errors import InputError, SpecError
from phalanx.explain import kinds
from phalanx.explain.model import Path
from phalanx.spec.located import read
from phalanx.spec.places import BYTES_MAX, DEPTH_MAX

Place = tuple[int, int]


def _nowhere(_: Path) -> Place:
    return (0, 0)


@dataclass(frozen=True)
class Input:
    """One file as it was given."""

    file: str
    data: bytes
    optional: bool = False
    """Found in a folder, not named: when it cannot be read, that is a note and no error."""


@dataclass(frozen=True)
class Evidence:
    """One file, read: `value` is its JSON, None for plain text."""

    file: str
    text: str
    value: Any = None
    place: Callable[[Path], Place] = _nowhere
    lines: bool = False
    """It was a file of one JSON value a line; `value` is their list."""


def load(given: Input) -> Evidence:
    """The file as JSON, as a JSON value a line, or as text. Raises `InputError`."""
    text = _text(given)
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if given.file.endswith((".json", ".jsonl")):
        _must_hold_something(given.file, text, start)
    if start not in ("{", "["):
        return Evidence(given.file, text)
    if not given.file.endswith(".json"):
        many = _json_lines(text)
        if many is not None:
            return Evidence(given.file, text, many, lines=True)
        if not _is_json(text):
            return Evidence(given.file, text)  # a log line may begin with a bracket
    if len(given.data) > BYTES_MAX:
        return Evidence(given.file, text, _plain(given.file, text))
    try:
        document = read(text, given.file)
    except SpecError as error:
        many = _json_lines(text)
        if many is not None:
            return Evidence(given.file, text, many, lines=True)
        raise InputError(error.line()) from None
    return Evidence(given.file, text, document.value, document.place)


def _must_hold_something(file: str, text: str, start: str) -> None:
    if not start:
        raise InputError(f"{file}: is empty")
    if start not in ("{", "[") and _is_json(text):
        raise InputError(
            f"{file}: is none of the kinds of evidence that `explain` knows",
            hint=f"it reads {kinds.READS}",
        )


def _text(given: Input) -> str:
    if given.data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{given.file}: is UTF-16 text (save it as UTF-8)")
    if b"\0" in given.data[:8192]:
        raise InputError(f"{given.file}: is not a text file")
    return given.data.decode("utf-8", "replace").removeprefix("\ufeff")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _plain(file: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: is not JSON: {error}") from None


def _json_lines(text: str) -> list[Any] | None:
    """The values of a file with one JSON object a line; None when it is no such file."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip()[:1] == "{" for line in lines):
        return None
    if any(_is_deep(line) for line in lines):
        return None
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def _is_deep(line: str) -> bool:
    """Whether brackets nest deeper than any evidence does; brackets in texts count as well."""
    if line.count("{") + line.count("[") <= DEPTH_MAX:
        return False
    depth = deepest = 0
    for character in line:
        depth += (character in "{[") - (character in "}]")
        deepest = max(deepest, depth)
    return deepest > DEPTH_MAX
