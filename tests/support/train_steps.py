"""Train a tiny network with DDP; write every finished step down, bit-exactly."""

import os
import sys
import time

import torch
import torch.distributed as dist

from phalanx.train import Checkpointer

steps, step_s = int(sys.argv[1]), float(sys.argv[2])
rank = int(os.environ["RANK"])
files = os.environ["PHALANX_CHECKPOINT_DIR"]
with open(f"{files}/pid.{rank}.tmp", "w") as pid_file:
    pid_file.write(str(os.getpid()))
os.replace(f"{files}/pid.{rank}.tmp", f"{files}/pid.{rank}")

torch.manual_seed(7)
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
checkpointer = Checkpointer({"model": model, "optimizer": optimizer})
first = checkpointer.restore()
if dist.get_world_size() > 2:
    # The first backward pass makes DDP's buckets anew, and the order of sums follows them.
    settled = torch.get_rng_state()
    model(torch.ones(8, 16)).sum().backward()
    torch.set_rng_state(settled)
log = os.open(f"{files}/steps.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for step in range(first, steps):
    began = time.monotonic()
    noise = torch.Generator().manual_seed(step * 1000 + rank)
    inputs = torch.randn(8, 16, generator=noise)
    dropped = inputs * (torch.rand(8, 16) > 0.1)  # torch's own generator must resume too
    loss = (model(dropped) - inputs.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(max(0.0, step_s - (time.monotonic() - began)))
    words = (
        os.environ["PHALANX_ATTEMPT"],
        step,
        time.monotonic_ns(),
        loss.item().hex(),
        first,
        ".",
    )
    os.write(log, " ".join(map(str, words)).encode() + b"\n")
    checkpointer.step(step, loss=loss)
