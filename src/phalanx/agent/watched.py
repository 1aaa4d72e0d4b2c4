"""An attempt in zero-code mode: steps are not told, checkpoints are found in a folder."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from phalanx.agent.accounts import Account
from phalanx.agent.attempt import AttemptRun
from phalanx.agent.departure import Notice
from phalanx.agent.progress import Progress
from phalanx.agent.protocol import Ranks, Seen
from phalanx.agent.seat import SeatPlace
from phalanx.agent.watching import AttemptWatch, Watching
from phalanx.checkpoint.folder.readiness import Writers
from phalanx.errors import CheckpointUnreadable, StoreError
from phalanx.frozen import replace
from phalanx.state.gang import End, World
from phalanx.store.store import Store
from phalanx.words import FailureClass, Outcome


class WatchedAttempt(AttemptRun):
    """An attempt of a job with `checkpoint.mode: watch`."""

    def __init__(self, place: SeatPlace, store: Store, account: Account) -> None:
        super().__init__(place, store, account)
        self._watch: AttemptWatch | None = None
        self._unreadable: tuple[str, str] | None = None

    def may_start(self, world: World) -> bool:
        """Whether the folder is what the world says. Raises `PhalanxError` when it cannot be."""
        workplace = self._workplace()
        if workplace.watching is None:
            plan, folder = workplace.plan, workplace.folder
            workplace.watching = Watching(self.place, self.store, plan, folder)
        self._watch = workplace.watching.of(world)
        try:
            return self._watch.is_restored()
        except CheckpointUnreadable as error:
            self._unreadable = (world.checkpoint or "", error.message)
            raise

    def start(self, world: World) -> None:
        """Start the ranks, and follow what they write."""
        super().start(world)
        if self._watch is not None:
            self._watch.begin()

    def failed(self, message: str, failure: FailureClass) -> End:
        """As for every attempt; a checkpoint that cannot be put back is named."""
        end = super().failed(message, failure)
        if self._unreadable is None:
            return end
        name, because = self._unreadable
        words = f"checkpoint {name}: {because}"
        failure = FailureClass.CHECKPOINT_UNREADABLE
        return replace(end, failure=failure, message=words, checkpoint=name)

    def state(self, seen: Seen) -> Ranks:
        """Ranks have not ended before what they left is committed."""
        state, watch = self.ranks.state, self._watch
        if state is not Ranks.ENDED or watch is None or not watch.is_keeper:
            return state
        is_well = not self.ranks.stop_reason and all(
            one.end is not None and one.end.exit_code == 0 for one in self.ranks.ranks
        )
        others = _others(self._world(), seen, self.place.slot) if is_well else [Outcome.FAILED]
        if any(other is None for other in others):
            return Ranks.STOPPING  # the last word is for the whole gang
        well = is_well and all(other is Outcome.SUCCEEDED for other in others)
        watch.finish(Writers(are_alive=False, ended_well=well))
        return state if watch.is_done else Ranks.STOPPING

    def reports(self) -> list[Progress]:
        """What ranks told, or else what the commits tell."""
        told = super().reports()
        if self._watch is None or any(report.at_ns for report in told):
            return told
        with contextlib.suppress(StoreError):
            self._watch.see_commits()
        until_ns = self.account.done_ns or time.monotonic_ns()
        return [self._watch.progress(self._heard(), until_ns)] * len(told)

    def waits(self) -> str:
        """How far the folder is put back, or copied into a commit."""
        return self._watch.waits() if self._watch is not None else ""

    def give_notice(self, notice: Notice) -> None:
        """Nobody can ask the script for a save: declined, unless its ranks tell steps."""
        super().give_notice(notice)
        if self.departure is None or self._watch is None or any(r.at_ns for r in self._told()):
            return
        newest = f"step {self._watch.step}" if self._watch.step else "none yet"
        self.departure.declined = (
            f"checkpoint.mode watch: the script saves when it wants to (newest commit: {newest})"
        )

    def take(self, messages: Any) -> None:
        """Parts of checkpoints do not count here: the folder does."""
        super().take([words for words in messages if "part" not in words])

    def _told(self) -> list[Progress]:
        return super().reports()

    def _heard(self) -> list[int]:
        return [stream.heard_ns for one in self.ranks.ranks for stream in one.streams]

    def _stalled(self) -> str:
        """No steps are known, so only a limit of the job's own can find a hang."""
        watch, limit_s = self._watch, self._workplace().plan.hang_after_s
        if watch is None or any(report.at_ns for report in self._told()):
            return super()._stalled()
        if limit_s is None or not watch.is_keeper:
            return ""
        if not watch.has_begun(self._heard()):
            limit_s = max(limit_s, self._workplace().plan.start_timeout_s)
        still_s = watch.still_s(self._heard(), time.monotonic_ns())
        if still_s <= limit_s:
            return ""
        return (
            f"no output and nothing new in checkpoint.dir for {still_s:.1f} s (limit {limit_s:g} s)"
        )


def _others(world: World, seen: Seen, slot: int) -> list[Outcome | None]:
    """How the other tasks' ranks ended; None for those that have not. Nobody waits once it is
    clear that not all end well, or once the attempt is over.
    """
    record = seen.record
    is_over = record is None or record.ending is not None or record.attempt != world.attempt
    ends = {end.slot: end.outcome for end in seen.ends}
    if is_over or any(outcome is not Outcome.SUCCEEDED for outcome in ends.values()):
        return [Outcome.FAILED]
    return [ends.get(member.slot) for member in world.members if member.slot != slot]
