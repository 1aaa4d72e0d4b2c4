"""What a rank says of itself: the fixed-size progress file in its private folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from phalanx.frozen import frozen
from phalanx.owned import make_folder as make_owned
from phalanx.state.codec import build
from phalanx.state.gang import Pace

PROGRESS_BYTES = 4096
ERROR_BYTES = 1 << 22
"""Of the error file: a longer one is none of a framework's."""


@frozen
class Progress:
    """The last report of one rank. `step` counts finished optimizer steps."""

    step: int = 0
    total: int | None = None
    phase: str = "train"
    metrics: Mapping[str, float] = MappingProxyType({})
    first_ns: int = 0
    """Monotonic time of the first step finished in this attempt; 0 before it."""
    train_ns: int = 0
    stall_ns: int = 0
    saving: bool = False
    at_ns: int = 0
    pace: Pace | None = None
    """Once a block of steps was measured."""


def read_progress(folder: str) -> Progress:
    """The newest whole report; an empty one when there is none or it is being written."""
    try:
        with open(f"{folder}/progress", "rb") as file:
            words = json.loads(file.read(PROGRESS_BYTES))
        return _typed(words) if isinstance(words, dict) else Progress()
    except (OSError, ValueError, TypeError, OverflowError, RecursionError):
        return Progress()


def _typed(words: dict[str, Any]) -> Progress:
    total = words.get("total")
    metrics = words.get("metrics")
    return Progress(
        step=int(words.get("step") or 0),
        total=int(total) if total is not None else None,
        phase=str(words.get("phase") or "train"),
        metrics={str(k): float(v) for k, v in metrics.items()} if isinstance(metrics, dict) else {},
        first_ns=int(words.get("first_ns") or 0),
        train_ns=int(words.get("train_ns") or 0),
        stall_ns=int(words.get("stall_ns") or 0),
        saving=bool(words.get("saving")),
        at_ns=int(words.get("at_ns") or 0),
        pace=_pace(words.get("pace")),
    )


def _pace(words: Any) -> Pace | None:
    if not isinstance(words, dict) or not all(type(value) is int for value in words.values()):
        return None
    try:
        pace: Pace = build(Pace, words)
    except (KeyError, TypeError):
        return None
    return pace


def read_error(folder: str) -> str:
    """The framework's error file: its message and innermost call, or ''."""
    try:
        with open(f"{folder}/error.json", errors="replace") as file:
            words = json.loads(file.read(ERROR_BYTES))
        message = words["message"]
        return str(message["message"] if isinstance(message, dict) else message)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def make_folder(folder: str) -> None:
    """A private folder for one rank in one attempt, empty."""
    make_owned(folder)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
