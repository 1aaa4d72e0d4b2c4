"""Real saves of the Hugging Face Trainer and of Lightning: `real_writers.py FOLDER`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import torch

warnings.simplefilter("ignore")
out = Path(sys.argv[1])


def trainer() -> None:
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    config = BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
    )
    rows = [{"input_ids": torch.tensor([1, 2, 3]), "labels": torch.tensor(i % 2)} for i in range(8)]
    args = TrainingArguments(
        output_dir=str(out / "trainer"), max_steps=4, save_steps=2, report_to=[], use_cpu=True,
        per_device_train_batch_size=2, disable_tqdm=True, logging_strategy="no",
    )  # fmt: skip
    Trainer(BertForSequenceClassification(config), args, train_dataset=rows).train()


def lightning() -> None:
    import lightning as L
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Line(L.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
            return self.layer(batch[0]).sum()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(8, 2)), 2)
    saves = ModelCheckpoint(every_n_train_steps=2, save_top_k=-1, save_last="link")
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    L.Trainer(
        default_root_dir=out / "lightning", max_steps=4, callbacks=[saves], logger=False, **quiet
    ).fit(Line(), data)


trainer()
lightning()
