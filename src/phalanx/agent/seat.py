"""What the environment tells an agent about its place."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from phalanx.errors import InputError
from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.owned import make_inside
from phalanx.store.refusals import refusing


@frozen
class SeatPlace:
    """Where this agent sits, as the backend that launched it said."""

    job: str
    root: str
    slot: int
    incarnation: int
    token: str
    address: str
    scratch: str
    """Private folder on local disk for sockets and progress files; short, for socket paths."""


def read_place(environ: Mapping[str, str]) -> SeatPlace:
    """Raises `InputError` when the environment is not that of a task."""
    try:
        token = environ["PHALANX_TASK"]
        return SeatPlace(
            job=environ["PHALANX_JOB"],
            root=environ["PHALANX_ROOT"],
            slot=int(environ["PHALANX_SLOT"]),
            incarnation=int(environ["PHALANX_INCARNATION"]),
            token=token,
            address=environ.get("PHALANX_ADDRESS", "127.0.0.1"),
            scratch=_scratch(environ, token),
        )
    except (KeyError, ValueError) as error:
        raise InputError(
            f"not the environment of a task: {error}", hint="agents are started by phalanx"
        ) from error


def own_files(place: SeatPlace) -> str:
    """The folder of the script's own files, made when missing. Raises `StoreUnavailable`."""
    job = os.path.join(place.root, Keys(place.job).base)
    files = os.path.join(job, "files")
    with refusing(files):
        make_inside(job, files)
    return files


def inherited_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What ranks inherit: everything, with this interpreter's folder first on PATH.

    So `python` in a job file is the Python that phalanx runs in, also when its environment was
    never activated.
    """
    folder = os.path.dirname(sys.executable)
    path = environ.get("PATH", os.defpath)
    return {**environ, "PATH": f"{folder}{os.pathsep}{path}"}


def _scratch(environ: Mapping[str, str], token: str) -> str:
    """A folder of this user and task alone, as short as can be: a socket's path has 108 bytes.

    Two roots can hold jobs of one name, whose tokens are equal: the root is part of the name.
    """
    import hashlib

    name = hashlib.sha256(f"{environ['PHALANX_ROOT']}\0{token}".encode()).hexdigest()[:16]
    return os.path.join(scratch_base(environ), name)


def scratch_base(environ: Mapping[str, str]) -> str:
    """The folder of all scratch folders of this user."""
    return os.path.join(environ.get("TMPDIR") or "/tmp", f"phalanx-{os.getuid()}")


def remove_tree(folder: str) -> None:
    """Remove the scratch folder; what cannot be removed stays."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
