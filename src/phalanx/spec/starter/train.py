"""Learns a random linear map. Runs under phalanx over several processes, or alone."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from phalanx.train import Checkpointer

TOTAL_STEPS = int(os.environ.get("PHALANX_TOTAL_STEPS", "200"))  # total_steps of the job file


def main() -> None:
    """Trains from the newest committed checkpoint, or from nothing."""
    torch.manual_seed(0)
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    if world > 1:
        dist.init_process_group("gloo")
        model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    target = torch.randn(16, 1)

    checkpointer = Checkpointer({"model": model, "optimizer": optimizer})
    for step in range(checkpointer.restore(), TOTAL_STEPS):
        # A batch depends on the step and the rank only, so that a restart sees the same data.
        noise = torch.Generator().manual_seed(step * world + rank)
        inputs = torch.randn(32, 16, generator=noise)
        loss = torch.nn.functional.mse_loss(model(inputs), inputs @ target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        checkpointer.step(step, loss=loss.item())
        if rank == 0 and (step + 1) % 20 == 0:
            print(f"step {step + 1} of {TOTAL_STEPS}  loss {loss.item():.4f}", flush=True)

    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
