"""The rank processes of one slot in one attempt: start, watch, stop, and how they ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence

from phalanx.agent import kernel_kills, processes
from phalanx.agent.kernel_kills import KernelKills
from phalanx.agent.last_words import last_lines
from phalanx.agent.logs import LogStream
from phalanx.agent.progress import Progress, read_error, read_progress
from phalanx.agent.protocol import Ranks
from phalanx.agent.warm_link import WarmLink
from phalanx.frozen import frozen, replace
from phalanx.redaction.redactor import Redactor
from phalanx.state.gang import RankEnd
from phalanx.words import FailureClass

FORK_TIMEOUT_S = 10.0


class RankProcess:
    """One rank: its process, its pipes, its folder, and its end once there is one."""

    def __init__(self, start: Start, streams: list[LogStream]) -> None:
        self.rank = start.rank
        self.local_rank = start.local_rank
        self.folder = start.folder
        self.streams = streams
        self.pid = 0
        self.pidfd: int | None = None
        self.status: int | None = None
        """Wait status once known."""
        self.is_gone = False
        self.gone_at: float | None = None
        self.told_to_stop = False
        self.overran = ""
        """Why it was ended for its use of memory; '' when it was not."""
        self.unreadable: tuple[str, str] | None = None
        """(checkpoint, because) when the rank said so."""
        self.has_announced_end = False
        self.stuck = ""
        self.place = ""
        self.still_ns = 0
        self.end: RankEnd | None = None


@frozen
class Start:
    """What one rank is started with."""

    rank: int
    local_rank: int
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    folder: str


class RankSet:
    """All ranks that this agent started for one attempt."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.started_ns = time.monotonic_ns()
        self.redactor = redactor or Redactor()
        """What is hidden in everything that the ranks say."""
        self.ranks: list[RankProcess] = []
        self.stop_deadline_ns: int | None = None
        self.stop_reason = ""
        self.kills = KernelKills()

    @property
    def state(self) -> Ranks:
        """Where they are."""
        if all(r.end is not None for r in self.ranks):
            return Ranks.ENDED
        return Ranks.RUNNING if self.stop_deadline_ns is None else Ranks.STOPPING

    def start(self, starts: Sequence[Start], log_folder: str, warm: WarmLink | None) -> None:
        """Start ranks: forked from the warm parent when there is one, else from cold.

        The warm parent is asked for all of them before the first answer is waited for.
        """
        opened: list[tuple[RankProcess, tuple[int, int]]] = []
        try:
            for start in starts:
                one, fds = _with_pipes(start, log_folder, self.redactor)
                opened.append((one, fds))
                if warm is not None:
                    warm.fork(start.local_rank, start.argv, start.env, start.cwd, fds)
            for start, (one, fds) in zip(starts, opened, strict=True):
                pid = _forked(warm, start.local_rank) if warm is not None else None
                one.pid = pid if pid is not None else _fork_cold(start, fds)
                one.pidfd = processes.open_pidfd(one.pid)
                one.is_gone = one.pidfd is None
                kernel_kills.offer(one.pid)
                self.ranks.append(one)
        finally:
            for _, fds in opened:
                os.close(fds[0])
                os.close(fds[1])

    def stop(self, why: str, grace_s: float) -> None:
        """Signal every rank's group; `insist` kills what is left when the grace is over."""
        if self.stop_deadline_ns is None:
            self.stop_deadline_ns = time.monotonic_ns() + int(grace_s * 1e9)
            self.stop_reason = why
        for one in self.ranks:
            if one.end is None and not one.told_to_stop and not _has_ended(one):
                one.told_to_stop = True
                processes.signal_group(one.pid, signal.SIGTERM)
                processes.signal_group(one.pid, signal.SIGCONT)

    def insist(self) -> None:
        """Kill what is left once the grace is over."""
        if self.stop_deadline_ns is None or time.monotonic_ns() < self.stop_deadline_ns:
            return
        for one in self.ranks:
            if one.end is None:
                processes.signal_group(one.pid, signal.SIGKILL)

    def fds(self) -> dict[int, RankProcess | LogStream]:
        """Descriptors that bring news."""
        found: dict[int, RankProcess | LogStream] = {}
        for one in self.ranks:
            if one.pidfd is not None and not one.is_gone:
                found[one.pidfd] = one
            if one.end is None:
                found.update({s.fd: s for s in one.streams if s.fd >= 0})
        return found

    def gone(self, one: RankProcess) -> None:
        """The kernel says that this rank has ended."""
        one.is_gone = True
        one.gone_at = time.monotonic()

    def unknown_for_s(self) -> float:
        """How long the end of a rank has been seen without anybody saying how it ended."""
        waits = [
            time.monotonic() - one.gone_at
            for one in self.ranks
            if one.gone_at is not None and one.end is None and one.status is None
        ]
        return max(waits, default=0.0)

    def note_status(self, pid: int, status: int) -> None:
        """The warm parent, or our own wait, says how a process ended."""
        for one in self.ranks:
            if one.pid == pid and one.status is None:
                one.status = status

    def settle(self, *, is_warm_dead: bool) -> None:
        """Give an end to every rank that has gone and whose status is known or lost for good."""
        for one in self.ranks:
            if one.end is not None or not one.is_gone:
                continue
            if one.status is None:
                one.status = _own_wait(one.pid)
            # How a rank ended that was told to end is not worth waiting for.
            if one.status is None and not is_warm_dead and not one.told_to_stop:
                continue
            self._close(one)

    def progress(self) -> list[Progress]:
        """The newest report of every rank."""
        return [_clean(read_progress(one.folder), self.redactor) for one in self.ranks]

    def overran(self, one: RankProcess, why: str, family: Sequence[int]) -> None:
        """End a rank that uses too much memory, and all that it started."""
        one.overran = why
        for pid in family:
            processes.signal_process(pid, signal.SIGKILL)
        processes.signal_group(one.pid, signal.SIGKILL)

    def _kernel_struck(self, one: RankProcess) -> bool:
        return not one.told_to_stop and self.kills.since() > 0

    def _close(self, one: RankProcess) -> None:
        # Whatever the rank started in its own group must not outlive it.
        processes.signal_group(one.pid, signal.SIGKILL)
        for stream in one.streams:
            stream.close()
        if one.pidfd is not None:
            os.close(one.pidfd)
            one.pidfd = None
        code, signum = _decode(one.status)
        error = read_error(one.folder) or last_lines(one.streams[1].tail)
        failure = None
        if one.unreadable is not None:
            failure = FailureClass.CHECKPOINT_UNREADABLE
            error = f"checkpoint {one.unreadable[0]}: {one.unreadable[1]}"
        elif signum == signal.SIGKILL and (one.overran or self._kernel_struck(one)):
            failure = FailureClass.OUT_OF_MEMORY
            error = one.overran or "the kernel ended it for want of memory (its own count says so)"
        one.end = RankEnd(
            rank=one.rank,
            local_rank=one.local_rank,
            pid=one.pid,
            exit_code=code,
            signal=signum,
            failure=failure,
            error=error if code != 0 else "",
            told_to_stop=one.told_to_stop,
            after_ns=time.monotonic_ns() - self.started_ns,
            order=sum(other.end is not None for other in self.ranks),
            stuck=one.stuck,
            place=one.place,
            still_ns=one.still_ns,
            step=read_progress(one.folder).step,
        )


def redacted(end: RankEnd, redactor: Redactor) -> RankEnd:
    """The end without secrets."""
    return replace(end, error=redactor.text(end.error), place=redactor.text(end.place))


def _clean(report: Progress, redactor: Redactor) -> Progress:
    """The report without secrets: phases and names of metrics are the script's own words."""
    metrics = {redactor.text(name): value for name, value in report.metrics.items()}
    return replace(report, phase=redactor.text(report.phase), metrics=metrics)


def _with_pipes(
    start: Start, log_folder: str, redactor: Redactor
) -> tuple[RankProcess, tuple[int, int]]:
    """A rank without a process yet, and the writing ends for its output."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    streams = [
        LogStream(log_folder, f"{start.rank}.out", out_read, redactor),
        LogStream(log_folder, f"{start.rank}.err", err_read, redactor),
    ]
    return RankProcess(start, streams), (out_write, err_write)


def _forked(warm: WarmLink, local_rank: int) -> int | None:
    """The pid that the warm parent answers with; None when it is dead or frozen."""
    deadline = time.monotonic() + FORK_TIMEOUT_S
    while not warm.is_dead and time.monotonic() < deadline:
        if local_rank in warm.forked:
            return warm.forked.pop(local_rank)
        warm.wait(0.05)
    if not warm.is_dead:
        warm.close()  # frozen: it must not fork later, when nobody waits any more
    return None


def _fork_cold(start: Start, fds: tuple[int, int]) -> int:
    """Fork and exec; the child dies with the agent and leads its own process group."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        os.setpgid(0, 0)
        processes.die_with_parent(parent)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in zip((null, *fds), (0, 1, 2), strict=True):
            os.dup2(source, target)
        os.chdir(start.cwd)
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(signum, signal.SIG_DFL)
        os.execvpe(start.argv[0], list(start.argv), dict(start.env))
    except OSError as error:
        sys.stderr.write(f"phalanx: cannot start {start.argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
    os._exit(127)


def _has_ended(one: RankProcess) -> bool:
    """Whether the process ended by itself before anybody told it to."""
    return one.pidfd is None or bool(select.select([one.pidfd], [], [], 0)[0])


def _own_wait(pid: int) -> int | None:
    """Wait status of our own (or adopted) child; None when somebody else is its parent."""
    try:
        done, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return status if done else None


def _decode(status: int | None) -> tuple[int | None, int | None]:
    if status is None or status < 0:
        return None, None
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None
