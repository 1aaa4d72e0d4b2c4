"""The local backend: a task is a detached session of this machine.

What is known of a task lies in its folder (`tasks`) and in the process table, never in this
process alone: many controllers may use one root, and any of them may die at any time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phalanx.backends.base import Request
from phalanx.backends.local import devices, marks, processes
from phalanx.backends.local import render as rendering
from phalanx.backends.local.spawn import refusal, spawn_detached
from phalanx.backends.local.sweep import Sweeper
from phalanx.backends.local.table import Table
from phalanx.backends.local.tasks import StopNote, TaskFiles
from phalanx.clock import SECOND_NS
from phalanx.errors import BackendError, LaunchRefused, Throttled
from phalanx.plan.job import JobPlan
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat

if TYPE_CHECKING:
    from phalanx.backends.local.inside import Inside


class LocalBackend:
    """Runs tasks on this machine. Implements `Backend`, `Notifies`, `Cleans` and `Enters`.

    `now_ns` is the machine's monotonic clock (the same for all processes of one boot). Every
    method but `render` raises `BackendError` where the system has no /proc or pid descriptors.
    """

    def __init__(
        self,
        root: Path,
        *,
        agent: tuple[str, ...] = rendering.AGENT,
        environ: Mapping[str, str] | None = None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._root = os.path.realpath(root)
        self._environ = os.environ if environ is None else environ
        self._now_ns = now_ns
        self._agent = agent
        self._sweeper = Sweeper(self._root)
        self._quiet: dict[str, int] = {}

    def render(self, job: str, plan: JobPlan, seat: Seat) -> Request:
        """The launch of one seat."""
        return rendering.render(self._host, job, plan, seat)

    def launch(self, request: Request) -> None:
        """Start the task unless somebody has; the remains of its slot's earlier tasks go first."""
        body = json.loads(request.body)
        env = self._environment(body)
        with _our_errors("start a task"):
            self._need_root()
            files = self._table.files(request.job, request.token)
            if files.claim() is not None:
                return
            self._clear_slot(request)
            files.create()
            files.put_request({**asdict(request), "body": body})
        spawn_detached(body["argv"], env, files.log, body["cwd"])

    def observe(self, job: str) -> tuple[ObservedTask, ...]:
        """Every task that was claimed here, ended ones included, and those about to claim."""
        with _our_errors("observe the tasks"):
            self._need_root()
            found = self._table.look(job)
        return tuple(sorted(found, key=lambda task: (task.slot, task.incarnation, task.tries)))

    def stop(self, task: ObservedTask, reason: str, grace_s: float) -> None:
        """SIGTERM to the agent; SIGKILL to all of the task once the grace is over.

        Never waits for the grace: each call sees how much of it has passed.
        """
        with _our_errors("stop a task"):
            self._need_root()
            job = self._table.job_of(task.token)
            if job is not None:
                self._stop(job, self._table.files(job, task.token), reason, grace_s)

    def wake_fds(self, job: str) -> Sequence[int]:
        """Pid descriptors of the tasks that the last `observe` found alive."""
        return self._table.fds(job)

    def leftovers(self, job: str, alive: Sequence[str]) -> tuple[str, ...]:
        """Processes that ended tasks left behind, as `<pid>.<start>.<token>`.

        A task that lives is never a leftover, named in `alive` or not: `stop` ends it.
        """
        with _our_errors("look for leftovers"):
            tokens = [token for token in self._dead(job) if token not in alive]
            found = self._sweeper.find([self._table.family(job, token) for token in tokens])
            self._note_quiet(job, set(tokens) - set(found.values()))
        return tuple(sorted(f"{p.pid}.{p.start}.{token}" for p, token in found.items()))

    def clean(self, job: str, leftovers: Sequence[str]) -> None:
        """SIGKILL them and all that they start meanwhile."""
        with _our_errors("end leftovers"):
            dead = set(self._dead(job))
            tokens = {name.rsplit(".", 1)[-1] for name in leftovers} & dead
            self._end(job, sorted(tokens))

    def enter(self, task: ObservedTask, words: Mapping[str, object]) -> int:
        """Run `phalanx.agent.enter` in the task with our input and output; its exit code."""
        from phalanx.backends.local import inside

        with _our_errors("run something inside a task"):
            what = self._inside(task, {**words, "parent": os.getpid()})
            if not inside.has_terminal():
                return inside.joined(what)
            from phalanx.backends.local.terminal import attached

            status = attached(what.argv, what.env)
            return inside.exit_code(os.waitstatus_to_exitcode(status))

    def ask(self, task: ObservedTask, words: Mapping[str, object], limit_s: float) -> bytes:
        """Run `phalanx.agent.enter` in the task without input; what it printed."""
        from phalanx.backends.local import inside

        with _our_errors("ask inside a task"):
            return inside.told(self._inside(task, words), limit_s)

    def close(self) -> None:
        """Give back the descriptors; the tasks go on."""
        self._table.close()

    @cached_property
    def _host(self) -> rendering.Host:
        return rendering.Host(
            root=self._root,
            python=sys.executable,
            gpus=devices.gpus_here(self._environ),
            has_loopback_net=devices.has_loopback_net(),
            agent=self._agent,
        )

    @cached_property
    def _table(self) -> Table:
        if not devices.is_supported():
            raise BackendError(
                "jobs cannot be run on this machine: it has no /proc or no pid descriptors",
                hint="use Linux 5.3 or later",
            )
        return Table(self._root, self._sweeper)

    def _inside(self, task: ObservedTask, words: Mapping[str, object]) -> Inside:
        from phalanx.backends.local.inside import inside

        job = self._table.job_of(task.token)
        files = self._table.files(job, task.token) if job is not None else None
        claim = files.claim() if files is not None else None
        if files is None or claim is None or claim.boot != processes.boot():
            raise BackendError(f"no task of slot {task.slot} runs on this machine")
        return inside(files, claim, json.dumps(words))

    def _need_root(self) -> None:
        if not os.path.isdir(self._root):
            raise BackendError(
                f"the root {self._root} is gone", hint="was it deleted or unmounted?"
            )

    def _environment(self, body: Mapping[str, Any]) -> dict[str, str]:
        need, has = body["gpus"], len(body["devices"])
        if has < need:
            raise LaunchRefused(f"the slot needs {need} GPUs, this machine has {has} left for it")
        if set(body["sources"]) - {"env"}:
            raise LaunchRefused("on this machine secrets come from environment variables only")
        try:
            return marks.task_environment(body, self._environ)
        except KeyError as error:
            raise LaunchRefused(
                f"the secret's variable {error.args[0]} is not set where the controller runs",
                hint="set it in the shell that runs phalanx",
            ) from error

    def _stop(self, job: str, files: TaskFiles, reason: str, grace_s: float) -> None:
        claim = files.claim()
        if claim is None or not self._table.is_alive(job, files.token):
            self._end(job, [files.token])
            return
        now = self._now_ns()
        files.put_stop(StopNote(now, reason))
        note = files.stop()
        if note is not None and now - note.at_ns >= grace_s * SECOND_NS:
            self._end(job, [files.token])
        elif not files.has("told"):
            processes.send(claim.identity, signal.SIGTERM)
            files.set("told")

    def _clear_slot(self, request: Request) -> None:
        """No process of an earlier task may hold the slot's devices. Raises `Throttled`."""
        earlier = []
        for token in self._table.tokens(request.job):
            files = self._table.files(request.job, token)
            claim = files.claim()
            if claim is None or claim.slot != request.slot or files.has("swept"):
                continue
            if not self._table.is_alive(request.job, token):
                earlier.append(token)
        if earlier and not self._end(request.job, earlier):
            raise Throttled(f"processes of slot {request.slot}'s earlier task are still ending")

    def _end(self, job: str, tokens: Sequence[str]) -> bool:
        """Kill all processes of these tasks; True when none is left."""
        is_clean = self._sweeper.end([self._table.family(job, token) for token in tokens])
        if is_clean:
            self._mark_swept(job, tokens)
        return is_clean

    def _dead(self, job: str) -> list[str]:
        """Tokens whose task does not live, known by their folder or by a process's mark."""
        tokens = {*self._table.tokens(job), *self._sweeper.tokens_seen(job)}
        return sorted(token for token in tokens if not self._table.is_alive(job, token))

    def _note_quiet(self, job: str, tokens: Iterable[str]) -> None:
        """After two looks that found nothing, a session's number proves nothing any more."""
        for token in tokens:
            self._quiet[token] = self._quiet.get(token, 0) + 1
            if self._quiet[token] == 2:
                self._mark_swept(job, [token])

    def _mark_swept(self, job: str, tokens: Iterable[str]) -> None:
        for token in tokens:
            files = self._table.files(job, token)
            if files.claim() is not None and not files.has("swept"):
                files.set("swept")


@contextmanager
def _our_errors(doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise refusal(error, doing) from error
    except ValueError as error:
        raise BackendError(f"cannot {doing}: a file of the task is damaged: {error}") from error
