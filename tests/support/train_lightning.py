"""A Lightning job of 2 epochs that writes down which samples each step was made of."""

import os
import time
from types import SimpleNamespace

import lightning.pytorch as lightning
import torch

from phalanx.errors import InputError
from phalanx.frameworks.lightning import PhalanxCallback
from phalanx.frameworks.loader import PositionedLoader

SAMPLES, BATCH, STEP_S = 64, 2, 0.05
rank, files = os.environ["RANK"], os.environ["PHALANX_CHECKPOINT_DIR"]
with open(f"{files}/pid.{rank}.tmp", "w") as pid_file:
    pid_file.write(str(os.getpid()))
os.replace(f"{files}/pid.{rank}.tmp", f"{files}/pid.{rank}")


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(4, 16), torch.nn.Dropout(0.3), torch.nn.ReLU(), torch.nn.Linear(16, 1)
        )
        self.consumed = []

    def training_step(self, batch, index):
        ids, x, y = batch
        self.consumed += ids.tolist()
        loss = ((self.net(x)[:, 0] - y) ** 2).mean()
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        _, x, y = batch
        self.log("val_loss", ((self.net(x)[:, 0] - y) ** 2).mean(), sync_dist=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


class Note(lightning.Callback):
    validated = 0

    def on_train_start(self, trainer, module):
        self.first = trainer.global_step

    def state_dict(self):
        return {"validated": self.validated}

    def load_state_dict(self, state):
        self.validated = state["validated"]

    def on_validation_end(self, trainer, module):
        self.validated += not trainer.sanity_checking

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if (index + 1) % trainer.accumulate_grad_batches:
            return
        time.sleep(STEP_S)
        ids = ",".join(map(str, module.consumed))
        module.consumed.clear()
        words = (os.environ["PHALANX_ATTEMPT"], trainer.global_step - 1, time.monotonic_ns())
        with open(f"{files}/steps.{rank}", "a") as log:
            print(*words, f"{outputs['loss'].item().hex()}/{ids}", self.first, ".", file=log)


torch.manual_seed(1)
inputs = torch.randn(SAMPLES, 4)
data = torch.utils.data.TensorDataset(torch.arange(SAMPLES), inputs, inputs.sum(1))
checks = torch.utils.data.DataLoader(data, batch_size=8)
note = Note()
trainer = lightning.Trainer(
    max_epochs=2,
    accelerator="cpu",
    devices=int(os.environ["LOCAL_WORLD_SIZE"]),
    num_nodes=int(os.environ["GROUP_WORLD_SIZE"]),
    accumulate_grad_batches=2,
    callbacks=[PhalanxCallback(), note],
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
module = Model()
trainer.fit(module, PositionedLoader(data, BATCH, num_workers=1), checks)
total = sum(v.double().sum() for v in module.state_dict().values())
refused = ""
try:
    wrong = SimpleNamespace(strategy=lightning.strategies.FSDPStrategy())
    PhalanxCallback().setup(wrong, module, "fit")
except InputError as error:
    refused = error.line()
with open(f"{files}/refused.{rank}", "w") as lines:
    lines.write(refused)
with open(f"{files}/weights.{rank}", "w") as end:
    lr = trainer.optimizers[0].param_groups[0]["lr"]
    end.write(f"{total.item().hex()} {trainer.global_step} {lr} {note.validated}")
