"""What a rank states of its shards (`Part`), and what makes a checkpoint exist (`Manifest`).

Every path in them is relative to the checkpoint's folder and stays inside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen
from phalanx.names import checkpoint_name, split_checkpoint_name
from phalanx.plan.lineage import Origin
from phalanx.state import codec
from phalanx.store.digest import PATTERN

REPLICATED = "replicated"
"""Equal on all ranks, written by rank 0: any number of ranks may restore it."""
PER_RANK = "per_rank"
"""Every rank writes its own: the same number of ranks restores it, or all were equal."""
FOLDER = "folder"
"""Files as a framework wrote them: put back into its folder, not read by phalanx."""

_LONGEST_NAME = 1024


@frozen
class ShardFile:
    """One file of a checkpoint; `name` is relative to the checkpoint's folder."""

    name: str
    bytes: int
    sha256: str
    """As `store.digest` says: in pieces of 16 MiB where it is longer."""


@frozen
class Piece:
    """One top-level value of the state, and how it lies over the ranks."""

    name: str
    placement: str = REPLICATED


@frozen
class Part:
    """One rank's statement that its shards are whole and durable."""

    rank: int
    name: str
    """The checkpoint's name."""
    attempt: int
    step: int
    world_size: int
    shards: tuple[ShardFile, ...]
    layout: tuple[Piece, ...] = ()
    """What this rank's shards hold."""
    framework: tuple[tuple[str, str], ...] = ()
    """(name, version) of what wrote them: python, torch, phalanx."""


@frozen
class Manifest:
    """A whole checkpoint. Without one a checkpoint does not exist."""

    name: str
    step: int
    """Optimizer steps done."""
    attempt: int
    world_size: int
    parts: tuple[Part, ...]
    """By rank."""
    parent: str | None = None
    """The committed checkpoint when this one was written: where a fall-back goes."""
    framework: tuple[tuple[str, str], ...] = ()
    code: str = ""
    """Digest of the source snapshot that trained it; empty when none was shipped."""
    created_ns: int = 0
    """Store clock."""
    bytes: int = 0
    init_from: Origin | None = None
    """What the job began from; None when it began from nothing."""

    @property
    def order(self) -> tuple[int, int]:
        """(attempt, step): checkpoints only go forward in it."""
        return self.attempt, self.step

    @property
    def is_folder(self) -> bool:
        """Whether it holds files that a framework wrote."""
        return any(piece.placement == FOLDER for part in self.parts for piece in part.layout)

    @property
    def shards(self) -> tuple[ShardFile, ...]:
        """All files of all ranks."""
        return tuple(shard for part in self.parts for shard in part.shards)


def order_of(name: str) -> tuple[int, int] | None:
    """(attempt, step) of a checkpoint's name; None when it is not one."""
    split = split_checkpoint_name(name)
    return (split[1], split[0]) if split else None


def manifest_of(parts: Sequence[Part], parent: str | None, code: str, created_ns: int) -> Manifest:
    """The manifest over all parts of one checkpoint, which `problem_of_parts` finds right."""
    first = min(parts, key=lambda part: part.rank)
    return Manifest(
        name=first.name,
        step=first.step,
        attempt=first.attempt,
        world_size=first.world_size,
        parts=tuple(sorted(parts, key=lambda part: part.rank)),
        parent=parent,
        framework=first.framework,
        code=code,
        created_ns=created_ns,
        bytes=sum(shard.bytes for part in parts for shard in part.shards),
    )


def problem_of_parts(parts: Sequence[Part], name: str, world_size: int) -> str:
    """What is wrong with the parts of a checkpoint, one sentence; empty when they are whole."""
    if sorted(part.rank for part in parts) != list(range(world_size)):
        return f"it has parts of ranks {sorted(p.rank for p in parts)}, not of all {world_size}"
    for part in parts:
        told = (part.name, checkpoint_name(part.step, part.attempt), part.world_size)
        if told != (name, name, world_size):
            return f"the part of rank {part.rank} is of {part.name} over {part.world_size} ranks"
        for shard in part.shards:
            problem = _problem_of_shard(shard)
            if problem:
                return f"the part of rank {part.rank} names {problem}"
    return ""


def _problem_of_shard(shard: ShardFile) -> str:
    if not is_inside(shard.name):
        return f"the file {shard.name[:80]!r}, which is not inside the checkpoint's folder"
    if type(shard.bytes) is not int or shard.bytes < 0:
        return f"{shard.name} with a size of {shard.bytes!r}"
    if type(shard.sha256) is not str or not re.fullmatch(PATTERN, shard.sha256):
        return f"{shard.name} without a sha256 digest"
    return ""


def is_inside(name: object) -> bool:
    """Whether a file's name in a manifest stays inside the checkpoint's folder."""
    if type(name) is not str or not 0 < len(name) <= _LONGEST_NAME:
        return False
    if "\\" in name or ":" in name or not name.isprintable():
        return False
    return all(step not in ("", ".", "..") for step in name.split("/"))


def read_part(data: bytes, name: str, rank: int) -> Part:
    """The part in `data`. Raises `CheckpointUnreadable` when it is something else."""
    try:
        part = codec.loads(Part, data)
    except (ValueError, RecursionError) as error:
        raise CheckpointUnreadable(f"part {rank} of {name} is malformed: {error}") from error
    if type(part.rank) is not int or part.rank != rank or type(part.step) is not int:
        raise CheckpointUnreadable(f"part {rank} of {name} is of rank {part.rank!r}")
    return part


def read_manifest(data: bytes, name: str) -> Manifest:
    """The manifest of checkpoint `name` in `data`.

    Raises `CheckpointUnreadable` when it is malformed, is of another checkpoint, lacks a rank or
    names a file outside the checkpoint's folder.
    """
    try:
        manifest = codec.loads(Manifest, data)
        problem = problem_of_parts(manifest.parts, name, manifest.world_size)
        problem = problem or _problem_of_manifest(manifest, name)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointUnreadable(f"the manifest of {name} is malformed: {error}") from error
    if problem:
        raise CheckpointUnreadable(f"the manifest of {name} is wrong: {problem}")
    return manifest


def _problem_of_manifest(manifest: Manifest, name: str) -> str:
    if manifest.name != name or checkpoint_name(manifest.step, manifest.attempt) != name:
        return f"it is of {manifest.name}"
    if manifest.parent is not None and order_of(manifest.parent) is None:
        return f"its parent {manifest.parent!r} is no checkpoint's name"
    return ""
