"""One rank of a phalanx job: its counters, its saves, its agreement with the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from phalanx.checkpoint.find import read_head
from phalanx.checkpoint.manifest import PER_RANK, Piece, order_of
from phalanx.clock import SECOND_NS, Clock, SystemClock
from phalanx.errors import CheckpointError, CheckpointUnreadable
from phalanx.names import Keys
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from phalanx.train import agreement, randomness
from phalanx.train.agreement import Agreement, Mute, Word
from phalanx.train.beginning import Beginning
from phalanx.train.environment import Every, Surroundings
from phalanx.train.flushing import flush_all
from phalanx.train.metrics import MetricsFile
from phalanx.train.notices import Notices
from phalanx.train.pace import PaceMeter
from phalanx.train.progress import Progress
from phalanx.train.restoring import RANDOM, Checkpoint
from phalanx.train.saving import Outlet, Saver
from phalanx.train.schedule import STEPS_WITHOUT_AGREEMENT, Schedule
from phalanx.train.telling import AgentLine, say

__all__ = ["RANDOM", "UNREADABLE_EXIT", "Rank"]

UNREADABLE_EXIT = 76
"""Exit code of a rank that cannot read the checkpoint that its world names."""

COMMIT_WAIT_S = 600.0
"""How long a rank waits for the others' parts and the commit of the last checkpoint."""

_LOOK_S = (0.005, 0.1)
"""Shortest and longest pause between two looks at HEAD."""


class Rank:
    """What `Checkpointer` does inside phalanx."""

    def __init__(self, here: Surroundings, every: Every, clock: Clock | None = None) -> None:
        self._here = here
        self._clock = clock or SystemClock()
        self._keys = Keys(here.job)
        record = self._keys.record
        anchor = record if os.path.isdir(f"{here.root}/{record}") else ""
        self._store = Store(FilesObjects.open(here.root, anchor=anchor), writer_id())
        self._line = AgentLine(here.socket)
        self._saver = Saver(here, Outlet(self._store, self._keys, self._line, self._clock))
        self._schedule = Schedule(every)
        self._agreement: Agreement | None = None
        self._progress = Progress(here.progress_file, here.total_steps)
        self._metrics = MetricsFile(
            f"{here.root}/{self._keys.metrics_file(here.rank)}", here.attempt
        )
        self._pace = PaceMeter(here.rank, self._clock)
        self._notices = Notices(here.notice_file)
        self._is_for_notice = False
        self._cost_ms = 0
        self._saved_step: int | None = None
        self._saved_name = ""
        self._mark_ns = self._clock.monotonic_ns()
        self.finished = False
        self._saver.when_written = self._progress.written
        self._progress.show(self._mark_ns)

    def watch(self, state: Mapping[str, Any]) -> None:
        """Time this rank's own work, to be compared with the others'; alone there are none."""
        if self._here.world_size > 1:
            self._pace.watch(state)

    @property
    def index(self) -> int:
        """Global rank."""
        return self._here.rank

    def restore(
        self, placements: Mapping[str, str], modules: Sequence[str] = ()
    ) -> tuple[int, dict[str, Any]]:
        """(steps done, saved values by name). Ends the process when it cannot be read.

        Before the first commit: what the job file's `init_from` gives, for `modules` only unless
        everything is taken.
        """
        name = self._here.resume
        if not name:
            return self._begin(placements, modules) if self._here.init_from else (0, {})
        self.phase("restore")
        try:
            checkpoint = Checkpoint(self._store, self._keys, name)
            wanted = self._wanted(checkpoint, placements)
            saved = checkpoint.values(wanted, self._here.rank, self._here.world_size)
        except CheckpointUnreadable as error:
            self._line.tell(
                {"unreadable": name, "because": error.message[:2000], "rank": self.index}
            )
            because = f"cannot read checkpoint {name}: {error.line()}"
            raise self._end(because, UNREADABLE_EXIT) from None
        self._saved_step, self._saved_name = checkpoint.manifest.step, name
        return checkpoint.manifest.step, saved

    def _begin(
        self, placements: Mapping[str, str], modules: Sequence[str]
    ) -> tuple[int, dict[str, Any]]:
        self.phase("restore")
        try:
            place = (self._here.rank, self._here.world_size)
            beginning = Beginning(self._store, self._keys, place)
            values = beginning.values(placements, modules)
        except CheckpointUnreadable as error:
            raise self._end(f"init_from cannot be read: {error.line()}") from None
        origin = beginning.origin
        if self.index == 0:
            say(f"begins with {origin.words()}")
        self._saved_step = origin.first_step or None
        return origin.first_step, values

    def _wanted(self, checkpoint: Checkpoint, placements: Mapping[str, str]) -> dict[str, str]:
        saved = checkpoint.placements
        missing = [name for name in placements if name not in saved]
        if missing:
            raise CheckpointError(
                f"checkpoint {checkpoint.name} holds no {missing[0]!r}",
                hint=f"it holds {', '.join(saved)}; start a new job for another state",
            )
        extra = [name for name in saved if name not in placements and name != RANDOM]
        if extra and self.index == 0:
            say(f"checkpoint {checkpoint.name} also holds {', '.join(extra)}, which is not asked")
        wanted = {name: saved[name] for name in placements}
        if checkpoint.manifest.world_size == self._here.world_size:
            return {**wanted, RANDOM: PER_RANK}
        if self.index == 0:
            then, now = checkpoint.manifest.world_size, self._here.world_size
            say(f"{then} ranks saved {checkpoint.name}, {now} resume: random numbers start anew")
        return wanted

    def begin(self, random_states: dict[str, Any] | None) -> None:
        """Training begins after what was restored."""
        if random_states is not None:
            randomness.restore(random_states)
        self._progress.step = self._saved_step or 0
        self._metrics.resumed(self._progress.step, self._clock.wall_ns())
        self._mark_ns = self._clock.monotonic_ns()
        self.phase("train")
        if self._here.total_steps is not None and self._progress.step >= self._here.total_steps:
            self.finish()

    def phase(self, name: str) -> None:
        """Announce what goes on from now."""
        now_ns = self._clock.monotonic_ns()
        if self._progress.phase == "train":
            self._progress.train_ns += now_ns - self._mark_ns
        self._mark_ns = now_ns
        self._pace.begin(now_ns)
        self._progress.phase = name
        self._progress.show(now_ns)

    def stepped(self, done: int, metrics: Mapping[str, Any]) -> bool:
        """Count and report a step; whether all ranks save now."""
        progress, now_ns = self._progress, self._clock.monotonic_ns()
        self.finished = False
        if progress.phase == "train":
            progress.train_ns += now_ns - self._mark_ns
        progress.phase = "train"
        progress.step = done
        progress.first_ns = progress.first_ns or now_ns
        progress.saving = self._saver.busy
        self._pace.stepped(done, now_ns)
        progress.pace = self._pace.text
        self._metrics.note(done, metrics, self._clock.wall_ns())
        if progress.note(metrics, now_ns, must=done == self._here.total_steps):
            self._metrics.flush()
        progress.show(now_ns)
        return self._is_due(done, now_ns)

    def _is_due(self, done: int, now_ns: int) -> bool:
        if self._agreement is None:
            self._agreement = self._open_agreement()
        word = self._agreement.heard()
        if self.is_last(done):
            return self.is_unsaved(done)
        if word.wish > agreement.DUE:
            return self._answer(word, done)
        if self._schedule.by_count(done):
            return True
        agreed = word.wish > agreement.NONE and not word.busy
        self._schedule.by_time(now_ns)
        return agreed

    def _answer(self, word: Word, done: int) -> bool:
        """A notice is heard by all at this step: save now, or decline, all alike."""
        left_ms = agreement.left_ms_of(word.wish)
        cost_ms = word.cost_ms * (2 if word.busy else 1)  # a write under way comes first
        if left_ms is not None and cost_ms > left_ms:
            self._decline(f"a save takes {cost_ms} ms and {left_ms} ms are left")
            return self._schedule.by_count(done)
        self._is_for_notice = True
        return self.is_unsaved(done)

    def _decline(self, because: str) -> None:
        notice = self._notices.open()
        if notice is not None:
            self._notices.answered(notice)
            self._line.tell({"declined": because, "notice": notice.id, "rank": self.index})

    def _depart(self) -> None:
        """After the agreed save: a rank whose task departs waits here for its end.

        The others go on and wait for it in their next collective, so that no step is finished
        that the saved checkpoint does not hold.
        """
        self._is_for_notice = False
        notice = self._notices.open()
        self.phase("departure")
        if notice is None:
            return
        self._notices.answered(notice)
        self._saver.wait()
        if self._saver.problem is not None:
            self._line.tell(
                {"declined": self._saver.problem, "notice": notice.id, "rank": self.index}
            )
            return
        words = {"saved": self._saved_name, "notice": notice.id, "rank": self.index}
        self._line.tell(words)
        while notice.departs and self._clock.monotonic_ns() < notice.until_ns:
            self._clock.sleep(0.05)

    def _wish(self, now_ns: int) -> int:
        notice = self._notices.open()
        if notice is not None:
            left_ns = notice.until_ns - now_ns if notice.until_ns else None
            return agreement.wish_of(None if left_ns is None else left_ns // 1_000_000)
        return agreement.DUE if self._schedule.by_time(now_ns) else agreement.NONE

    def _open_agreement(self) -> Agreement:
        """Opened after the first step was reported, so that it does not delay that."""
        found = agreement.open_agreement(self._here.world_size)
        if isinstance(found, Mute):
            self._schedule.count_only()
            if self.index == 0:
                say(
                    "no process group over all ranks at the first step: they cannot agree on a "
                    f"time, so saves are due by steps (auto: every {STEPS_WITHOUT_AGREEMENT})"
                )
        return found

    def save(self, collect: Callable[[int], Mapping[str, Any]], layout: tuple[Piece, ...]) -> None:
        """Copy the state, then write it in the background. Raises `StateUnsupported`."""
        begun_ns = self._clock.monotonic_ns()
        self._metrics.flush()
        flush_all()
        self._saver.wait()  # a save due by count does not skip: it waits for the one before
        waited_ns = self._clock.monotonic_ns()
        done = self._progress.step
        state = {**collect(self.index), RANDOM: randomness.capture()}
        self._progress.saving = True  # first: a small write may have ended before `begin` returns
        self._saved_name = self._saver.begin(done, state, (*layout, Piece(RANDOM, PER_RANK)))
        self._saved_step = done
        now_ns = self._clock.monotonic_ns()
        self._progress.stall_ns += now_ns - begun_ns
        stall_ns = now_ns - waited_ns
        self._cost_ms = (stall_ns + self._saver.write_ns) // 1_000_000
        self._schedule.saved(begun_ns, stall_ns, self._saver.write_ns)
        self._progress.show(now_ns)

    def settled(self) -> None:
        """The end of a step's report: say this rank's wish, start timing the next step."""
        now_ns = self._clock.monotonic_ns()
        if self._agreement is not None and not self.is_last(self._progress.step):
            if self._is_for_notice:
                self._depart()
            if isinstance(self._agreement, Mute) and self._notices.open() is not None:
                self._decline("the ranks have no process group, so they cannot agree on a step")
            self._agreement.say(self._wish(now_ns), self._saver.busy, self._cost_ms)
        self._mark_ns = self._clock.monotonic_ns()
        self._pace.begin(self._mark_ns)

    def is_last(self, done: int) -> bool:
        """Whether this is the job's last step."""
        return done == self._here.total_steps

    def is_unsaved(self, done: int) -> bool:
        """Whether anything happened since the last save or restore."""
        return done > 0 and done != self._saved_step

    def finish(self) -> None:
        """Wait until the last save is committed and tell the agent that training is done.

        Raises `SystemExit` with one line when the last save failed or was refused.
        """
        if self.finished:
            return
        self.finished = True
        if self._agreement is not None:
            self._agreement.close()
        self._metrics.flush()
        self.phase("save")
        self._saver.wait()
        self._progress.saving = False
        if self._saver.problem is not None:
            raise self._end(f"the last save failed: {self._saver.problem}")
        self._line.tell({"done": self._progress.step, "rank": self.index})
        if self._saved_name and self._saved_name != self._here.resume:
            self._await_commit(self._saved_name)
        self.phase("done")

    def _await_commit(self, name: str) -> None:
        deadline_ns = self._clock.monotonic_ns() + int(COMMIT_WAIT_S * SECOND_NS)
        pause_s, longest_s = _LOOK_S
        while not self._is_committed(name):
            if self._clock.monotonic_ns() > deadline_ns:
                raise self._end(
                    f"nobody committed the last checkpoint {name} within {COMMIT_WAIT_S:.0f} s"
                )
            self._clock.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)

    def _is_committed(self, name: str) -> bool:
        head = read_head(self._store, self._keys)
        if head is None:
            return False
        if head.attempt > self._here.attempt:
            raise self._end(
                f"attempt {head.attempt} has taken over, the last checkpoint {name} of attempt "
                f"{self._here.attempt} is not committed"
            )
        newest = order_of(head.checkpoint) if head.checkpoint else None
        return newest is not None and newest >= (order_of(name) or newest)

    def _end(self, because: str, code: int = 1) -> SystemExit:
        """The end of this process with one line: why."""
        say(f"rank {self.index}: {because}")
        return SystemExit(code)

    def at_exit(self) -> None:
        """The interpreter ends: let the write that is under way finish."""
        self._metrics.flush()
        flush_all()
        self._saver.wait()
