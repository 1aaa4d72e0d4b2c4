"""Checkpoints as frameworks write them, byte for byte known beforehand, written piece by piece."""

from __future__ import annotations

import io
import json
import os
import struct
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import torch

Files = dict[str, bytes]
"""Name in the folder → what the writer means it to hold, in the order in which it is written."""
Write = Callable[[Path, bytes], None]


def saved(number: int, size: int = 3000) -> bytes:
    """What `torch.save` makes of a state; equally long for every number below 1000."""
    out = io.BytesIO()
    torch.save({"number": torch.tensor(number), "x": torch.full((size,), float(number))}, out)
    return out.getvalue()


def tensors(number: int, size: int = 2000) -> bytes:
    """A SafeTensors file."""
    data = struct.pack("<f", float(number)) * size
    header = {"x": {"dtype": "F32", "shape": [size], "data_offsets": [0, len(data)]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


LAST = 40
"""Highest number of a checkpoint."""


def prepare(base: Path, last: int = LAST) -> None:
    """Make what takes torch long, once, before writers are forked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(1, last + 1):
            dcp(number, str(base))


@cache
def dcp(number: int, base: str) -> Files:
    """A DCP checkpoint of two files, made by torch."""
    import torch.distributed.checkpoint as writer
    from torch.distributed.checkpoint import FileSystemWriter

    folder = Path(base) / f"dcp-{number}"
    state = {f"w{i}": torch.full((700,), float(number)) for i in range(2)}
    out = FileSystemWriter(folder, single_file_per_rank=False, sync_files=False)
    writer.save(state, storage_writer=out, no_dist=True)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 3, names
    data = {name: (folder / name).read_bytes() for name in names if name != ".metadata"}
    return {**data, ".metadata": (folder / ".metadata").read_bytes()}


def trainer(number: int, base: str) -> Files:
    """`checkpoint-N` of the Hugging Face Trainer with two ranks."""
    parts = {f"model-0000{i}-of-00002.safetensors": tensors(number + i) for i in (1, 2)}
    index = {"weight_map": {f"w{i}": name for i, name in enumerate(parts)}}
    files = {
        "config.json": b'{"model_type": "tiny"}',
        **parts,
        "model.safetensors.index.json": json.dumps(index).encode(),
        "training_args.bin": saved(number, 10),
        "optimizer.pt": saved(number),
        "scheduler.pt": saved(number, 5),
        "rng_state_0.pth": saved(number, 50),
        "trainer_state.json": json.dumps({"global_step": number, "epoch": 0.5}).encode(),
        "rng_state_1.pth": saved(number + 1, 50),  # the other rank may be last
    }
    return {f"checkpoint-{number}/{name}": data for name, data in files.items()}


def lightning(number: int, base: str) -> Files:
    """A numbered file and a copy under a fixed name."""
    data = saved(number)
    return {f"v/checkpoints/epoch=0-step={number}.ckpt": data, "v/checkpoints/last.ckpt": data}


def accelerate(number: int, base: str) -> Files:
    """A folder without a mark at its end."""
    files = {
        "model.safetensors": tensors(number),
        "optimizer.bin": saved(number),
        "scheduler.bin": saved(number, 5),
        "random_states_0.pkl": saved(number, 9),
    }
    return {f"checkpoint_{number}/{name}": data for name, data in files.items()}


KINDS: dict[str, Callable[[int, str], Files]] = {
    "trainer": trainer,
    "lightning": lightning,
    "torch in place": lambda n, _: {"checkpoint.pt": saved(n)},
    "torch over the old bytes": lambda n, _: {"checkpoint.pt": saved(n)},
    "torch renamed": lambda n, _: {"checkpoint.pt": saved(n)},
    "torch numbered": lambda n, _: {f"ckpt_{n:06d}.pt": saved(n)},
    "tensors": lambda n, _: {f"step_{n}.safetensors": tensors(n)},
    "dcp": lambda n, base: {f"step_{n}/{k}": v for k, v in dcp(n, base).items()},
    "dcp in place": lambda n, base: {f"last/{k}": v for k, v in dcp(n, base).items()},
    "folder": accelerate,
    "two files": lambda n, _: {"model.pt": saved(n), "optimizer.pt": saved(n, 500)},
}
ROLLING = frozenset(
    {
        "torch in place",
        "torch over the old bytes",
        "torch renamed",
        "dcp in place",
        "two files",
    }
)
UNMARKED = frozenset({"folder", "two files"})
"""Nothing in them proves that they are complete."""


def write(kind: str, folder: Path, number: int, base: str, chance: Random) -> None:
    """Write one checkpoint as its framework does, with pauses between pieces."""
    for name, data in KINDS[kind](number, base).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "torch renamed" or name.endswith(".metadata"):
            draft = path.with_name(f"{path.name}.tmp")
            _pour(draft, data, os.O_TRUNC, chance)
            draft.replace(path)
        else:
            over = kind == "torch over the old bytes" and path.exists()
            _pour(path, data, 0 if over else os.O_TRUNC, chance)


def _pour(path: Path, data: bytes, flag: int, chance: Random) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    try:
        for piece in _pieces(data, chance):
            os.write(fd, piece)
            if chance.random() < 0.5:
                time.sleep(chance.uniform(0, 0.003))
    finally:
        os.close(fd)


def _pieces(data: bytes, chance: Random) -> Iterator[bytes]:
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(3))
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        yield data[start:end]
