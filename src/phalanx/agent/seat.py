"""What the environment tells an agent about its place."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from phalanx.errors import InputError


@dataclass(frozen=True)
class SeatPlace:
    """Where this agent sits, as the backend that launched it said."""

    job: str
    root: Path
    slot: int
    incarnation: int
    token: str
    address: str
    scratch: Path
    """Private folder on local disk for sockets and progress files; short, for socket paths."""


def read_place(environ: Mapping[str, str]) -> SeatPlace:
    """Raises `InputError` when the environment is not that of a task."""
    try:
        token = environ["PHALANX_TASK"]
        return SeatPlace(
            job=environ["PHALANX_JOB"],
            root=Path(environ["PHALANX_ROOT"]),
            slot=int(environ["PHALANX_SLOT"]),
            incarnation=int(environ["PHALANX_INCARNATION"]),
            token=token,
            address=environ.get("PHALANX_ADDRESS", "127.0.0.1"),
            scratch=Path(tempfile.gettempdir()) / f"phalanx-{os.getuid()}" / token[:16],
        )
    except (KeyError, ValueError) as error:
        raise InputError(
            f"not the environment of a task: {error}", hint="agents are started by phalanx"
        ) from error


def inherited_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What ranks inherit: everything, with this interpreter's folder first on PATH.

    So `python` in a job file is the Python that phalanx runs in, also when its environment was
    never activated.
    """
    folder = os.path.dirname(sys.executable)
    path = environ.get("PATH", os.defpath)
    return {**environ, "PATH": f"{folder}{os.pathsep}{path}"}
