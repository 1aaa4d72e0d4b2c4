"""`phalanx checkpoints verify PATH`: read every byte of every checkpoint below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from phalanx.checkpoint import reading
from phalanx.checkpoint.manifest import Manifest
from phalanx.errors import CheckpointUnreadable, InputError
from phalanx.frozen import frozen, replace
from phalanx.names import Keys, split_checkpoint_name, split_job_id
from phalanx.plan.lineage import Origin
from phalanx.state import codec

if TYPE_CHECKING:
    from phalanx.store.store import Store


@frozen
class Verdict:
    """One checkpoint, and what is wrong with it; () when every byte is right."""

    where: str
    name: str
    problems: tuple[str, ...]
    init_from: Origin | None = None
    """What its job began from, as its manifest says."""


def verify_folder(path: str, open_store: Callable[[str], Store]) -> tuple[Verdict, ...]:
    """Verify a checkpoint's folder, a job's, its `checkpoints`, or a whole root.

    Folders without a manifest are unfinished saves, not checkpoints: they are passed over unless
    `path` is one. Raises `InputError` when there is nothing to verify at `path`.
    """
    name = os.path.basename(os.path.abspath(path))
    store = open_store(path)
    if split_checkpoint_name(name) or store.read("manifest") is not None:
        verdict = _verdict(store, path, ("", _named(store, name)))
        return (replace(verdict, name=name),)
    places = _places(store)
    if places:
        return tuple(v for place in places for v in _all(path, store, place))
    inside = sorted(child for child in os.listdir(path) if split_checkpoint_name(child))
    if inside:
        return tuple(
            _verdict(store, os.path.join(path, child), (child, child))
            for child in inside
            if store.read(f"{child}/manifest") is not None
        )
    raise InputError(
        f"{path} holds no checkpoint",
        hint="name a checkpoint's folder, a job's folder or a root",
    )


def _places(store: Store) -> list[str]:
    """Folders of checkpoints of a job, else of all jobs of a root; [] where neither is."""
    if store.list("checkpoints") or store.list("init"):
        return ["checkpoints", "init"]
    jobs = [job for job in store.list("jobs") if split_job_id(job)]
    return [place for job in jobs for place in (Keys(job).checkpoints, Keys(job).init)]


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
            found.append(_verdict(store, where, (folder, name)))
    return tuple(found)


def _verdict(store: Store, where: str, what: tuple[str, str]) -> Verdict:
    """`what` is (folder, name) of one checkpoint."""
    problems = reading.problems(store, *what)
    try:
        origin = reading.load_manifest(store, *what).init_from
    except CheckpointUnreadable:
        origin = None
    return Verdict(where, what[1], problems, origin)
