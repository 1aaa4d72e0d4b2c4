"""Careful reading of plain values: whatever is there, these answer and never raise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from phalanx.explain.model import Path

_MAX_INTEGER = 2**63
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?")


def member(value: Any, *path: str | int) -> Any:
    """The value below `path`, or None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """(index, object) of the objects in a list; other items are passed over."""
    for index, item in enumerate(sequence(value)):
        if isinstance(item, dict):
            yield index, item


def text(value: Any) -> str:
    """The text, or an empty one; numbers count as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return ""


def integer(value: Any) -> int | None:
    """The whole number, also one written as text or as 3.0; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,18}\s*", value):
        return int(value)
    if isinstance(value, float) and value == value and abs(value) < _MAX_INTEGER:
        return int(value) if value == int(value) else None
    return value if isinstance(value, int) and abs(value) < _MAX_INTEGER else None


def number(value: Any) -> float | None:
    """The number, also one written as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,15}(?:\.\d{1,9})?\s*", value):
        return float(value)
    if isinstance(value, (int, float)) and abs(value) < _MAX_INTEGER:
        return float(value)
    return None


def truth(value: Any) -> bool | None:
    """True or False, also written in words; None when it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("true", "yes", "required", "on", "enabled", "must"):
            return True
        if word in ("false", "no", "off", "none", "not required", "disabled", ""):
            return False
    return None


def moment(value: Any) -> float | None:
    """Seconds since 1970 of an ISO text or an epoch number (also in milliseconds), else None."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 < value < 10**14:
            return None
        return value / 1000 if value > 10**11 else float(value)
    if not isinstance(value, str):
        return None
    match = _ISO.search(value)
    if not match:
        return None
    zone = (match[4] or "Z").replace("Z", "+00:00")
    try:
        when = datetime.fromisoformat(f"{match[1]}T{match[2]}{zone[:3]}:{zone[-2:]}")
        return when.astimezone(timezone.utc).timestamp() + float(f"0.{match[3] or 0}")
    except (ValueError, OverflowError):
        return None


def canonical(value: Any) -> str:
    """Equal values give equal texts, whatever the order of their members."""
    return json.dumps(value, sort_keys=True, default=str)


def short(arn: str) -> str:
    """The last part of an ARN: the id."""
    return arn.rstrip("/").rsplit("/", 1)[-1]


def spell(path: Path) -> str:
    """A path as people write it: `tasks[0].stoppedReason`."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out
