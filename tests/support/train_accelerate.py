"""An Accelerate job of 2 epochs that writes down which samples each step was made of."""

import os
import time

import torch
from accelerate import Accelerator
from accelerate.data_loader import prepare_data_loader
from accelerate.utils import DataLoaderConfiguration

from phalanx.errors import InputError
from phalanx.frameworks.accelerate import resumable

SAMPLES, BATCH, STEP_S = 64, 2, 0.05
rank, files = os.environ["RANK"], os.environ["PHALANX_CHECKPOINT_DIR"]
with open(f"{files}/pid.{rank}.tmp", "w") as pid_file:
    pid_file.write(str(os.getpid()))
os.replace(f"{files}/pid.{rank}.tmp", f"{files}/pid.{rank}")

torch.manual_seed(1)
inputs = torch.randn(SAMPLES, 4)
data = torch.utils.data.TensorDataset(torch.arange(SAMPLES), inputs, inputs.sum(1))
model = torch.nn.Sequential(
    torch.nn.Linear(4, 16), torch.nn.Dropout(0.3), torch.nn.ReLU(), torch.nn.Linear(16, 1)
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=16)
loader = torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True)
accelerator = Accelerator(
    cpu=True,
    gradient_accumulation_steps=2,
    dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=1),
)
model, optimizer, scheduler, loader = accelerator.prepare(model, optimizer, scheduler, loader)
refused = []
for wrong in (
    [1, 2],
    prepare_data_loader(torch.utils.data.DataLoader(data, shuffle=True)),
):
    try:
        resumable(accelerator, wrong)
    except InputError as error:
        refused.append(error.line())
run = resumable(accelerator, loader)
first, consumed = run.steps, []
if not first:
    torch.manual_seed(int(rank))  # each rank has random numbers of its own
for _epoch in run.epochs(2):
    for ids, x, y in run.batches():
        consumed += ids.tolist()
        with accelerator.accumulate(model):
            loss = ((model(x)[:, 0] - y) ** 2).mean()
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            time.sleep(STEP_S)
            words = (os.environ["PHALANX_ATTEMPT"], run.steps, time.monotonic_ns())
            with open(f"{files}/steps.{rank}", "a") as log:
                what = f"{loss.item().hex()}/{','.join(map(str, consumed))}"
                print(*words, what, first, ".", file=log)
            consumed.clear()
        run.step(loss=loss)
run.finish()
with open(f"{files}/refused.{rank}", "w") as lines:
    lines.write("\n".join(refused))
total = sum(v.double().sum() for v in model.state_dict().values())
with open(f"{files}/weights.{rank}", "w") as end:
    end.write(f"{total.item().hex()} {run.steps} {optimizer.param_groups[0]['lr']}")
