"""Ranks that join the process group only once the file `go` is there; then a few steps."""

import os
import time

import torch
import torch.distributed as dist

from phalanx.train import Checkpointer

rank, files = os.environ["RANK"], os.environ["PHALANX_CHECKPOINT_DIR"]
with open(f"{files}/pid.{rank}.tmp", "w") as pid_file:
    pid_file.write(str(os.getpid()))
os.replace(f"{files}/pid.{rank}.tmp", f"{files}/pid.{rank}")
while not os.path.exists(f"{files}/go"):
    time.sleep(0.02)
dist.init_process_group("gloo")
checkpointer = Checkpointer({"value": torch.zeros(1)})
for step in range(checkpointer.restore(), 5):
    dist.barrier()
    checkpointer.step(step)
checkpointer.finish()
