"""Durations and sizes as people write them: `90s`, `1h30m`, `64GiB`."""

from __future__ import annotations

import re
from collections.abc import Callable

from phalanx.spec.wrong import Wrong, shown

DURATION = r"^(?:[0-9]+(?:\.[0-9]+)?(?:d|h|m|s|ms)\s*)+$"
"""Pattern of a duration, for the schema."""
SIZE = r"^[0-9]+(?:\.[0-9]+)?\s*(?:KiB|MiB|GiB|TiB)$"
"""Pattern of a size, for the schema."""

_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|d|h|m|s)\s*")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_LONGEST_S = 10 * 366 * 86400.0
_DURATIONS = "write 90s, 10m, 24h or 1h30m"

_MIB = {"KiB": 1 / 1024, "MiB": 1.0, "GiB": 1024.0, "TiB": 1024.0 * 1024.0}
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(KiB|MiB|GiB|TiB)")
_LOOSE_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([kmgt])(?:i?b?)", re.I)
_LARGEST_MIB = 1024**3
_SIZES = "write 512MiB or 64GiB"


def duration_s(value: object) -> float:
    """Seconds of a duration above 0. Raises `Wrong`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Wrong("{path} must be a duration such as 90s or 1h30m")
    text = str(value).strip()
    if not _DURATION.fullmatch(text):
        raise _no_duration(value, text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds <= 0:
        raise Wrong("{path} must be longer than 0", _DURATIONS)
    if seconds > _LONGEST_S:
        raise Wrong("{path} is longer than ten years", _DURATIONS)
    return seconds


def _no_duration(value: object, text: str) -> Wrong:
    if _is_none(value, text, _DURATION):
        return Wrong("{path} must be longer than 0", _DURATIONS)
    if _NUMBER.fullmatch(text) or not isinstance(value, str):
        fits = [(f"{text}s", "seconds"), (f"{text}m", "minutes")]
        offers = [f"{word} for {unit}" for word, unit in fits if _is_taken(duration_s, word)]
        return Wrong("{path} needs a unit", _write(offers, _DURATIONS))
    return Wrong(f"{{path}} is not a duration: {shown(value)}", _DURATIONS)


def _is_none(value: object, text: str, pattern: re.Pattern[str]) -> bool:
    """Whether it is a bare number of 0 or below, or less than nothing with a unit."""
    if not isinstance(value, str):
        return float(text) <= 0
    least = text.removeprefix("-")
    if _NUMBER.fullmatch(least):
        return float(text) <= 0
    return least != text and pattern.fullmatch(least) is not None


def _is_taken(parse: Callable[[object], object], word: str) -> bool:
    """A hint offers only what the next try will not refuse."""
    try:
        parse(word)
    except Wrong:
        return False
    return True


def _write(offers: list[str], otherwise: str) -> str:
    return f"write {' or '.join(offers)}" if offers else otherwise


def size_mib(value: object) -> int:
    """Whole MiB of a size of at least 1 MiB. Raises `Wrong`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Wrong("{path} must be a size such as 64GiB")
    text = str(value).strip()
    match = _SIZE.fullmatch(text)
    if match is None:
        raise _no_size(value, text)
    mib = float(match[1]) * _MIB[match[2]]
    if mib < 1 or mib != int(mib):
        raise Wrong("{path} must be whole MiB, at least 1MiB", _SIZES)
    if mib > _LARGEST_MIB:
        raise Wrong("{path} is larger than 1024TiB", _SIZES)
    return int(mib)


def _no_size(value: object, text: str) -> Wrong:
    if _is_none(value, text, _LOOSE_SIZE):
        return Wrong("{path} must be whole MiB, at least 1MiB", _SIZES)
    loose = _LOOSE_SIZE.fullmatch(text)
    words = [f"{loose[1]}{loose[2].upper()}iB"] if loose else []
    if _NUMBER.fullmatch(text) or not isinstance(value, str):
        words = [f"{text}GiB", f"{text}MiB"]
        said = "{path} needs a unit"
    else:
        said = f"{{path}} is not a size: {shown(value)}"
    return Wrong(said, _write([word for word in words if _is_taken(size_mib, word)], _SIZES))
