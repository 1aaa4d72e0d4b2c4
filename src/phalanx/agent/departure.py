"""A departure notice on the agent's side: told to the ranks, answered or declined, kept.

One shape for every source: SIGTERM, `stop --save`, a Spot notice, rebalance advice.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import Any

from phalanx.errors import StoreError
from phalanx.frozen import frozen
from phalanx.names import Keys, seat_name
from phalanx.owned import write_private
from phalanx.store.store import Store
from phalanx.words import FailureClass

MARGIN_S = 0.3
"""Kept back from a deadline to end the ranks and write the ending."""


@frozen
class Notice:
    """`until_ns` is this machine's monotonic clock; None is advice, which ends nothing."""

    source: str
    until_ns: int | None
    failure: FailureClass
    """What the ending is called when the task goes because of it."""

    @property
    def departs(self) -> bool:
        """Whether this task goes."""
        return self.until_ns is not None


def sigterm(grace_s: float) -> Notice:
    """The task was asked to end by a signal."""
    return Notice("SIGTERM", _until(grace_s), FailureClass.HOST_LOST)


def stop_save(grace_s: float) -> Notice:
    """The user asked for a last save."""
    return Notice("stop-save", _until(grace_s), FailureClass.STOPPED_BY_USER)


def pause(grace_s: float) -> Notice:
    """The job is to rest for a while."""
    return Notice("pause", _until(grace_s), FailureClass.STOPPED_BY_USER)


def spot(seconds_left: float) -> Notice:
    """EC2 takes the instance back."""
    return Notice("spot", _until(seconds_left), FailureClass.SPOT_INTERRUPTION)


def rebalance() -> Notice:
    """EC2 expects to take the instance back; no deadline."""
    return Notice("rebalance", None, FailureClass.SPOT_INTERRUPTION)


def _until(seconds: float) -> int:
    return time.monotonic_ns() + int(max(0.0, seconds) * 1e9)


class Departure:
    """One notice on its way through one attempt of one slot."""

    def __init__(self, notice: Notice, folders: list[str]) -> None:
        self.notice = notice
        self.saved = ""
        """Name of the checkpoint that all ranks of this slot saved for it."""
        self.declined = ""
        self.is_kept = False
        """Whether the outcome has been written down."""
        self._answers: dict[int, str] = {}
        self._ranks = len(folders)
        for folder in folders:
            _tell(folder, notice)

    def take(self, words: dict[str, Any]) -> None:
        """An answer of one rank."""
        if words.get("notice") != self.notice.source:
            return
        if "declined" in words:
            self.declined = self.declined or str(words["declined"])
        elif "saved" in words:
            self._answers[int(words["rank"])] = str(words["saved"])
            if len(self._answers) == self._ranks:
                self.saved = str(words["saved"])

    def expire(self, *, is_committed: bool = False) -> None:
        """Past the deadline nobody waits for an answer, nor for the commit of what was saved."""
        until_ns = self.notice.until_ns
        if until_ns is None or self.declined or (self.saved and is_committed):
            return
        if time.monotonic_ns() > until_ns - int(MARGIN_S * 1e9):
            self.declined = (
                f"{self.saved} was not committed before the deadline"
                if self.saved
                else "no step was finished and saved before the deadline"
            )

    @property
    def is_answered(self) -> bool:
        """Saved or declined."""
        return bool(self.saved or self.declined)

    def sentence(self) -> str:
        """What came of it, for people."""
        if self.declined:
            return f"{self.notice.source}: declined to save: {self.declined}"
        return f"{self.notice.source}: all ranks saved {self.saved or 'nothing'} before the end"

    def keep(self, store: Store, keys: Keys, seat: tuple[int, int, int]) -> None:
        """Write the notice and its outcome, once each. `seat` is (slot, incarnation, attempt)."""
        name = f"{self.notice.source}-{seat_name(*seat[:2])}-{seat[2]}"
        words = {
            "source": self.notice.source,
            "slot": seat[0],
            "deadline": self.notice.departs,
            "seen_at_ns": store.now_ns(),
        }
        with contextlib.suppress(StoreError):
            store.create(f"{keys.notices}/{name}", json.dumps(words).encode())
            if self.is_answered:
                self.is_kept = True
                saved = None if self.declined else self.saved
                outcome = {"saved": saved, "declined": self.declined or None}
                store.create(f"{keys.notices}/{name}.outcome", json.dumps(outcome).encode())


def _tell(folder: str, notice: Notice) -> None:
    words = {"id": notice.source, "until_ns": notice.until_ns or 0, "departs": notice.departs}
    with contextlib.suppress(OSError):
        write_private(f"{folder}/notice.new", json.dumps(words).encode())
        os.replace(f"{folder}/notice.new", f"{folder}/notice")
