"""One process saves the same state in every way, in turns. `save_body.py FOLDER BYTES ROUND...`

Prints a JSON line for each save. The first turn of all is not told: it warms memory and disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemWriter
from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

from phalanx.checkpoint.commit import CommitState, Committer, commit
from phalanx.checkpoint.manifest import PER_RANK, Piece
from phalanx.clock import SystemClock
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.train.environment import Surroundings
from phalanx.train.saving import Outlet, Saver
from phalanx.train.telling import AgentLine

TENSORS = 16
now = time.perf_counter


class Ours:
    """The real path of a rank and of the agent that commits for it, in one process."""

    def __init__(self, folder: Path) -> None:
        root = folder / "root"
        FilesObjects.open(root, make=True)
        self.fsync_s = 0.0
        self.store = Store(FilesObjects(root, sync=self._sync), "bench")
        self.keys = Keys("bench-1")
        self.store.swap(self.keys.head, codec.dumps(Head(0, None)), None)
        here = Surroundings("bench-1", 0, 0, 1, str(root))
        outlet = Outlet(self.store, self.keys, AgentLine(""), SystemClock())
        self.saver = Saver(here, outlet)
        self.step = 0

    def _sync(self, fd: int) -> None:
        began = now()
        os.fsync(fd)
        self.fsync_s += now() - began

    def save(self, state: dict[str, Any]) -> dict[str, float]:
        """One checkpoint, from the call to a HEAD that names it."""
        self.step += 1
        self.fsync_s = 0.0
        began = now()
        name = self.saver.begin(self.step, state, (Piece("model", PER_RANK),))
        copied = now()
        self.saver.wait()
        written = now()
        outcome = commit(self.store, self.keys, Committer(0, 1), name)
        done = now()
        if self.saver.problem or outcome.state is not CommitState.COMMITTED:
            raise RuntimeError(self.saver.problem or outcome.reason)
        self.store.delete(self.keys.checkpoint(name))
        return {
            "seconds": done - began,
            "copy_s": copied - began,
            "blob_s": written - copied,
            "commit_s": done - written,
            "fsync_s": self.fsync_s,
        }


def sync_file(path: str) -> None:
    """fsync of a file and of the folder it is in."""
    for name in (path, os.path.dirname(path)):
        fd = os.open(name, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


class Ways:
    """Every way to save `state`, each under a new name, each durable on return."""

    def __init__(self, folder: Path, size: int) -> None:
        each = size // TENSORS // 4
        self.state = {f"t{n}": torch.rand(each) for n in range(TENSORS)}
        self.bytes = bytearray(
            b"".join(memoryview(t.numpy()).cast("B") for t in self.state.values())
        )
        self.folder = folder
        self.ours = Ours(folder)
        self.number = 0

    def path(self) -> str:
        """A new name."""
        self.number += 1
        return str(self.folder / f"save{self.number}")

    def raw(self) -> dict[str, float]:
        """The same bytes, write and fsync."""
        path, view = self.path(), memoryview(self.bytes)
        began = now()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        while view.nbytes:
            view = view[os.write(fd, view) :]
        written = now()
        os.fsync(fd)
        os.close(fd)
        sync_file(path)
        done = now()
        return {"seconds": done - began, "write_s": written - began, "fsync_s": done - written}

    def phalanx(self) -> dict[str, float]:
        """Ours."""
        told = self.ours.save({"model": self.state})
        began = now()
        hashlib.sha256(self.bytes)
        return {**told, "hash_alone_s": now() - began}

    def torch_save(self) -> dict[str, float]:
        """torch.save and fsync."""
        path = self.path()
        began = now()
        torch.save(self.state, path)
        sync_file(path)
        return {"seconds": now() - began}

    def dcp(self) -> dict[str, float]:
        """DCP with its own writer, which fsyncs."""
        path = self.path()
        began = now()
        dcp.save(self.state, storage_writer=FileSystemWriter(path))
        return {"seconds": now() - began}

    def clone(self) -> dict[str, float]:
        """One memcpy of the state, as torch does it."""
        began = now()
        kept = [tensor.clone() for tensor in self.state.values()]
        seconds = now() - began
        del kept
        return {"seconds": seconds}

    def dcp_async(self) -> dict[str, float]:
        """DCP in the background, in a thread."""
        path = self.path()
        began = now()
        kind = AsyncCheckpointerType.THREAD
        future = dcp.async_save(self.state, checkpoint_id=path, async_checkpointer_type=kind)
        stalled = now()
        future.result()
        return {"seconds": now() - began, "stall_s": stalled - began}

    def clean(self) -> None:
        """Nothing of one save is left to be written out during the next."""
        for path in self.folder.glob("save*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        os.sync()


def main(folder: str, size: int, rounds: list[int]) -> None:
    """All ways once a round; who begins changes from round to round."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/group", rank=0, world_size=1
    )
    ways = Ways(Path(folder), size)
    calls: list[tuple[str, Callable[[], dict[str, float]]]] = [
        ("raw", ways.raw),
        ("phalanx", ways.phalanx),
        ("torch.save", ways.torch_save),
        ("dcp", ways.dcp),
        ("clone", ways.clone),
        ("dcp-async", ways.dcp_async),
    ]
    for turn, trial in enumerate([-1, *rounds]):
        at = turn % len(calls)
        for system, call in calls[at:] + calls[:at]:
            told = {name: round(seconds, 5) for name, seconds in call().items()}
            ways.clean()
            if trial >= 0:
                print(json.dumps({"system": system, "trial": trial, **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]])
