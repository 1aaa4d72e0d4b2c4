"""What a rank says of itself: the fixed-size progress file in its private folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from phalanx.frozen import frozen

PROGRESS_BYTES = 4096


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


def read_progress(folder: str) -> Progress:
    """The newest whole report; an empty one when there is none or it is being written."""
    try:
        with open(f"{folder}/progress", "rb") as file:
            words = json.loads(file.read(PROGRESS_BYTES))
    except (OSError, ValueError):
        return Progress()
    return _typed(words) if isinstance(words, dict) else Progress()


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
    )


def read_error(folder: str) -> str:
    """The framework's error file: its message and innermost call, or ''."""
    try:
        with open(f"{folder}/error.json", errors="replace") as file:
            words = json.load(file)
        message = words["message"]
        return str(message["message"] if isinstance(message, dict) else message)
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def make_folder(folder: str) -> None:
    """A private folder for one rank in one attempt, empty."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
