"""Files of weights that other tools wrote: which of a folder count, and reading SafeTensors."""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from phalanx.checkpoint import dtypes, shard
from phalanx.checkpoint.arrays import build_tensor, private_run
from phalanx.errors import CheckpointUnreadable, InputError
from phalanx.plan.lineage import WeightsFile
from phalanx.store.digest import digest_of

SAFE = ".safetensors"
ABOUT = "phalanx.json"
"""What `checkpoints restore` writes beside the tensors."""
_TORCH = (".pt", ".pth", ".bin", ".ckpt")
_TORCH_MAGIC = (b"PK\x03\x04", b"\x80\x02", b"\x80\x04")
"""A zip, or the older stream."""
_NAMES = {code: name for name, code in dtypes.CODES.items()}


def weights_in(path: str) -> tuple[str, ...]:
    """Names of the files that hold the weights at `path`, relative to its folder.

    `path` is a file, or a folder: its SafeTensors (those of its index, where it has one), else
    its one file of torch. Raises `InputError` when there are none or several could be meant.
    """
    if os.path.isfile(path):
        return (os.path.basename(path),)
    if not os.path.isdir(path):
        raise InputError(
            f"init_from.weights: there is nothing at {path}",
            hint="a path is relative to the job file",
        )
    try:
        listed = os.listdir(path)
    except OSError as error:
        raise InputError(f"init_from.weights: {path} cannot be read: {error.strerror}") from error
    names = sorted(name for name in listed if os.path.isfile(os.path.join(path, name)))
    found = _safe(path, names) or _torch(path, names)
    if not found:
        said = f"init_from.weights: {path} holds no .safetensors, .pt, .pth, .bin or .ckpt"
        raise InputError(said, hint="name a file or folder with weights")
    return found


def _safe(folder: str, names: Sequence[str]) -> tuple[str, ...]:
    if ABOUT in names and (ours := _of_ours(folder)):
        return ours
    if f"model{SAFE}.index.json" in names:
        return _of_index(folder, f"model{SAFE}.index.json")
    if f"model{SAFE}" in names:
        return (f"model{SAFE}",)
    return tuple(name for name in names if name.endswith(SAFE))


def _torch(folder: str, names: Sequence[str]) -> tuple[str, ...]:
    if "pytorch_model.bin.index.json" in names:
        return _of_index(folder, "pytorch_model.bin.index.json")
    if "pytorch_model.bin" in names:
        return ("pytorch_model.bin",)
    found = tuple(name for name in names if name.endswith(_TORCH))
    if len(found) > 1:
        said = f"init_from.weights: {folder} holds {', '.join(found[:3])}: which one?"
        raise InputError(said, hint="name the file itself")
    return found


def _of_ours(folder: str) -> tuple[str, ...]:
    """Of a folder that `checkpoints restore` wrote: the values that are a module's tensors."""
    return _named(folder, ABOUT, lambda about: about["weights"])


def _of_index(folder: str, index: str) -> tuple[str, ...]:
    return _named(folder, index, lambda words: words["weight_map"].values())


def _named(folder: str, index: str, pick: Callable[[Any], Iterable[Any]]) -> tuple[str, ...]:
    try:
        with open(os.path.join(folder, index), "rb") as file:
            names = sorted(set(pick(json.load(file))))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"init_from.weights: {folder}/{index} is no index of weights") from error
    for name in names:
        plain = type(name) is str and re.fullmatch(r"[^/\\\0]+", name) and name not in (".", "..")
        if not plain or not os.path.isfile(os.path.join(folder, name)):
            raise InputError(f"init_from.weights: {folder}/{index} names {name!r}, not there")
    return tuple(names)


def measured(folder: str, name: str) -> WeightsFile:
    """Size and digest of one file, after a look at whether it holds weights at all.

    A file of torch is not read further: what could be done with it is for the user's own
    process. Raises `InputError` when it cannot be read, `CheckpointUnreadable` when it holds
    something else.
    """
    path = os.path.join(folder, name)
    view = _mapped(path)
    if name.endswith(SAFE):
        shard.parse(view, path)
    elif bytes(view[:2]) not in {magic[:2] for magic in _TORCH_MAGIC}:
        raise CheckpointUnreadable(f"{path} is neither SafeTensors nor a file of torch.save")
    elif bytes(view[:4]) == _TORCH_MAGIC[0] and not _is_whole_zip(path):
        raise CheckpointUnreadable(f"{path} is not a whole file of torch.save: its end is missing")
    return WeightsFile(name, view.nbytes, digest_of(view))


def _is_whole_zip(path: str) -> bool:
    """Whether its directory, which a zip has at its end, is there; nothing in it is read."""
    import zipfile

    return zipfile.is_zipfile(path)


def tensors_of(folder: str, file: WeightsFile) -> dict[str, Any]:
    """The tensors in one SafeTensors file, on the CPU, by name.

    Raises `CheckpointUnreadable` when it is gone, malformed or not the file that was measured.
    """
    path = os.path.join(folder, file.name)
    view = unchanged(folder, file)
    parsed = shard.parse(view, path)
    found = {}
    for name, (code, shape) in parsed.kinds.items():
        data = parsed.bytes(name)
        node = {"dtype": _NAMES[code], "shape": shape}
        found[name] = build_tensor(node, private_run(data), data.nbytes)
    return found


def unchanged(folder: str, file: WeightsFile) -> memoryview:
    """The bytes of a file, equal to what was measured. Raises `CheckpointUnreadable`."""
    path = os.path.join(folder, file.name)
    try:
        view = _mapped(path)
    except InputError as error:
        raise CheckpointUnreadable(error.message) from error
    if view.nbytes != file.bytes or digest_of(view) != file.sha256:
        raise CheckpointUnreadable(f"{path} has changed since the job was submitted")
    return view


def _mapped(path: str) -> memoryview:
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
