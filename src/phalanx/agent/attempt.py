"""One attempt as one agent lives it: its ranks, its beats, its commits, its ledger entry."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phalanx.agent import stacks
from phalanx.agent.accounts import Account
from phalanx.agent.command import launcher_argv
from phalanx.agent.departure import Departure, Notice
from phalanx.agent.environment import Place, every_rank, local_ranks, rank_environment
from phalanx.agent.progress import Progress, make_folder, read_progress
from phalanx.agent.protocol import Me, Ranks, Seen
from phalanx.agent.ranks import RankProcess, RankSet, Start, redacted
from phalanx.agent.report import Story, end_of, unable
from phalanx.agent.seat import SeatPlace, own_files
from phalanx.checkpoint.commit import CommitState, Committer, commit
from phalanx.errors import StoreError
from phalanx.frozen import replace
from phalanx.names import Keys, seat_name, split_checkpoint_name
from phalanx.state import codec
from phalanx.state.gang import Beat, End, World
from phalanx.store.store import Store
from phalanx.words import FailureClass

if TYPE_CHECKING:
    from phalanx.agent.workplace import Workplace


HANG_SETTLE_S = 1.5
"""From a hang's finding to the stop of the ranks: every agent reads its stacks meanwhile."""
FRESH_NS = 5 * 10**9
"""Beats come every second; an older one speaks for nobody."""
HANG_GRACE_S = 0.2
"""Between SIGTERM and SIGKILL for ranks that hang: they will not listen."""


class AttemptRun:
    """Everything of one attempt that is not a decision."""

    def __init__(self, place: SeatPlace, store: Store, account: Account) -> None:
        self.place = place
        self.store = store
        self.account = account
        self.keys = Keys(place.job)
        self.workplace: Workplace | None = None
        self.ranks = RankSet()
        self.world: World | None = None
        self.pending: set[str] = set()
        """Checkpoints that a rank of ours has written its part of, not known to be committed."""
        self.hang_message = ""
        self.departure: Departure | None = None
        self._hang_stop_at: float | None = None
        self._has_noted_stacks = False
        self._said = ""

    def may_start(self, world: World) -> bool:
        """Whether ranks can be started already; if not, ask again."""
        return True

    def start(self, world: World) -> None:
        """Start this slot's ranks in this world."""
        workplace = self._workplace()
        self.world = world
        self.account.first_step = world.checkpoint_step
        self.ranks = RankSet(workplace.redactor)
        workplace.stalls.begin(world.checkpoint_step)
        starts = []
        for local_rank in range(local_ranks(workplace.plan)):
            folder = os.path.join(self.place.scratch, str(world.attempt), str(local_rank))
            make_folder(folder)
            starts.append(self._start_of(local_rank, folder))
        self.ranks.start(starts, self._log_folder(), workplace.warm)

    def stop(self, why: str, grace_s: float) -> None:
        """Signal the ranks, insist after the grace."""
        self.ranks.stop(why, grace_s)

    def update(self, me: Me, seen: Seen) -> Me:
        """`me` with the ranks as they are now; a sibling's death stops the others at once."""
        if self.world is None or me.attempt != self.account.attempt:
            return me
        me = self._settle_departure(me)
        self.ranks.settle(is_warm_dead=self._workplace().warm is None)
        if self.wakes_in() == 0.0:
            self.ranks.stop("a rank hangs", HANG_GRACE_S)
        self.ranks.insist()
        if any(r.end is not None and r.end.exit_code != 0 for r in self.ranks.ranks):
            self.ranks.stop("a rank of this slot ended", 1.0)
            self.ranks.insist()
            self.ranks.settle(is_warm_dead=self._workplace().warm is None)
        state = self.state(seen)
        if state is not Ranks.ENDED or me.ranks is Ranks.ENDED:
            return replace(me, ranks=state)
        self.account.done_ns = time.monotonic_ns()
        self._commit_pending()
        return replace(me, ranks=state, end=self._end(me, seen))

    def state(self, seen: Seen) -> Ranks:
        """Where the ranks are."""
        return self.ranks.state

    def reports(self) -> list[Progress]:
        """The newest report of every rank."""
        return self.ranks.progress()

    def waits(self) -> str:
        """What is waited for beside the ranks, for people; '' for nothing."""
        return ""

    def give_notice(self, notice: Notice) -> None:
        """Tell the ranks once; advice gives way to a notice with a deadline."""
        if self.world is None or (self.departure and self.departure.notice == notice):
            return
        folders = [one.folder for one in self.ranks.ranks if one.end is None]
        self.departure = Departure(notice, folders)
        self._keep_departure(self.departure)
        if not any(report.at_ns for report in self.ranks.progress()):
            self.departure.declined = "no rank has told a step: none can say when it would save"

    def _settle_departure(self, me: Me) -> Me:
        """Note whether the ranks have answered, once what they saved is committed."""
        departure = self.departure
        if departure is None or me.save_settled or departure.is_kept:
            return me
        is_committed = departure.saved not in self.pending
        departure.expire(is_committed=is_committed)
        if not (departure.declined or (departure.saved and is_committed)):
            return me
        self._keep_departure(departure)
        return replace(me, save_settled=departure.notice.departs)

    def _keep_departure(self, departure: Departure) -> None:
        account = self.account
        seat = (account.slot, account.incarnation, account.attempt)
        departure.keep(self.store, self.keys, seat)

    def find_hang(self) -> bool:
        """Whether a rank has stood still too long: if so, note the stacks of all and stop them."""
        if self.world is None or self.ranks.state is not Ranks.RUNNING or self._hang_stop_at:
            return False
        self.hang_message = self._stopped() or self._storeless() or self._stalled()
        if not self.hang_message:
            return False
        words = f"slot {self.account.slot}: {self.hang_message}"
        with contextlib.suppress(StoreError):
            self.store.create(self.keys.hang(self.account.attempt), words.encode())
        self.join_hang()
        return True

    def _stalled(self) -> str:
        stalls, now_ns = self._workplace().stalls, time.monotonic_ns()
        stall = stalls.look(now_ns, self.ranks.progress())
        if stall is None:
            return ""
        if not stalls.is_excused(now_ns) and self._peers_are_excused():
            stalls.wait_for_peers(now_ns)
            return ""
        rank = self.ranks.ranks[stall.local_rank].rank
        said = f"rank {rank} finished step {stall.step} and then stood still for"
        return f"{said} {stall.for_s:.1f} s (limit {stall.limit_s:.1f} s)"

    def _peers_are_excused(self) -> bool:
        """Whether ranks of ours may be waiting for one elsewhere that evaluates or saves."""
        for member in self._world().members:
            key = self.keys.beat(self.account.attempt, member.slot, member.incarnation)
            with contextlib.suppress(StoreError, ValueError):
                pulse = self.store.pulse(key) if member.slot != self.place.slot else None
                if pulse and pulse[1] < FRESH_NS and codec.loads(Beat, pulse[0]).excused:
                    return True
        return False

    def _stopped(self) -> str:
        """Stopped ranks, and a stopped collective store on which ranks wait before they step."""
        workplace = self._workplace()
        ranks = {one.pid: one.rank for one in self.ranks.ranks if one.end is None}
        below = None if workplace.sees_ranks else workplace.families.below
        return workplace.stopped.said(time.monotonic(), ranks, below, workplace.stores)

    def _storeless(self) -> str:
        """The collective store that this slot serves has ended before anybody had stepped.

        It dies with a warm parent. Ranks that have not joined yet would wait for it for ever.
        """
        first, workplace = self._world().members[0], self._workplace()
        is_ours = first.slot == self.place.slot and first.agent_store
        if not (is_ours and workplace.stores and stacks.has_ended(workplace.stores[-1])):
            return ""
        if any(report.at_ns for report in self.ranks.progress()):
            return ""
        return f"the collective store (process {workplace.stores[-1]}) ended before the first step"

    def join_hang(self) -> None:
        """Note the stacks now, stop the ranks a little later: others note theirs meanwhile.

        A rank whose peer is stopped no longer stands where it stood.
        """
        if self._hang_stop_at is None and self.ranks.state is Ranks.RUNNING:
            self._hang_stop_at = time.monotonic() + HANG_SETTLE_S
            self.note_stacks()

    def watch_memory(self) -> float | None:
        """Look at what the ranks use, if it is time; seconds until the next look, None: never."""
        is_running = self.ranks.state is Ranks.RUNNING
        return self._workplace().families.look(self.ranks) if is_running else None

    def wakes_in(self) -> float | None:
        """Seconds until something here is due; None when nothing is."""
        if self._hang_stop_at is None or self.ranks.state is not Ranks.RUNNING:
            return None
        return max(0.0, self._hang_stop_at - time.monotonic())

    def note_stacks(self) -> None:
        """Keep what every rank is doing, once: in its ending, and whole as evidence."""
        if self._has_noted_stacks:
            return
        self._has_noted_stacks = True
        alive = [one for one in self.ranks.ranks if one.end is None]
        for one in alive:
            stacks.forget(one.folder)
            stacks.ask(one.pid)
        deadline = time.monotonic() + stacks.WAIT_S
        for one in alive:
            is_stopped = stacks.is_stopped(one.pid)
            wait_s = 0.0 if is_stopped else max(0.0, deadline - time.monotonic())
            text = stacks.read_stacks(one.folder, wait_s)
            report = read_progress(one.folder)
            one.stuck = stacks.stuck_in(one.pid, text)
            one.place = stacks.where(text)
            one.still_ns = time.monotonic_ns() - report.at_ns if report.at_ns else 0
            self._keep_stacks(one.rank, text)

    def _keep_stacks(self, rank: int, text: str) -> None:
        name = f"stacks-{self.account.attempt}-{rank:05d}"
        with contextlib.suppress(StoreError):
            clean = self.ranks.redactor.text(text)
            self.store.create(f"{self.keys.evidence}/{name}", clean.encode())

    def take(self, messages: Sequence[dict[str, Any]]) -> None:
        """What the ranks said: commit what is whole, remember what could not be read."""
        for words in map(self.ranks.redactor.words, messages):
            if split_checkpoint_name(str(words.get("part"))):
                self.pending.add(str(words["part"]))
            self._note(words)
            if self.departure is not None:
                self.departure.take(words)
        if messages:
            self._commit_pending()

    def fds(self) -> frozenset[int]:
        """Descriptors that bring news of ranks: their ends, and what they print."""
        return frozenset(self.ranks.fds())

    def wake(self, fd: int) -> None:
        """Take in the news of one descriptor; a pipe that has ended is left alone from now on."""
        source = self.ranks.fds().get(fd)
        if isinstance(source, RankProcess):
            self.ranks.gone(source)
        elif source is not None and not source.pump():
            source.end()

    def beat(self) -> None:
        """Overwrite this agent's beat, and try again to commit what was whole."""
        self._commit_pending()
        workplace = self.workplace
        if workplace is not None and self.world is not None:
            workplace.spare_store()
        reports = self.reports()
        slowest = min(reports, key=lambda p: p.step, default=Progress())
        first = self.account.first_step
        done = slowest.step - first
        account = self.account
        beat = Beat(
            slot=account.slot,
            incarnation=account.incarnation,
            attempt=account.attempt,
            step=max(first, slowest.step),
            total_steps=slowest.total,
            phase=slowest.phase,
            metrics=tuple(sorted(slowest.metrics.items())),
            rank_pids=tuple(r.pid for r in self.ranks.ranks),
            rank_steps=tuple(p.step for p in reports),
            step_time_ns=slowest.train_ns // done if done > 0 else 0,
            saving=any(p.saving for p in reports),
            excused=workplace is not None and workplace.stalls.is_excused(time.monotonic_ns()),
            entry=account.entry(time.monotonic_ns(), reports),
            waits=self.waits(),
        )
        key = self.keys.beat(account.attempt, account.slot, account.incarnation)
        self.store.beat(key, codec.dumps(beat))

    def close(self) -> tuple[str, bytes]:
        """Key and body of the ledger entry, to be written. Raises `StoreError`."""
        account = self.account
        now_ns = self.store.now_ns()
        entry = account.entry(time.monotonic_ns(), self.reports(), end_ns=now_ns)
        key = self.keys.ledger_entry(account.slot, account.incarnation, account.attempt)
        return key, codec.dumps(entry)

    def failed(self, message: str, failure: FailureClass) -> End:
        """The ending of an attempt in which this agent could not do its part."""
        account = self.account
        return unable((account.slot, account.incarnation, account.attempt), message, failure)

    def _start_of(self, local_rank: int, folder: str) -> Start:
        workplace, world = self._workplace(), self._world()
        place = Place(
            job=self.place.job,
            root=self.place.root,
            slot=self.place.slot,
            attempt=world.attempt,
            checkpoint_folder=own_files(self.place),
            rank_folder=folder,
            agent_socket=os.path.join(self.place.scratch, "agent"),
            tracking=workplace.tracking,
        )
        env = {**workplace.env, **rank_environment(workplace.plan, world, place, local_rank)}
        argv = list(workplace.plan.command)
        if workplace.warm is None:
            argv = launcher_argv(workplace.plan, world, self.place.slot, sys.executable)
        rank = int(env["RANK"])
        return Start(rank, local_rank, argv, env, workplace.folder, folder)

    def _log_folder(self) -> str:
        name = f"{seat_name(self.place.slot, self.place.incarnation)}-{self.account.attempt}"
        return os.path.join(self.place.root, self.keys.logs, name)

    def _note(self, words: dict[str, Any]) -> None:
        for one in self.ranks.ranks:
            if one.rank != words.get("rank"):
                continue
            if "unreadable" in words:
                one.unreadable = (str(words["unreadable"]), str(words.get("because", "")))
            if "done" in words:
                one.has_announced_end = True

    def _commit_pending(self) -> None:
        if self.world is None or not self.pending:
            return
        plan = self._workplace().plan
        code = plan.source_digest or ""
        size = every_rank(plan, self.world).size
        who = Committer(self.account.attempt, size, code, plan.init_from)
        for name in sorted(self.pending):
            try:
                outcome = commit(self.store, self.keys, who, name)
            except StoreError as error:
                # A full disk or a root that is away: every beat tries again.
                self._say_once(f"{name} cannot be committed: {error.line()}")
                return
            if outcome.state is not CommitState.INCOMPLETE:
                self.pending.discard(name)
            if outcome.state is CommitState.REFUSED:
                print(f"{name} is not committed: {outcome.reason}", file=sys.stderr, flush=True)

    def _say_once(self, text: str) -> None:
        if text != self._said:
            self._said = text
            print(text, file=sys.stderr, flush=True)

    def _end(self, me: Me, seen: Seen) -> End:
        account, ranks = self.account, self.ranks.ranks
        steps = [report.step for report in self.reports()]
        redactor = self.ranks.redactor
        story = Story(
            seat=(account.slot, account.incarnation, account.attempt),
            ranks=tuple(redacted(r.end, redactor) for r in ranks if r.end is not None),
            step=max([account.first_step, *steps]),
            finished=bool(ranks) and all(r.has_announced_end for r in ranks),
            stop_reason=self.ranks.stop_reason,
            hang=self.hang_message,
            unreadable=next((r.unreadable for r in ranks if r.unreadable is not None), None),
            departed=self._departed(me, seen),
        )
        return end_of(story)

    def _departed(self, me: Me, seen: Seen) -> tuple[FailureClass, str] | None:
        """The departure that ended this attempt here, unless the whole job is ending."""
        departure, record = self.departure, seen.record
        if record is None or record.ending is not None or not me.asked_to_leave:
            return None
        if departure is None or not departure.notice.departs:
            return FailureClass.HOST_LOST, "the task was asked to end"
        return departure.notice.failure, departure.sentence()

    def _workplace(self) -> Workplace:
        assert self.workplace is not None, "prepare comes first"
        return self.workplace

    def _world(self) -> World:
        assert self.world is not None, "start comes first"
        return self.world
