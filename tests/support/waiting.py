"""Wait on a condition, with a deadline that only a broken program reaches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(look: Callable[[], T], deadline_s: float = 30.0) -> T:
    """The first truthy answer of `look`."""
    deadline = time.monotonic() + deadline_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"never became true: {found!r}"
        time.sleep(0.01)
