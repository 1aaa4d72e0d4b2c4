"""Where the benchmark keeps things, and how large it is this time."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
BODIES = HERE / "bodies"
RAW = HERE / "raw"
WORK = Path(os.environ.get("PHALANX_BENCH_WORK") or REPOSITORY / "build" / "bench")
"""Scratch on the disk that is measured."""
QUICK = os.environ.get("QUICK", "") not in ("", "0")
_NOT_MEASURED = ("lint", "explain", "facts", "cli", "spec", "sim")


def environment() -> dict[str, str]:
    """What measured processes inherit: nothing of a job around us, and byte code is kept.

    Without byte code every start would compile our sources, which no installed package does.
    """
    dropped = ("PHALANX_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)}


def trials(full: int, quick: int) -> int:
    """How many trials; `PHALANX_BENCH_TRIALS` goes before both."""
    given = os.environ.get("PHALANX_BENCH_TRIALS")
    return int(given) if given else quick if QUICK else full


def code_digest() -> str:
    """Names the code that was measured, so that old trials are not mixed with new ones."""
    digest = hashlib.sha256()
    source = REPOSITORY / "src" / "phalanx"
    for path in sorted([*source.rglob("*.py"), *BODIES.glob("*.py")]):
        if path.is_relative_to(source) and path.relative_to(source).parts[0] in _NOT_MEASURED:
            continue
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
