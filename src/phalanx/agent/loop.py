"""The agent of one task: look, decide, carry out one move, until it may leave.

The decisions are `agent.protocol.decide`; here is only what touches the world. Nothing sleeps on
a timer that an event could wake: ranks, the warm parent and the controller are watched by process
file descriptors, the root by notification, the ranks' words by a socket.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from phalanx.agent import processes, protocol
from phalanx.agent.inbox import Inbox
from phalanx.agent.isolation import Isolation, set_alarm
from phalanx.agent.protocol import Me, Ranks, Seen
from phalanx.agent.seat import SeatPlace, remove_tree
from phalanx.errors import PhalanxError, SourceDamaged, StoreError
from phalanx.frozen import replace
from phalanx.names import Keys
from phalanx.state import codec, read
from phalanx.state.record import Record
from phalanx.store.store import Store
from phalanx.words import FailureClass, Phase

BEAT_EVERY_S = 1.0
FIRST_BEAT_AFTER_S = 0.4
"""After ranks were started: until then what is not urgent stays out of their way."""
RESTART_GRACE_S = 1.0
"""Time between SIGTERM and SIGKILL for ranks whose attempt is over."""
ISOLATION_S = 600.0
"""For an agent that has never read its job's own limit."""
GONE_AFTER_S = 5.0
"""A root folder that is missing this long has been deleted."""


if TYPE_CHECKING:
    from phalanx.agent.accounts import Account
    from phalanx.agent.attempt import AttemptRun
    from phalanx.agent.departure import Notice
    from phalanx.agent.metadata import MetadataPoll
    from phalanx.agent.workplace import Workplace
    from phalanx.state.gang import World


class Agent:
    """One agent. `run` returns the exit code of its process."""

    def __init__(self, place: SeatPlace, store: Store, revive: Callable[[], object]) -> None:
        """`revive` starts a controller unless one is at work."""
        self.place = place
        self.store = store
        self.keys = Keys(place.job)
        self.me = Me(place.slot, place.incarnation, place.token)
        self.revive = revive
        self.inbox = Inbox(place.scratch)
        self.watch = store.watch()
        self.workplace: Workplace | None = None
        self.current: AttemptRun | None = None
        self.record: Record | None = None
        self.born_ns = store.now_ns()
        self._covered: int | None = None
        self.notice: Notice | None = None
        """A departure notice with a deadline, or the newest advice."""
        self._metadata: MetadataPoll | None = None
        self._beat_due = 0.0
        self._books: list[tuple[str, bytes]] = []
        """Ledger entries of closed attempts, not written yet."""
        self._isolation = Isolation(time.monotonic())
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def run(self) -> int:
        """Look, decide, move; until the move is to leave."""
        processes.adopt_orphans()
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._watch_metadata()
        try:
            while True:
                move = self._next_move()
                if isinstance(move, protocol.Leave):
                    say(f"leaving: {move.why}")
                    return 0
                self._carry_out(move)
        finally:
            self._clean_up()

    def _on_term(self, signum: int, frame: object) -> None:
        self.me = replace(self.me, asked_to_leave=True)

    def _watch_metadata(self) -> None:
        if "PHALANX_METADATA" in os.environ or "AWS_EC2_METADATA_SERVICE_ENDPOINT" in os.environ:
            from phalanx.agent import metadata

            self._metadata = metadata.start(self._on_notice)

    def _on_notice(self, notice: Notice) -> None:
        """Called from the metadata thread: remember it and wake the loop."""
        if self.notice is None or notice.departs:
            self.notice = notice
            os.write(self._wake_write, b"n")

    def _next_move(self) -> protocol.Move:
        try:
            seen = self._look()
        except StoreError as error:
            return self._without_store(error)
        self._isolation.works()
        if self.current is not None:
            self.me = self.current.update(self.me, seen)
            self._pass_on_notice()
            if seen.is_hang:
                self.current.join_hang()
        now_ns = time.monotonic_ns()
        self.me = protocol.noticed(self.me, seen, now_ns)
        return protocol.decide(self.me, seen, now_ns)

    def _look(self) -> Seen:
        began_s = time.monotonic()
        found = read.read_record(self.store, self.keys)
        self._isolation.read_begun_at(began_s)
        if found is None:
            return Seen(None)
        self.record = record = found.record
        set_alarm(record.plan.isolation_s)
        if self.watch is not None and self._covered != record.attempt:
            keys, attempt = self.keys, record.attempt
            folders = [keys.record, keys.attempt(attempt), keys.members(attempt)]
            self.watch.cover([*folders, keys.ends(attempt)])
            self._covered = record.attempt
        world = read.read_world(self.store, self.keys, record.attempt)
        head, version = read.read_head(self.store, self.keys) if world is None else (None, None)
        return Seen(
            record=record,
            members=()
            if world is not None and not protocol.is_parked(self.me, record)
            else read.read_members(self.store, self.keys, record.attempt),
            world=world,
            ends=read.read_ends(self.store, self.keys, record.attempt),
            head=head,
            head_version=version,
            is_hang=world is not None
            and self.store.read(self.keys.hang(record.attempt)) is not None,
        )

    def _without_store(self, error: StoreError) -> protocol.Move:
        """The root cannot be read. Ranks go on, until the slot may be somebody else's.

        That is after the job's isolation time, or at once when the folder is plainly gone.
        """
        now = time.monotonic()
        if self._isolation.fails(now):
            say(f"StoreUnreachable: {error.line()}")
        is_missing = not os.path.isdir(self.place.root)
        is_gone = is_missing and self._isolation.failing_for_s(now) > GONE_AFTER_S
        limit_s = self.record.plan.isolation_s if self.record is not None else ISOLATION_S
        is_isolated = self._isolation.is_over(now, limit_s)
        if not (self.me.asked_to_leave or is_gone or is_isolated):
            return protocol.Wait("the root cannot be read", 0.2)
        if self.current is not None:
            self.me = self.current.update(self.me, Seen(None))
        if is_isolated:
            return protocol.leave(self.me, f"isolated: no look at the record for {limit_s:g} s")
        return protocol.decide(self.me, Seen(None), time.monotonic_ns())

    def _carry_out(self, move: protocol.Move) -> None:
        try:
            self._act(move)
        except SourceDamaged as error:
            self._fail_attempt(error.line(), FailureClass.SOURCE_DAMAGED)
        except StoreError as error:
            say(f"{type(move).__name__}: {error.line()}")
            self._sleep(0.2)
        except PhalanxError as error:
            say(error.line())
            self._fail_attempt(error.line())

    def _act(self, move: protocol.Move) -> None:
        if isinstance(move, protocol.Wait):
            self._sleep(move.seconds)
        elif isinstance(move, protocol.Prepare):
            self._prepare(move.attempt)
        elif isinstance(move, protocol.Join):
            key = self.keys.member(move.member.attempt, self.me.slot, self.me.incarnation)
            self.store.create(key, codec.dumps(move.member))
        elif isinstance(move, protocol.Seal):
            from phalanx.agent.seal import seal

            seal(self.store, self.keys, move)
        elif isinstance(move, protocol.Freeze):
            self.store.create(self.keys.world(move.world.attempt), codec.dumps(move.world))
        elif isinstance(move, protocol.StartRanks):
            self._start_ranks(move.world)
        elif isinstance(move, protocol.StopRanks):
            self._stop_ranks(move)
        elif isinstance(move, protocol.SaveFirst):
            self._save_first()
        elif isinstance(move, protocol.WriteEnd):
            self._write_end(move)

    def _start_ranks(self, world: World) -> None:
        if not self._attempt().may_start(world):
            self._sleep(0.02)
            return
        self._attempt().start(world)
        self._beat_due = time.monotonic() + FIRST_BEAT_AFTER_S

    def _stop_ranks(self, move: protocol.StopRanks) -> None:
        plan = self._plan_record().plan
        if move.is_hang:
            self._attempt().note_stacks()
        self._attempt().stop(move.why, plan.stop_grace_s if move.by_user else RESTART_GRACE_S)
        self._sleep(0.01)

    def _pass_on_notice(self) -> None:
        """A Spot notice makes this task depart; advice is only passed on to the ranks."""
        if self.notice is None:
            return
        if self.notice.departs:
            self.me = replace(self.me, asked_to_leave=True)
        elif self.me.ranks is Ranks.RUNNING:
            self._attempt().give_notice(self.notice)

    def _save_first(self) -> None:
        """Tell the ranks of the departure; whether they have answered is seen in `update`."""
        from phalanx.agent import departure

        record = self._plan_record()
        if self.notice is None or not self.notice.departs:
            make = departure.sigterm
            if record.ending is not None:
                make = departure.pause if record.ending is Phase.PAUSED else departure.stop_save
            self.notice = make(record.plan.stop_grace_s)
        self._attempt().give_notice(self.notice)
        self._sleep(0.05)

    def _write_end(self, move: protocol.WriteEnd) -> None:
        end = replace(move.end, at_ns=self.store.now_ns())
        self.store.create(self.keys.end(end.attempt, end.slot, end.incarnation), codec.dumps(end))
        # Only now: the others wait for the end.
        with contextlib.suppress(StoreError):
            self._attempt().beat()

    def _prepare(self, attempt: int) -> None:
        """Close the last attempt's books, get the workplace ready, bind for the new one."""
        # Imported here: an agent that has lost its seat leaves before it needs any of this.
        from phalanx.agent.accounts import Account
        from phalanx.agent.workplace import Workplace

        if self.me.attempt != attempt:
            self._close_attempt()
            self.me = replace(self.me, attempt=attempt, ranks=Ranks.NONE, ready=None, end=None)
            self.me = replace(self.me, complete_since_ns=None, save_settled=False)
            seat = (self.me.slot, self.me.incarnation, attempt)
            account = Account(seat, start_ns=self.store.now_ns(), born_ns=self.born_ns)
            self.current = self._new_attempt(account)
        if self.workplace is None:
            self.workplace = Workplace(self.place, self.store, self._plan_record())
        self._attempt().workplace = self.workplace
        ready = self.workplace.prepare(attempt)
        if ready is None:
            self._sleep(0.2)
        self.me = replace(self.me, ready=ready)

    def _new_attempt(self, account: Account) -> AttemptRun:
        """What differs in zero-code mode is imported only there."""
        if self._plan_record().plan.checkpoint.mode == "watch":
            from phalanx.agent.watched import WatchedAttempt

            return WatchedAttempt(self.place, self.store, account)
        from phalanx.agent.attempt import AttemptRun

        return AttemptRun(self.place, self.store, account)

    def _fail_attempt(self, message: str, failure: FailureClass = FailureClass.UNKNOWN) -> None:
        """This agent cannot do its part: say so instead of leaving the gang waiting."""
        if self.me.attempt is None:
            raise PhalanxError(message)
        self.me = replace(self.me, ranks=Ranks.ENDED, end=self._attempt().failed(message, failure))

    def _sleep(self, seconds: float | None) -> None:
        """Wait for news of anything, at most until the next beat is due."""
        self._beat()
        timeout_s = max(0.0, self._beat_due - time.monotonic())
        due_s = self.current.wakes_in() if self.current is not None else None
        for limit_s in (seconds, due_s):
            if limit_s is not None:
                timeout_s = min(timeout_s, limit_s)
        poll = select.poll()
        ranks = self.current.fds() if self.current is not None else ()
        extra = [self._wake_read, self.inbox.fileno()]
        if self.watch is not None:
            extra.append(self.watch.fileno())
        if self.workplace is not None:
            extra.extend(self.workplace.fds())
        for fd in (*ranks, *extra):
            poll.register(fd, select.POLLIN)
        for fd, _ in self._poll(poll, timeout_s):
            if fd in ranks:
                self._attempt().wake(fd)
            elif fd == self._wake_read:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake_read, 4096)
        self._take_news()

    def _poll(self, poll: select.poll, timeout_s: float) -> list[tuple[int, int]]:
        """Wait for news; what the ranks use is looked at meanwhile, and wakes nothing else."""
        until_s = time.monotonic() + timeout_s
        while True:
            look_s = self.current.watch_memory() if self.current is not None else None
            left_s = max(0.0, until_s - time.monotonic())
            news = poll.poll(int(min(left_s, left_s if look_s is None else look_s) * 1000) + 1)
            if news or time.monotonic() >= until_s:
                return news

    def _take_news(self) -> None:
        if self.watch is not None:
            self.watch.drain()
        if self.workplace is not None:
            self.workplace.hear(self.current)
        if self.current is not None:
            self.current.take(self.inbox.messages())

    def _beat(self) -> None:
        """Once a second: the beat, commits that were missed, and a look at the controller."""
        now = time.monotonic()
        if now < self._beat_due:
            return
        self._beat_due = now + BEAT_EVERY_S
        if self.me.ranks is not Ranks.NONE:
            self._write_books()
        with contextlib.suppress(StoreError):
            if self.current is not None:
                self.current.beat()
                self.current.find_hang()
            self.revive()

    def _close_attempt(self) -> None:
        """The books are made up at once, but written when nobody waits for this agent."""
        if self.current is None:
            return
        with contextlib.suppress(StoreError):
            self._books.append(self.current.close())
        self.current = None

    def _write_books(self) -> None:
        while self._books:
            key, body = self._books.pop(0)
            with contextlib.suppress(StoreError):
                self.store.create(key, body)

    def _clean_up(self) -> None:
        if self.current is not None:
            self.current.ranks.stop("the agent leaves", 0.0)
            self.current.ranks.insist()
        self._close_attempt()
        self._write_books()
        if self._metadata is not None:
            self._metadata.close()
        if self.workplace is not None:
            self.workplace.close()
        processes.kill_orphans(())
        self.inbox.close()
        remove_tree(self.place.scratch)

    def _attempt(self) -> AttemptRun:
        if self.current is None:
            raise PhalanxError("no attempt is open")
        return self.current

    def _plan_record(self) -> Record:
        if self.record is None:
            raise PhalanxError("the record has not been read")
        return self.record


def say(text: str) -> None:
    """One line in the agent's log."""
    print(text, file=sys.stderr, flush=True)
