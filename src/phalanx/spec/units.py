"""Durations and sizes as people write them: `90s`, `1h30m`, `64GiB`."""

from __future__ import annotations

import re

from phalanx.spec.wrong import Wrong, shown

DURATION = r"^(?:[0-9]+(?:\.[0-9]+)?(?:d|h|m|s|ms)\s*)+$"
"""Pattern of a duration, for the schema."""
SIZE = r"^[0-9]+(?:\.[0-9]+)?\s*(?:KiB|MiB|GiB|TiB)$"
"""Pattern of a size, for the schema."""

_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|d|h|m|s)\s*")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_LONGEST_S = 10 * 366 * 86400.0

_MIB = {"KiB": 1 / 1024, "MiB": 1.0, "GiB": 1024.0, "TiB": 1024.0 * 1024.0}
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(KiB|MiB|GiB|TiB)")
_LOOSE_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([kmgt])(?:i?b?)", re.I)
_LARGEST_MIB = 1024**3


def duration_s(value: object) -> float:
    """Seconds of a duration above 0. Raises `Wrong`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise Wrong("{path} needs a unit", _unit_hint(value))
    if not isinstance(value, str):
        raise Wrong("{path} must be a duration such as 90s or 1h30m")
    text = value.strip()
    if not _DURATION.fullmatch(text):
        if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", text):
            raise Wrong("{path} needs a unit", _unit_hint(text))
        raise Wrong(f"{{path}} is not a duration: {shown(value)}", "write 90s, 10m, 24h or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds <= 0:
        raise Wrong("{path} must be longer than 0")
    if seconds > _LONGEST_S:
        raise Wrong("{path} is longer than ten years")
    return seconds


def _unit_hint(number: object) -> str:
    text = str(number)[:16]
    return f"write {text}s for seconds or {text}m for minutes"


def size_mib(value: object) -> int:
    """Whole MiB of a size of at least 1 MiB. Raises `Wrong`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = str(value)[:16]
        raise Wrong("{path} needs a unit", f"write {text}GiB or {text}MiB")
    if not isinstance(value, str):
        raise Wrong("{path} must be a size such as 64GiB")
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise Wrong(f"{{path}} is not a size: {shown(value)}", _size_hint(value))
    mib = float(match[1]) * _MIB[match[2]]
    if mib < 1 or mib != int(mib):
        raise Wrong("{path} must be whole MiB, at least 1MiB")
    if mib > _LARGEST_MIB:
        raise Wrong("{path} is larger than 1024TiB")
    return int(mib)


def _size_hint(text: str) -> str:
    loose = _LOOSE_SIZE.fullmatch(text.strip())
    return f"write {loose[1]}{loose[2].upper()}iB" if loose else "write 512MiB or 64GiB"
