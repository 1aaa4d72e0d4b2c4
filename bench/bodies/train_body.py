"""The training script that every system of the benchmark runs, unchanged.

`train_body.py FOLDER STEPS STEP_S EVERY SIZE BATCH` under any launcher that sets torch's
environment. Each finished step is one line of `FOLDER/steps.<rank>`:

    <kind> <pid> <step> <monotonic ns> .

with the kinds born, group, model, restored (once per process) and step. Under phalanx the state
is kept by `phalanx.train`; elsewhere rank 0 saves by `torch.save` to a new name and a rename.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

SIZES = {"small": (256, 1024, 1), "large": (3536, 3536, 2)}
"""Width, hidden width, pairs of layers: 0.5 and 50 million parameters."""


class Lines:
    """What this rank writes down."""

    def __init__(self, folder: str, rank: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._fd = os.open(f"{folder}/steps.{rank}", flags, 0o600)

    def put(self, kind: str, step: int = 0) -> None:
        """One line, in one write."""
        os.write(self._fd, f"{kind} {os.getpid()} {step} {time.monotonic_ns()} .\n".encode())


class PlainSaver:
    """What people write by hand: rank 0 saves to a new name, then renames."""

    def __init__(self, folder: str, rank: int, every: int, state: dict[str, Any]) -> None:
        self.path = f"{folder}/plain.pt"
        self.rank = rank
        self.every = every
        self.state = state

    def restore(self) -> int:
        """Steps done."""
        import torch

        if not os.path.exists(self.path):
            return 0
        saved = torch.load(self.path, weights_only=True)
        for name, value in self.state.items():
            value.load_state_dict(saved[name])
        return int(saved["step"])

    def step(self, step: int) -> None:
        """Save when due."""
        import torch

        if self.rank or (step + 1) % self.every:
            return
        saved = {name: value.state_dict() for name, value in self.state.items()}
        torch.save({**saved, "step": step + 1}, f"{self.path}.new")
        os.replace(f"{self.path}.new", self.path)


def saver_for(folder: str, rank: int, every: int, state: dict[str, Any]) -> Any:
    """The saver of the system that we run under."""
    if os.environ.get("PHALANX_JOB"):
        from phalanx.train import Checkpointer

        return Checkpointer(state)
    return PlainSaver(folder, rank, every, state)


def build(size: str) -> Any:
    """The network."""
    from torch import nn

    width, hidden, pairs = SIZES[size]
    layers: list[Any] = []
    for _ in range(pairs):
        layers += [nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, width)]
    return nn.Sequential(*layers)


def train(argv: list[str]) -> None:
    """Run to the last step."""
    folder, steps, step_s, every = argv[0], int(argv[1]), float(argv[2]), int(argv[3])
    size, batch = argv[4], int(argv[5])
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        rank = int(os.environ["RANK"])
        lines = Lines(folder, rank)
        lines.put("born")
        dist.init_process_group("gloo")
    else:  # Ray has done it
        rank = dist.get_rank()
        lines = Lines(folder, rank)
        lines.put("born")
    lines.put("group")
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = torch.nn.parallel.DistributedDataParallel(build(size))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    lines.put("model")
    saver = saver_for(folder, rank, every, {"model": model, "optimizer": optimizer})
    first = saver.restore()
    lines.put("restored", first)
    width = SIZES[size][0]
    for step in range(first, steps):
        began = time.monotonic()
        inputs = torch.randn(batch, width, generator=torch.Generator().manual_seed(step + rank))
        loss = (model(inputs) - inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(max(0.0, step_s - (time.monotonic() - began)))
        lines.put("step", step)
        saver.step(step)


if __name__ == "__main__":
    train(sys.argv[1:])
