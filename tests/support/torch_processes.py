"""Processes with torch already imported: one server imports it, every process is a fork of it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["torch", "torch.distributed", "torch.nn.parallel", "numpy.random"])


def answers() -> Any:
    """A queue from such processes to the test."""
    return _CONTEXT.Queue()


def start(env: Mapping[str, str], work: Callable[..., None], *args: Any) -> BaseProcess:
    """Start `work(*args)` in a process whose environment has `env` added."""
    process = _CONTEXT.Process(target=_run, args=(dict(env), work, args))
    process.start()
    return process


def _run(env: dict[str, str], work: Callable[..., None], args: tuple[Any, ...]) -> None:
    import torch

    os.environ.update(env)
    torch.set_num_threads(1)
    work(*args)
