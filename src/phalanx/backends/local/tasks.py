"""The files of one task: `jobs/<job>/tasks/<token>/{request, pid, exit, stop, told, swept}`.

Each is created once and never changed; together they are all that a later controller knows.
`agent.log` beside them takes what the agent prints.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from phalanx.owned import FILE_MODE, make_inside

T = TypeVar("T")


_LARGEST = 1 << 24
"""Bytes of a file of ours; what is longer is not read to its end, and so is damaged."""


class Claim(NamedTuple):
    """The process that owns a task. `boot` names the boot and the pid namespace."""

    pid: int
    start: int
    boot: str
    slot: int
    incarnation: int
    tries: int

    @property
    def identity(self) -> tuple[int, int]:
        """Pid and start time."""
        return self.pid, self.start


class StopNote(NamedTuple):
    """When a stop was first asked for, on the machine's monotonic clock."""

    at_ns: int
    reason: str


class TaskFiles:
    """One task's folder. Methods raise `OSError` and, for damaged files, `ValueError`."""

    def __init__(self, root: str, job: str, token: str) -> None:
        self.token = token
        self.folder = os.path.join(tasks_folder(root, job), token)
        self.log = os.path.join(self.folder, "agent.log")

    def create(self) -> None:
        """Make the folder, private to the user; that of the job must be there."""
        tasks = os.path.dirname(self.folder)
        make_inside(os.path.dirname(tasks), self.folder)

    def request(self) -> dict[str, Any] | None:
        """What was asked for; None before the first launch."""
        return self._read("request")

    def put_request(self, request: dict[str, Any]) -> bool:
        """Keep what was asked for."""
        return self._put("request", request)

    def claim(self) -> Claim | None:
        """Who owns the task; None while nobody does."""
        raw = self._read("pid")
        return _typed(Claim, raw) if raw else None

    def put_claim(self, claim: Claim) -> bool:
        """Own the task; False when somebody does already."""
        return self._put("pid", claim._asdict())

    def exit_code(self) -> int | None:
        """The code that the agent left with; None when it left none."""
        raw = self._read("exit")
        return int(raw.get("code", 1)) if raw else None

    def put_exit(self, code: int) -> bool:
        """Leave an exit code."""
        return self._put("exit", {"code": code})

    def stop(self) -> StopNote | None:
        """When the task was first asked to stop; None when it was not."""
        raw = self._read("stop")
        return _typed(StopNote, raw) if raw else None

    def put_stop(self, note: StopNote) -> bool:
        """Remember the first request to stop; False when it is remembered already."""
        return self._put("stop", note._asdict())

    def has(self, flag: str) -> bool:
        """Whether a flag was set: `told` (SIGTERM was sent), `swept` (nothing is left)."""
        return os.path.exists(os.path.join(self.folder, flag))

    def set(self, flag: str) -> None:
        """Set a flag."""
        self._put(flag, {"set": 1})

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                raw = json.loads(file.read(_LARGEST))
        except FileNotFoundError:
            return None
        except RecursionError as error:
            raise ValueError(f"{self.folder}/{name} is nested too deep") from error
        if not isinstance(raw, dict):
            raise ValueError(f"{self.folder}/{name} holds no object")
        return raw

    def _put(self, name: str, value: dict[str, Any]) -> bool:
        return create_once(os.path.join(self.folder, name), json.dumps(value).encode())


def _typed(kind: Callable[..., T], raw: dict[str, Any]) -> T:
    try:
        return kind(**raw)
    except TypeError as error:
        raise ValueError(str(error)) from error


def tasks_folder(root: str, job: str) -> str:
    """Folder that holds one folder for each task of a job."""
    return os.path.join(root, "jobs", job, "tasks")


def create_once(path: str, data: bytes) -> bool:
    """A finished, durable file under a new name; False when the name is taken.

    A hard link decides, so that nobody ever sees a half-written file.
    """
    draft = f"{path}.{os.getpid()}"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, FILE_MODE)
    try:
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)
    return True
