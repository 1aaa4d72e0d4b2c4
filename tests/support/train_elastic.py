"""Train a tiny network on this rank's share of a constant global batch; write every step down.

Two ranks take their time: what is tested then is how the job grows. A line holds attempt, step,
rank, world size, first sample, samples, loss over all ranks and the step resumed from.
"""

import os
import sys
import time

import torch
import torch.distributed as dist

from phalanx.train import Checkpointer, share

steps, step_s = int(sys.argv[1]), float(sys.argv[2])
rank = int(os.environ["RANK"])
files = os.environ["PHALANX_CHECKPOINT_DIR"]

torch.manual_seed(7)
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1).double())
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
mine = share(micro_batch=3)
checkpointer = Checkpointer({"model": model, "optimizer": optimizer})
first = checkpointer.restore()
log = os.open(f"{files}/steps.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
data = torch.randn(512, 16, generator=torch.Generator().manual_seed(1)).double()
for step in range(first, steps):
    began = time.monotonic()
    optimizer.zero_grad()
    samples, total = list(mine.samples(step)), torch.zeros(1).double()
    at = 0
    for size, weight in zip(mine.micro, mine.weights, strict=True):
        inputs = data[[n % 512 for n in samples[at : at + size]]]
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        (loss * weight).backward()
        total += loss.detach() * size / mine.global_batch
        at += size
    optimizer.step()
    dist.all_reduce(total)
    pause_s = 10 * step_s if mine.world_size == 2 else step_s
    time.sleep(max(0.0, pause_s - (time.monotonic() - began)))
    words = (os.environ["PHALANX_ATTEMPT"], step, rank, mine.world_size, samples[0], len(samples))
    os.write(log, f"{' '.join(map(str, words))} {total.item():.12f} {first} .\n".encode())
    checkpointer.step(step, loss=total)
