"""A committed checkpoint as plain files: SafeTensors and JSON, or one file for `torch.load`.

    <name>.safetensors          one value of the state, whole: its tensors by their own names
    <name>-<rank>.safetensors   where the ranks' values differ
    phalanx.json                step, origin, and everything that is no tensor
    checkpoint.pt               the same for `torch.load(..., weights_only=True)`

Written into a draft beside the folder and renamed, so that the folder is whole or not there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from phalanx.checkpoint import shard, torch_file
from phalanx.checkpoint.arrays import Entry
from phalanx.checkpoint.draft import drafted
from phalanx.checkpoint.equal import Opened, is_equal
from phalanx.checkpoint.manifest import PER_RANK, Manifest
from phalanx.checkpoint.plain import Plain, plain
from phalanx.checkpoint.ranks import open_all
from phalanx.checkpoint.reading import load_manifest
from phalanx.checkpoint.tree import unique_name
from phalanx.checkpoint.unfold import unfold
from phalanx.checkpoint.weights import ABOUT, SAFE
from phalanx.errors import CheckpointUnreadable, InputError
from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.state.codec import plain as as_json
from phalanx.store.refusals import unwritable

if TYPE_CHECKING:
    from phalanx.store.store import Store

FORMATS = ("safetensors", "torch")
TORCH_FILE = "checkpoint.pt"
_CHUNK = 16 << 20

Tell = Callable[[int, int], None]
"""Called with the bytes that are written and those of all."""


@frozen
class Source:
    """One checkpoint of a job."""

    job: str
    name: str


@frozen
class _Wanted:
    source: Source
    manifest: Manifest
    formats: tuple[str, ...]
    tell: Tell


@frozen
class Restored:
    """What was written: the manifest's words, and the names of the files."""

    manifest: Manifest
    files: tuple[str, ...]
    bytes: int


def restore(
    store: Store, source: Source, to: str, formats: Iterable[str], tell: Tell = lambda *_: None
) -> Restored:
    """Write one checkpoint to the folder `to` in plain form, after reading every byte of it.

    Raises `InputError` when `to` holds something, `CheckpointUnreadable` when the checkpoint is
    damaged, `StoreUnavailable` when `to` cannot be made or written.
    """
    check_target(to)
    manifest = load_manifest(store, Keys(source.job).checkpoint(source.name), source.name)
    with drafted(to) as draft:
        files = _write_all(store, draft, _Wanted(source, manifest, tuple(formats), tell))
    return Restored(manifest, tuple(files), sum(files.values()))


def check_target(to: str) -> None:
    """Raises `InputError` unless `to` is missing or an empty folder.

    Raises `StoreUnavailable` for a folder that cannot be looked into.
    """
    if not os.path.lexists(to):
        return
    if not os.path.isdir(to):
        raise InputError(f"{to} is there already and no folder", hint="name a new folder")
    try:
        is_empty = not os.listdir(to)
    except OSError as error:
        raise unwritable(error, to) from error
    if not is_empty:
        raise InputError(f"{to} is there already and not empty", hint="name a new folder")


def _write_all(store: Store, draft: str, wanted: _Wanted) -> dict[str, int]:
    """Sizes of the files written, by name."""
    manifest, keys = wanted.manifest, Keys(wanted.source.job)
    about: dict[str, Any] = _about(wanted.source, manifest)
    if manifest.is_folder:
        if wanted.formats != FORMATS[:1]:
            raise InputError(
                f"{manifest.name} holds files as a framework wrote them",
                hint="leave --format out: they are written as they are",
            )
        files = unfold(store, keys, manifest, draft, wanted.tell)
        return {**files, ABOUT: _write_about(draft, {**about, "weights": []}, {})}
    values = Values(manifest, open_all(store, keys.checkpoint(manifest.name), manifest))
    files = {}
    if "safetensors" in wanted.formats:
        files = _write_tensors(draft, values, wanted.tell)
    if "torch" in wanted.formats:
        files[TORCH_FILE] = torch_file.write(os.path.join(draft, TORCH_FILE), about, values)
    if "safetensors" not in wanted.formats:
        return {**files, ABOUT: _write_about(draft, {**about, "weights": [TORCH_FILE]}, {})}
    about["weights"] = values.weights
    return {**files, ABOUT: _write_about(draft, about, values.json)}


def _write_tensors(draft: str, values: Values, tell: Tell) -> dict[str, int]:
    total = sum(entry.size for _, made in values.files for entry in made.entries)
    files, done = {}, 0
    for name, made in values.files:
        files[name] = _write_safe(os.path.join(draft, name), made.entries)
        done += sum(entry.size for entry in made.entries)
        tell(done, total)
    return files


def _write_about(draft: str, about: dict[str, Any], values: dict[str, Any]) -> int:
    with open(os.path.join(draft, ABOUT), "xb") as file:
        return _finish(file, _lines(about, values))


def _lines(about: dict[str, Any], values: dict[str, Any]) -> bytes:
    """One JSON object, a line for each of its members and for each value."""
    words = [f"{json.dumps(key)}: {_dumps(item)}" for key, item in about.items()]
    lines = ",\n  ".join(f"{json.dumps(name)}: {_dumps(item)}" for name, item in values.items())
    words.append(f'"values": {{\n  {lines}}}')
    return ("{" + ",\n ".join(words) + "}\n").encode()


def _dumps(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _about(source: Source, manifest: Manifest) -> dict[str, Any]:
    return {
        "schema": "phalanx.restored/1",
        "job": source.job,
        "checkpoint": manifest.name,
        "step": manifest.step,
        "attempt": manifest.attempt,
        "world_size": manifest.world_size,
        "framework": dict(manifest.framework),
        "code": manifest.code,
        "init_from": as_json(manifest.init_from),
    }


class Values:
    """Every value of a checkpoint: one for all ranks, or one for each where they differ."""

    def __init__(self, manifest: Manifest, ranks: list[Opened]) -> None:
        self.ranks = ranks
        self.names: list[tuple[str, int]] = []
        """(name of a value, number of ranks that hold one of their own; 1: one for all)."""
        self.files: list[tuple[str, Plain]] = []
        self.weights: list[str] = []
        self.json: dict[str, Any] = {}
        self._taken: set[str] = set()
        for piece in manifest.parts[0].layout:
            is_one = piece.placement != PER_RANK or is_equal(ranks, piece.name)
            self.names.append((piece.name, 1 if is_one else len(ranks)))
        for name, count in self.names:
            parts = [self._part(name, rank, alone=count == 1) for rank in range(count)]
            self.json[name] = parts[0] if count == 1 else {"ranks": parts}

    def _part(self, name: str, rank: int, *, alone: bool) -> dict[str, Any]:
        opened, nodes = self.ranks[rank]
        if name not in nodes:
            raise CheckpointUnreadable(f"rank {rank} holds no {name!r}")
        made = plain(nodes[name], opened)
        if not made.entries:
            return {"file": None, "value": made.value}
        stem = _file_name(name) if alone else f"{_file_name(name)}-{rank:05d}"
        file = f"{unique_name(stem, self._taken)}{SAFE}"
        self.files.append((file, made))
        if alone and made.is_weights:
            self.weights.append(file)
        return {"file": file, "value": made.value}


def _file_name(name: str) -> str:
    """A value's name as the name of a file anywhere."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100]
    return f"_{safe[1:]}" if safe[:1] in (".", "-", "") else safe


def _write_safe(path: str, entries: Iterable[Entry]) -> int:
    """A SafeTensors file, one tensor after the other; returns its size."""
    placed = shard.arrange(entries)
    with open(path, "wb") as file:
        file.write(shard.header(placed, {"format": "pt"}))
        for item in placed:
            data = item.entry.source()
            for at in range(0, data.nbytes, _CHUNK):
                file.write(data[at : at + _CHUNK])
        return _finish(file)


def _finish(file: Any, data: bytes = b"") -> int:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
    return int(file.tell())
