"""Train a tiny network with DDP; the last rank needs longer for its forward pass."""

import sys
import time

import torch
import torch.distributed as dist

from phalanx.train import Checkpointer

steps, fast_s = int(sys.argv[1]), float(sys.argv[2])
torch.manual_seed(7)
torch.set_num_threads(1)
dist.init_process_group("gloo")
is_slow = dist.get_rank() == dist.get_world_size() - 1
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
checkpointer = Checkpointer({"model": model, "optimizer": optimizer})
for step in range(checkpointer.restore(), steps):
    time.sleep(fast_s * (3 if is_slow else 1))
    loss = model(torch.ones(4, 16)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    checkpointer.step(step, loss=loss)
dist.destroy_process_group()
