"""Types of single fields of a workload file: counts such as `7B`, and days."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from phalanx.spec.wrong import Wrong, shown

_COUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([KMBT]?)", re.I)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MOST = 10**14


def count(value: object) -> int:
    """`7B`, `350M`, `1.5B` or a number, as a whole number of at least 1. Raises `Wrong`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Wrong("{path} must be a number such as 7B or 350M")
    if isinstance(value, str):
        match = _COUNT.fullmatch(value.strip())
        if match is None:
            raise Wrong(f"{{path}} is not a number: {shown(value)}", "write 7B, 350M or a number")
        value = float(match[1]) * _TIMES[match[2].lower()]
    if not 1 <= value <= _MOST:
        raise Wrong("{path} must be between 1 and 100T")
    return int(value)


def day(value: object) -> str:
    """A day as `2026-11-30`. Raises `Wrong`."""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise Wrong(f"{{path}} is not a day: {shown(value)}", 'write "2026-11-30"') from None


Count = Annotated[
    int,
    PlainValidator(count),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 1}, {"type": "string"}]}),
]
Day = Annotated[str, PlainValidator(day), WithJsonSchema({"type": "string", "format": "date"})]
