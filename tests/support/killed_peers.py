"""Savers of others that are killed: `python -m tests.support.killed_peers KIND FOLDER TRIALS SEED`.

KIND is `torch.save` (in place, as most scripts do) or `dcp` (torch.distributed.checkpoint into one
folder). Every trial forks a writer that saves one step after the other until it is killed at a
random moment; then a fresh process reads what is there. Prints one JSON object of counts: a trial
is `unreadable` when nothing can be loaded although a save had been finished before the kill,
`wrong` when what loads is not one step's state.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp

from tests.support.killed_saves import LONGEST_S, content, forked, is_right

RIGHT, UNREADABLE, WRONG = 0, 1, 2


def state(step: int) -> dict[str, torch.Tensor]:
    """The same content as our own ranks save, in tensors."""
    values = content(step, 0)
    return {
        "numbers": torch.from_numpy(values["numbers"]),
        "step": torch.tensor(values["step"]),
        "size": torch.tensor(len(values["numbers"])),
    }


def save(kind: str, folder: Path, step: int) -> None:
    if kind == "torch.save":
        torch.save(state(step), folder / "checkpoint.pt")
    else:
        writer = dcp.FileSystemWriter(folder, overwrite=True)
        dcp.save(state(step), storage_writer=writer, no_dist=True)


def load(kind: str, folder: Path) -> dict[str, torch.Tensor]:
    """Raises whatever the library raises when nothing can be loaded."""
    if kind == "torch.save":
        found: dict[str, torch.Tensor] = torch.load(folder / "checkpoint.pt", weights_only=True)
        return found
    told = dcp.FileSystemReader(folder).read_metadata().state_dict_metadata
    values = {
        name: torch.empty(entry.size, dtype=entry.properties.dtype) for name, entry in told.items()
    }
    dcp.load(values, storage_reader=dcp.FileSystemReader(folder), no_dist=True)
    return values


def writer_main(kind: str, folder: Path, first: int, announce: int) -> None:
    """Save one step after the other, for ever; announce each that is finished."""
    step = first
    while True:
        step += 1
        save(kind, folder, step)
        os.write(announce, f"{step}\n".encode())


def reader_main(kind: str, folder: Path) -> None:
    """Ends with what was found as its exit code."""
    try:
        values = load(kind, folder)
    except BaseException:  # what DCP raises is no Exception
        os._exit(UNREADABLE)
    step = int(values["step"])
    told = {"numbers": values["numbers"].numpy(), "step": step, "rank": 0}
    # The numbers of no step are garbage: another save's bytes read with an older save's plan.
    os._exit(RIGHT if step > 0 and is_right(told, step, 0) else WRONG)


def trial(kind: str, folder: Path, first: int, chance: random.Random) -> list[int]:
    """One writer; returns the steps that it finished before it was killed."""
    hear, announce = os.pipe()
    pid = forked(writer_main, kind, folder, first, announce)
    os.close(announce)
    time.sleep(chance.uniform(0, LONGEST_S))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(hear) as pipe:
        return [int(step) for step in pipe.read().split()]


def main(kind: str, root: str, trials: int, seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    folder = Path(root)
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter(trials=0, unreadable=0, wrong=0, saves=0)
    torch.set_num_threads(1)
    step = 0
    while counts["trials"] < trials:
        finished = trial(kind, folder, step, chance)
        counts["saves"] += len(finished)
        step += len(finished) + 1
        if not counts["saves"]:
            continue  # killed before the first save of all: nothing could be there
        counts["trials"] += 1
        _, ended = os.waitpid(forked(reader_main, kind, folder), 0)
        code = os.waitstatus_to_exitcode(ended)
        counts["unreadable"] += code == UNREADABLE
        counts["wrong"] += code == WRONG
        assert code in (RIGHT, UNREADABLE, WRONG), code
    return dict(counts)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # each library's own advice, which is not what is counted
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
