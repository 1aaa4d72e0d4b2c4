"""A training script for tests: AdamW, a scheduler, dropout and DDP; prints its losses exactly."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist

from phalanx.train import Checkpointer
from tests.support.saves import Saves
from tests.support.waiting import until


class Sampler:
    """Counts what this rank consumed: another number on every rank."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.seen = 0

    def state_dict(self) -> dict[str, int]:
        return {"rank": self.rank, "seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        assert state["rank"] == self.rank
        self.seen = state["seen"]


def a_commit_is_there() -> bool:
    head = Saves(Path(os.environ["PHALANX_ROOT"]).parent).head()
    return head is not None and head.checkpoint is not None


def main(steps: int, losses: Path, kill_at: int = 0) -> None:
    """Train; after `kill_at` steps kill this process, once something is committed.

    Losses go to `<losses>.<rank>`.
    """
    torch.manual_seed(0)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    model: torch.nn.Module = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.Linear(16, 1)
    )
    if world > 1:
        store = f"file://{losses}.{os.environ['PHALANX_ATTEMPT']}.store"
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
        model = torch.nn.parallel.DistributedDataParallel(model)
    torch.manual_seed(rank)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    sampler = Sampler(rank)
    state = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "sampler": sampler}
    checkpointer = Checkpointer(state)
    with open(f"{losses}.{rank}", "a") as log:
        for step in range(checkpointer.restore(), steps):
            x = torch.randn(4, 8)
            loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            sampler.seen += 4
            print(step, loss.item().hex(), sampler.seen, file=log, flush=True)
            checkpointer.step(step, loss=loss)
            if step + 1 == kill_at:
                until(a_commit_is_there)
                os.kill(os.getpid(), signal.SIGKILL)
    if world > 1:
        dist.destroy_process_group()
