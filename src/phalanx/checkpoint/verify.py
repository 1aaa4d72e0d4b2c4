"""`phalanx checkpoints verify PATH`: read every byte of every checkpoint below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from phalanx.checkpoint import reading
from phalanx.checkpoint.manifest import Manifest
from phalanx.errors import InputError
from phalanx.frozen import frozen
from phalanx.names import Keys, split_checkpoint_name, split_job_id
from phalanx.state import codec

if TYPE_CHECKING:
    from phalanx.store.store import Store


@frozen
class Verdict:
    """One checkpoint, and what is wrong with it; () when every byte is right."""

    where: str
    name: str
    problems: tuple[str, ...]


def verify_folder(path: str, open_store: Callable[[str], Store]) -> tuple[Verdict, ...]:
    """Verify a checkpoint's folder, a job's, its `checkpoints`, or a whole root.

    Folders without a manifest are unfinished saves, not checkpoints: they are passed over unless
    `path` is one. Raises `InputError` when there is nothing to verify at `path`.
    """
    name = os.path.basename(os.path.abspath(path))
    store = open_store(path)
    if split_checkpoint_name(name) or store.read("manifest") is not None:
        return (Verdict(path, name, reading.problems(store, "", _named(store, name))),)
    if store.list("checkpoints"):
        return _all(path, store, "checkpoints")
    jobs = [job for job in store.list("jobs") if split_job_id(job)]
    if jobs:
        return tuple(v for job in jobs for v in _all(path, store, Keys(job).checkpoints))
    inside = sorted(child for child in os.listdir(path) if split_checkpoint_name(child))
    if inside:
        return tuple(
            Verdict(os.path.join(path, child), child, reading.problems(store, child, child))
            for child in inside
            if store.read(f"{child}/manifest") is not None
        )
    raise InputError(
        f"{path} holds no checkpoint",
        hint="name a checkpoint's folder, a job's folder or a root",
    )


def _named(store: Store, folder: str) -> str:
    """The checkpoint's own name: a copied folder may be called something else."""
    if split_checkpoint_name(folder):
        return folder
    found = store.read("manifest")
    try:
        manifest = codec.loads(Manifest, found.data if found else b"")
    except ValueError:
        return folder
    return manifest.name if type(manifest.name) is str else folder


def _all(path: str, store: Store, prefix: str) -> tuple[Verdict, ...]:
    found = []
    for name in store.list(prefix):
        folder = f"{prefix}/{name}"
        if split_checkpoint_name(name) and store.read(f"{folder}/manifest") is not None:
            where = os.path.join(path, folder)
            found.append(Verdict(where, name, reading.problems(store, folder, name)))
    return tuple(found)
