"""What a task keeps over attempts: unpacked source, environment, warm parent, store server."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from phalanx.agent import processes
from phalanx.agent.attempt import AttemptRun
from phalanx.agent.command import python_script
from phalanx.agent.environment import base_environment, local_ranks, redactor_of, tracking
from phalanx.agent.families import Families
from phalanx.agent.seat import SeatPlace, inherited_environment
from phalanx.agent.stacks import is_stopped
from phalanx.agent.stall import StallWatch
from phalanx.agent.stopped import StoppedWatch
from phalanx.agent.warm_link import STUCK_AFTER_S, WarmLink
from phalanx.errors import InputError
from phalanx.names import Keys, run_id
from phalanx.owned import make_inside
from phalanx.plan.job import JobPlan
from phalanx.redaction.writer import learn
from phalanx.state.gang import Member
from phalanx.state.record import Record
from phalanx.store.refusals import refusing
from phalanx.store.store import Store

if TYPE_CHECKING:
    from phalanx.agent.watching import Watching

WARM_TRIES = 3
"""Warm parents that may die before the task takes the cold path for good."""
WARM_TIMEOUT_S = 300.0
"""For imports; on a cold disk torch alone can take most of a minute."""


class Workplace:
    """Ready to host any attempt's ranks."""

    def __init__(self, place: SeatPlace, store: Store, record: Record) -> None:
        self.place = place
        self.plan: JobPlan = record.plan
        self.env = base_environment(self.plan, inherited_environment(os.environ))
        self.tracking = tracking(self.env, run_id(place.job, record.created_ns))
        self.redactor = redactor_of(self.plan, self.env)
        learn(self.redactor)
        self.folder = source_folder(place, store, self.plan)
        self.script = python_script(self.plan.command)
        self.stores: list[int] = []
        """Store servers of past attempts, to be ended when the next one starts."""
        self.warm: WarmLink | None = None
        self._tries = 0
        self.stopped = StoppedWatch(is_stopped)
        self.families = Families(self.plan.memory_limit_mib, self.plan.nodes)
        self.stalls = StallWatch(self.plan.hang_after_s, self.plan.start_timeout_s)
        self._asked = time.monotonic()
        self.watching: Watching | None = None
        """Care of the folder that a framework writes, in zero-code mode."""

    @property
    def can_be_warm(self) -> bool:
        """Whether ranks can be forked: our launcher, and a plain Python script."""
        return self.plan.launcher == "ranks" and self.script is not None

    @property
    def sees_ranks(self) -> bool:
        """Whether the processes started here are the ranks, and tell their steps."""
        return self.plan.launcher == "ranks" and self.plan.checkpoint.mode != "watch"

    def prepare(self, attempt: int) -> Member | None:
        """Bound and serving: the member to be written; None while the warm side gets ready."""
        if not self._warm_is_settled():
            return None
        warm = self.warm
        port, agent_store = 0, False
        if warm is not None:
            if warm.store is None:
                warm.ask_store(self.place.address)
                warm.wait(0.2)
            taken = warm.take_store()
            if taken is None:
                return None
            self._end_old_stores()
            self.stores.append(taken[0])
            port, agent_store = taken[1], True
        else:
            port = free_port(self.place.address)
        return Member(
            slot=self.place.slot,
            incarnation=self.place.incarnation,
            attempt=attempt,
            address=self.place.address,
            port=port,
            ranks=local_ranks(self.plan),
            host=os.uname().nodename,
            pid=os.getpid(),
            agent_store=agent_store,
        )

    def spare_store(self) -> None:
        """Have the next attempt's collective store ready before it is needed."""
        if self.warm is not None:
            self.warm.ask_store(self.place.address)

    def fds(self) -> Sequence[int]:
        """Descriptors that bring news of the warm parent."""
        return self.warm.fds() if self.warm and not self.warm.is_dead else []

    def hear(self, current: AttemptRun | None) -> None:
        """Pass on what the warm parent said; replace a dead one."""
        if self.warm is None:
            return
        news = self.warm.hear()
        if current is not None:
            for pid, status in news.exits:
                current.ranks.note_status(pid, status)
        is_silent = current is not None and current.ranks.unknown_for_s() > STUCK_AFTER_S / 2
        if self.warm.is_dead or self.warm.is_stuck or is_silent:
            self.warm.close()
            self.warm = None
            # Its forks die with it and become our children: their ends are still ours to see.

    def close(self) -> None:
        """End the warm parent and the store servers."""
        self._end_old_stores()
        if self.warm is not None:
            self.warm.close()
            self.warm = None

    def _warm_is_settled(self) -> bool:
        """Whether there is a ready warm parent, or there will be none."""
        if not self.can_be_warm:
            return True
        if self.warm is None:
            if self._tries >= WARM_TRIES:
                return True
            self._tries += 1
            self._asked = time.monotonic()
            self.warm = WarmLink(
                self.interpreter(), self.env, self.plan.warm, self._module_path(), self.redactor
            )
        if not self.warm.is_ready and time.monotonic() - self._asked > WARM_TIMEOUT_S:
            self.warm.close()
            self.warm, self._tries = None, WARM_TRIES
            return True
        return self.warm.is_ready and not self.warm.is_dead

    def interpreter(self) -> str:
        """The Python that the job's command names."""
        import shutil

        name = self.plan.command[0]
        found = shutil.which(name, path=self.env.get("PATH"))
        if found is None:
            raise InputError(f"command[0]: {name!r} is not to be found", hint="is it on PATH?")
        return found

    def _module_path(self) -> list[str]:
        if self.script is None or self.script.is_module:
            return [self.folder]
        return [os.path.dirname(os.path.join(self.folder, self.script.target))]

    def _end_old_stores(self) -> None:
        import signal

        for pid in self.stores:
            processes.signal_process(pid, signal.SIGKILL)
        self.stores.clear()


def free_port(address: str) -> int:
    """A port that was free a moment ago on this address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def source_folder(place: SeatPlace, store: Store, plan: JobPlan) -> str:
    """Unpacked source of this job, and in it the folder that ranks start in."""
    job = os.path.join(place.root, Keys(place.job).base)
    base = os.path.join(job, "source")
    if plan.source_digest is not None:
        from phalanx.snapshot.unpack import unpack

        base = unpack(store, plan.source_digest, base)
    else:
        with refusing(base):
            make_inside(job, base)
    folder = os.path.realpath(os.path.join(base, plan.working_directory))
    if not os.path.isdir(folder):
        raise InputError(
            f"working_directory: {plan.working_directory} is not a folder of the source",
            hint="it is taken from where the job file's source lies",
        )
    return folder
