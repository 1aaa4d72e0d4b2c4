"""Train like `train_steps.py`, with oddities: `odd_steps.py STEPS STEP_S WORD...`.

`hang`: attempt 0 ends in an endless loop of rank 1, attempt 1 in a collective that only rank 2
enters, attempt 2 with rank 0 stopped. `slow`: a slow first step, an evaluation on rank 0 while the
others wait, and a state that takes a while to save.
"""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist

from phalanx.train import Checkpointer

steps, step_s, words = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
rank, attempt = int(os.environ["RANK"]), int(os.environ["PHALANX_ATTEMPT"])
files = os.environ["PHALANX_CHECKPOINT_DIR"]


def spin() -> None:
    while True:
        pass


def hang(step: int) -> None:
    if step != 6 * (attempt + 1):
        return
    if (attempt, rank) == (0, 1):
        spin()
    if (attempt, rank) == (1, 2):
        dist.barrier()
    if (attempt, rank) == (2, 0):
        os.kill(os.getpid(), signal.SIGSTOP)


torch.manual_seed(7)
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
ballast = torch.ones((64 if "slow" in words else 1) << 18)
checkpointer = Checkpointer({"model": model, "optimizer": optimizer, "ballast": ballast})
first = checkpointer.restore()
log = os.open(f"{files}/steps.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for step in range(first, steps):
    if "slow" in words and step == 0:
        time.sleep(3)
    if "hang" in words:
        hang(step)
    time.sleep(step_s)
    loss = model(torch.ones(2, 16)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    line = f"{attempt} {step} {time.monotonic_ns()} {loss.item().hex()} {first} .\n"
    os.write(log, line.encode())
    checkpointer.step(step, loss=loss)
    if "slow" in words and step == 6 and rank == 0:
        with checkpointer.phase("eval"):
            time.sleep(4)
