"""Phalanx: a job of many processes that loses one and goes on from its last checkpoint.

The names below are the SDK; each is imported when it is first used, so that `import phalanx`
costs nothing. `phalanx.train` is what a training script uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phalanx.app.api import checkpoints as checkpoints
    from phalanx.app.api import ledger as ledger
    from phalanx.app.api import logs as logs
    from phalanx.app.api import metrics as metrics
    from phalanx.app.api import pause as pause
    from phalanx.app.api import ps as ps
    from phalanx.app.api import resume as resume
    from phalanx.app.api import rm as rm
    from phalanx.app.api import run as run
    from phalanx.app.api import stacks as stacks
    from phalanx.app.api import status as status
    from phalanx.app.api import stop as stop
    from phalanx.app.api import wait as wait
    from phalanx.app.api import why as why
    from phalanx.errors import PhalanxError as PhalanxError

__version__ = "0.1.0"

__all__ = [
    "PhalanxError",
    "checkpoints",
    "ledger",
    "logs",
    "metrics",
    "pause",
    "ps",
    "resume",
    "rm",
    "run",
    "stacks",
    "status",
    "stop",
    "wait",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'phalanx' has no attribute '{name}'")
    from importlib import import_module

    home = "phalanx.errors" if name == "PhalanxError" else "phalanx.app.api"
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
