"""Times as scripts and people read them."""

from __future__ import annotations

import time


def rfc3339(at_ns: int) -> str:
    """UTC with milliseconds: `2026-07-10T09:30:00.250Z`."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"


def maybe(at_ns: int | None) -> str | None:
    """`rfc3339`, or None where there is no time (None or 0)."""
    return rfc3339(at_ns) if at_ns else None
