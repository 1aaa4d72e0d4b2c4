"""One fit that saves every step, then a fit from each of those steps: the same to the last bit?

Prints a JSON object: for each step whether samples, losses, weights, validations and epochs agree.
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import lightning.pytorch as lightning  # noqa: E402
import torch  # noqa: E402

from phalanx.frameworks.lightning import PhalanxCallback  # noqa: E402
from phalanx.frameworks.loader import PositionedLoader  # noqa: E402
from tests.support.saves import AgentDouble, Saves, environment  # noqa: E402

torch.manual_seed(1)
INPUTS = torch.randn(24, 4)
DATA = torch.utils.data.TensorDataset(torch.arange(24), INPUTS)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1)
        )
        self.seen = []

    def training_step(self, batch, index):
        ids, x = batch
        loss = (self.net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        self.seen.append((self.trainer.global_step, ids.tolist(), loss.item().hex()))
        return loss

    def validation_step(self, batch, index):
        self.log("loss", (self.net(batch[1]) - batch[1].sum(1, keepdim=True)).pow(2).mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=9)
        return [optimizer], [{"scheduler": plateau, "monitor": "loss"}]


class Note(lightning.Callback):
    def __init__(self):
        self.noted = []

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            self.noted.append(["validated", trainer.global_step])

    def on_train_epoch_end(self, trainer, module):
        self.noted.append([trainer.current_epoch, trainer.global_step])

    def state_dict(self):
        return {"noted": list(self.noted)}

    def load_state_dict(self, state):
        self.noted = list(state["noted"])


def fit(saves, attempt, resume, limits):
    saves.seal(attempt)
    words = environment(saves, attempt, PHALANX_RESUME=resume, PHALANX_SAVE_EVERY="1steps")
    del words["RANK"], words["WORLD_SIZE"]
    os.environ.update(words)
    torch.manual_seed(1)
    model, note = Model(), Note()
    with AgentDouble(saves, attempt):
        trainer = lightning.Trainer(
            accelerator="cpu",
            devices=1,
            accumulate_grad_batches=2,
            callbacks=[PhalanxCallback(), note],
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            **limits,
        )
        loader = PositionedLoader(DATA, 3, num_workers=limits["max_epochs"] == 3)
        trainer.fit(model, loader, torch.utils.data.DataLoader(DATA, batch_size=8))
    weights = [value.flatten().tolist() for value in model.state_dict().values()]
    return model.seen, weights, note.noted, trainer.optimizers[0].param_groups[0]["lr"]


def main():
    answer = {}
    for name, limits in {
        "epochs": {"max_epochs": 3},
        "steps": {"max_epochs": -1, "max_steps": 12},
    }.items():
        saves = Saves(Path(tempfile.mkdtemp(dir=sys.argv[1])))
        seen, *calm = fit(saves, 0, "", limits)
        for step in (1, 3, 4, 8, 12):
            again, *end = fit(saves, step, f"{step:010d}-0", limits)
            alike = [again == [each for each in seen if each[0] >= step]]
            answer[f"{name} {step}"] = alike + [a == b for a, b in zip(end, calm, strict=True)]
    print(json.dumps(answer))


main()
