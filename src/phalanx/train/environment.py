"""What a rank is told by its agent: environment variables, read once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from phalanx.errors import InputError
from phalanx.frozen import frozen
from phalanx.names import split_checkpoint_name

_STEPS = re.compile(r"([1-9][0-9]*) ?steps?")
_SECONDS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?s")


@frozen
class Every:
    """How often to save: by steps, by seconds, or both None for `auto`."""

    steps: int | None = None
    seconds: float | None = None


@frozen
class Surroundings:
    """One rank of one attempt."""

    job: str
    attempt: int
    rank: int
    world_size: int
    root: str
    progress_file: str = ""
    """Where this rank reports its progress; empty when nobody reads it."""
    notice_file: str = ""
    """Where the agent announces a departure; empty when it does not."""
    socket: str = ""
    """Where the agent listens for datagrams; empty when it does not."""
    resume: str = ""
    """Checkpoint that the world named; empty to start fresh."""
    init_from: str = ""
    """Where the weights lie that the job began from; empty when it began from nothing."""
    every: Every = Every()
    total_steps: int | None = None
    is_elastic: bool = False
    """Whether a later attempt may have another number of ranks."""


def every_of(value: int | float | str) -> Every:
    """`100` or `100steps` → by steps, `30s` → by seconds, `auto`. Raises `InputError`."""
    text = f"{value}steps" if type(value) is int else str(value).strip()
    if text == "auto":
        return Every()
    steps, seconds = _STEPS.fullmatch(text), _SECONDS.fullmatch(text)
    if steps:
        return Every(steps=int(steps[1]))
    if seconds and float(seconds[1]) > 0:
        return Every(seconds=float(seconds[1]))
    raise InputError(f"save every {value!r} is not understood", hint="write auto, 100steps or 30s")


def surroundings(env: Mapping[str, str]) -> Surroundings | None:
    """What the environment tells; None outside phalanx. Raises `InputError` when it is broken.

    A command of `phalanx exec` is outside: it looks like a rank, but the gang does not know it.
    """
    if not env.get("PHALANX_JOB") or not env.get("PHALANX_ROOT") or env.get("PHALANX_EXEC"):
        return None
    if env.get("PHALANX_CHECKPOINT_MODE") == "watch":
        raise InputError(
            "Checkpointer cannot be used with checkpoint.mode watch",
            hint="write mode: api in the job file, or let the script save by itself",
        )
    resume = env.get("PHALANX_RESUME", "")
    if resume and split_checkpoint_name(resume) is None:
        raise InputError(f"PHALANX_RESUME={resume!r} is no checkpoint's name")
    return Surroundings(
        job=env["PHALANX_JOB"],
        attempt=_whole(env, "PHALANX_ATTEMPT", 0),
        rank=_whole(env, "RANK", 0),
        world_size=_whole(env, "WORLD_SIZE", 1),
        root=env["PHALANX_ROOT"],
        progress_file=_progress_file(env),
        notice_file=_beside(env, "notice"),
        socket=env.get("PHALANX_AGENT_SOCKET", ""),
        resume=resume,
        init_from=env.get("PHALANX_INIT_FROM", ""),
        every=every_of(env.get("PHALANX_SAVE_EVERY") or "auto"),
        total_steps=_whole(env, "PHALANX_TOTAL_STEPS", 0) or None,
        is_elastic=bool(env.get("PHALANX_MAX_WORLD_SIZE")),
    )


def _beside(env: Mapping[str, str], name: str) -> str:
    folder = env.get("PHALANX_RANK_DIR", "")
    return os.path.join(folder, name) if folder else ""


def _progress_file(env: Mapping[str, str]) -> str:
    """Ranks that torchrun starts all inherit one folder; the first has the usual file in it."""
    folder = env.get("PHALANX_RANK_DIR", "")
    local_rank = _whole(env, "LOCAL_RANK", 0)
    shares = env.get("PHALANX_LAUNCHER") == "torchrun" and local_rank > 0
    return (
        os.path.join(folder, f"progress-{local_rank}" if shares else "progress") if folder else ""
    )


def _whole(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit():
        raise InputError(f"{name}={text!r} is no whole number")
    return int(text)
