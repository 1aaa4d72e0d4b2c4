"""Zero-code mode: care for the folder that a framework writes its checkpoints to.

All tasks of a machine share the unpacked source, so the folder is one for all of them and stays
over attempts. The first task of a world looks after it: it puts the folder back to the checkpoint
that the world names before any rank of any task starts, and commits what becomes complete.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Sequence
from threading import Event, Thread
from typing import TYPE_CHECKING

from phalanx.agent.environment import every_rank
from phalanx.agent.progress import Progress
from phalanx.agent.seat import SeatPlace
from phalanx.checkpoint.commit import Committer
from phalanx.checkpoint.folder.back import Restorer
from phalanx.checkpoint.folder.follow import Follower, Sight
from phalanx.checkpoint.folder.readiness import Readiness, Writers
from phalanx.checkpoint.folder.record import Known, Start, known_of
from phalanx.checkpoint.folder.scan import look_at
from phalanx.checkpoint.folder.together import Tally
from phalanx.clock import SECOND_NS
from phalanx.errors import InputError, PhalanxError, StoreError
from phalanx.names import Keys, split_checkpoint_name
from phalanx.plan.job import JobPlan
from phalanx.state import codec
from phalanx.state.gang import World
from phalanx.state.read import read_head

if TYPE_CHECKING:
    from phalanx.store.store import Store

LOOK_EVERY_S = 0.15
LOOKS_SHARE = 20
"""A look that takes long is repeated after this many times as long."""
LAST_LOOK_S = 0.06
"""Between the last looks, after the ranks have ended."""
LAST_LOOKS = 50
KEPT_ASIDE = 3
"""Attempts whose leftovers are kept."""


class Watching:
    """One task's part in the care of the folder, in one attempt."""

    def __init__(self, place: SeatPlace, store: Store, plan: JobPlan, workplace: str) -> None:
        """`workplace` is the folder that ranks start in."""
        self.store = store
        self.plan = plan
        self.keys = Keys(place.job)
        self.slot = place.slot
        source = os.path.join(place.root, self.keys.base, "source")
        self._where = (source, workplace, plan.checkpoint.directory or ".")
        self.folder = _inside(*self._where)
        self._staging = os.path.join(source, ".restoring")
        self._aside = os.path.join(source, ".aside")
        self._readiness = Readiness()
        """Kept over attempts: it learns what this writer's checkpoints are made of."""
        self._attempt: AttemptWatch | None = None
        self.putting_back = Tally()
        """How far the restore is that is under way."""

    def of(self, world: World) -> AttemptWatch:
        """The care in this world; the same object for the same attempt."""
        if self._attempt is None or self._attempt.world.attempt != world.attempt:
            self._readiness.begin()
            self._attempt = AttemptWatch(self, world, self._readiness)
        return self._attempt

    def restore(self, world: World) -> tuple[Known, ...]:
        """Bring the folder to the world's checkpoint; what lay there before the job began."""
        self.check()
        start = self._start()
        aside = os.path.join(self._aside, str(world.attempt))
        restorer = Restorer(self.store, self.keys, self.folder, self._staging, aside)
        self.putting_back = restorer.tally
        done = restorer.restore(world.checkpoint, start)
        self._forget_old(world.attempt)
        for what, names in (("put back", done.written), (f"moved to {aside}:", done.removed)):
            if names:
                say(f"checkpoint.dir: {what} {', '.join(names[:5])}{', ...' * (len(names) > 5)}")
        return start

    def check(self) -> None:
        """The folder is still the job's own: a script may have put a link in its place.

        Raises `InputError`.
        """
        _inside(*self._where)

    def _forget_old(self, attempt: int) -> None:
        """What was set aside long ago goes."""
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self._aside):
                if name.isdecimal() and int(name) <= attempt - KEPT_ASIDE:
                    shutil.rmtree(os.path.join(self._aside, name), ignore_errors=True)

    def _start(self) -> tuple[Known, ...]:
        """Files of the first attempt's folder: they came with the source and are no checkpoints."""
        key = self.keys.folder_start
        found = self.store.read(key)
        if found is None:
            files = tuple(known_of(entry) for entry in look_at(self.folder).files)
            self.store.create(key, codec.dumps(Start(files)))
            found = self.store.read(key)
        return codec.loads(Start, found.data).files if found is not None else ()


class AttemptWatch:
    """The care of the folder in one attempt. What is slow runs in a thread of its own."""

    def __init__(self, watching: Watching, world: World, readiness: Readiness) -> None:
        self.world = world
        self._watching = watching
        self._store = watching.store
        self._ready_key = watching.keys.restored(world.attempt)
        self.is_keeper = world.members[0].slot == watching.slot
        plan = watching.plan
        code = plan.source_digest or ""
        who = Committer(world.attempt, 1, code, plan.init_from)
        ranks = every_rank(plan, world).size if plan.launcher != "none" else None
        self._follower = Follower(self._store, watching.keys, watching.folder, who, ranks)
        self._follower.readiness = readiness
        self._thread: Thread | None = None
        self._error: PhalanxError | None = None
        self._shipped: tuple[Known, ...] | None = None
        self._wake = Event()
        self._ended: Writers | None = None
        self._said = ""
        self.step = world.checkpoint_step
        """Step of the newest commit of this attempt, or of the one restored."""
        self.active_ns = self.began_ns = time.monotonic_ns()
        """Monotonic time of the last sign of life of the folder; of the ranks' start."""
        self._first_ns = 0
        """Monotonic time of the first sign of life after the start; 0 before it."""
        self.is_done = not self.is_keeper

    def is_restored(self) -> bool:
        """Whether ranks may start. Raises `CheckpointUnreadable`, `StoreError`, `InputError`."""
        if not self.is_keeper:
            return self._store.read(self._ready_key) is not None
        if self._shipped is not None:
            return True
        if self._thread is None:
            self._error = None
            self._thread = Thread(target=self._restore, name="restore", daemon=True)
            self._thread.start()
        if self._thread.is_alive():
            self._thread.join(LAST_LOOK_S)
            return False
        self._thread = None
        if self._error is not None:
            raise self._error
        return True

    def _restore(self) -> None:
        try:
            shipped = self._watching.restore(self.world)
            self._follower.begin(self.world.checkpoint_step, shipped)
            self._store.create(self._ready_key, b"")
            self._shipped = shipped
        except PhalanxError as error:
            self._error = error
        except OSError as error:
            self._error = InputError(f"checkpoint.dir: {error}")

    def begin(self) -> None:
        """The ranks have started: follow what they write."""
        self.active_ns = self.began_ns = time.monotonic_ns()
        if self.is_keeper:
            self._thread = Thread(target=self._follow, name="follow", daemon=True)
            self._thread.start()

    def finish(self, writers: Writers) -> None:
        """The ranks have ended: commit what they left, then `is_done`."""
        if self._ended is None:
            self._ended = writers
            self._wake.set()

    def see_commits(self) -> None:
        """Note the step of the newest commit of this attempt. Raises `StoreError`."""
        head, _ = read_head(self._store, self._watching.keys)
        if head is None or head.checkpoint is None or head.attempt != self.world.attempt:
            return
        step, attempt = split_checkpoint_name(head.checkpoint) or (0, -1)
        if attempt == self.world.attempt and step != self.step:
            self.step = step
            self.active_ns = time.monotonic_ns()

    def waits(self) -> str:
        """What this task waits for beside the ranks, in words; '' for nothing."""
        back, copy = self._watching.putting_back, self._follower.tally
        is_last = self._ended is not None and not self.is_done
        if back.total:
            return f"putting checkpoint.dir back: {_of(back)}"
        if copy.total:
            return f"saving {'the last' if is_last else 'a'} checkpoint: {_of(copy)}"
        return "looking through checkpoint.dir for what the ranks left" if is_last else ""

    def progress(self, heard_ns: Sequence[int], until_ns: int) -> Progress:
        """Progress as far as commits tell it.

        All time since the first sign of life (output, or a change in the folder) counts as
        training; `heard_ns` are the monotonic times of the last output, 0 for none.
        """
        signs = [at_ns for at_ns in (*heard_ns, self.active_ns) if at_ns > self.began_ns]
        self._first_ns = self._first_ns or min(signs, default=0)
        total = self._watching.plan.total_steps
        return Progress(
            step=min(self.step, total) if total else self.step,
            total=total,
            first_ns=self._first_ns,
            train_ns=max(0, until_ns - self._first_ns) if self._first_ns else 0,
        )

    def _follow(self) -> None:
        while self._ended is None:
            began = time.monotonic()
            self._look(Writers())
            took_s = time.monotonic() - began
            self._wake.wait(max(LOOK_EVERY_S, LOOKS_SHARE * took_s))
        self._look_last(self._ended)
        self.is_done = True

    def _look_last(self, writers: Writers) -> None:
        """Until two looks in a row find nothing more to be done."""
        idle = 0
        for _ in range(LAST_LOOKS):
            sight = self._look(writers)
            if sight is None or sight.refused:
                return
            idle = 0 if sight.changed or sight.committed or sight.is_torn else idle + 1
            if idle > 1:
                return
            time.sleep(LAST_LOOK_S)

    def _look(self, writers: Writers) -> Sight | None:
        try:
            self._watching.check()
            sight = self._follower.look(time.monotonic_ns(), writers)
        except InputError as error:
            self._say_once(error.line())
            return None
        except StoreError as error:
            self._say_once(f"what the framework wrote cannot be committed: {error.line()}")
            return None
        except OSError as error:
            self._say_once(f"checkpoint.dir: {error}")
            return None
        if sight.changed or sight.committed:
            self.active_ns = time.monotonic_ns()
        if sight.refused:
            self._say_once(f"not committed: {sight.refused}")
        if sight.committed:
            say(f"committed {sight.committed} from checkpoint.dir")
        return sight

    def _say_once(self, text: str) -> None:
        if text != self._said:
            self._said = text
            say(text)

    def has_begun(self, heard_ns: Sequence[int]) -> bool:
        """Whether anything was heard in this attempt: until then imports may take their time."""
        return any(at_ns > self.began_ns for at_ns in (*heard_ns, self.active_ns))

    def still_s(self, heard_ns: Sequence[int], now_ns: int) -> float:
        """How long nothing was heard: no output (`heard_ns`), no change in the folder."""
        last_ns = max(self.active_ns, *heard_ns, 0)
        return (now_ns - last_ns) / SECOND_NS


def _of(tally: Tally) -> str:
    """`4,210 of 9,000 files`."""
    done, total = tally.done, tally.total
    return f"{min(done, total):,} of {total:,} {'file' if total == 1 else 'files'}"


def _inside(source: str, workplace: str, directory: str) -> str:
    """The folder itself. Raises `InputError` when it is not the job's own."""
    folder = os.path.normpath(os.path.join(workplace, directory))
    real, own = os.path.realpath(folder), os.path.realpath(source)
    if real != own and not real.startswith(own + os.sep):
        raise InputError(
            f"checkpoint.dir: {directory} leads out of the job's own folder",
            hint="name a folder inside of the working directory, such as ./out",
        )
    return folder


def say(text: str) -> None:
    """One line in the agent's log."""
    print(text, file=sys.stderr, flush=True)
