"""A Hugging Face Trainer job of 2 epochs that writes down which samples each step was made of."""

import os
import time
from types import SimpleNamespace
from typing import ClassVar

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

from phalanx.errors import InputError
from phalanx.frameworks.huggingface import demand_batch, resumable

SAMPLES, BATCH, STEP_S = 64, 2, 0.05
rank, files = os.environ["RANK"], os.environ["PHALANX_CHECKPOINT_DIR"]
with open(f"{files}/pid.{rank}.tmp", "w") as pid_file:
    pid_file.write(str(os.getpid()))
os.replace(f"{files}/pid.{rank}.tmp", f"{files}/pid.{rank}")


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        tokens = torch.randint(1, 32, (8,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": tokens, "labels": tokens, "ids": torch.tensor(index)}


class Noting(GPT2LMHeadModel):
    consumed: ClassVar[list[int]] = []
    last = 0.0

    def forward(self, input_ids=None, labels=None, ids=None, **more):
        found = super().forward(input_ids=input_ids, labels=labels)
        if self.training:
            self.consumed.extend(ids.tolist())
            Noting.last = found.loss.item()
        return {"loss": found.loss, "logits": found.logits}


class Note(TrainerCallback):
    def on_train_begin(self, args, state, control, **more):
        self.first = state.global_step

    def on_step_end(self, args, state, control, **more):
        time.sleep(STEP_S)
        ids = ",".join(map(str, Noting.consumed))
        Noting.consumed.clear()
        words = (os.environ["PHALANX_ATTEMPT"], state.global_step - 1, time.monotonic_ns())
        with open(f"{files}/steps.{rank}", "a") as log:
            print(*words, f"{Noting.last.hex()}/{ids}", self.first, ".", file=log)


config = GPT2Config(
    vocab_size=32, n_positions=8, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
)
torch.manual_seed(1)
args = TrainingArguments(
    output_dir=f"{files}/out",
    num_train_epochs=2,
    per_device_train_batch_size=BATCH,
    gradient_accumulation_steps=2,
    logging_steps=1,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
)
refused = []
try:
    resumable(SimpleNamespace(is_fsdp_enabled=True))
except InputError as error:
    refused.append(error.line())
trainer = resumable(
    Trainer(
        model=Noting(config),
        args=args,
        train_dataset=Data(),
        eval_dataset=Data(),
        callbacks=[Note()],
    )
)
trainer.train()
trainer.args.gradient_accumulation_steps = 3
for attempt in (trainer.train, lambda: demand_batch(8, trainer)):
    try:
        attempt()
    except InputError as error:
        refused.append(error.line())
with open(f"{files}/refused.{rank}", "w") as lines:
    lines.write("\n".join(refused))
total = sum(v.double().sum() for v in trainer.model.state_dict().values())
with open(f"{files}/weights.{rank}", "w") as end:
    logged = [entry["epoch"] for entry in trainer.state.log_history if "eval_loss" in entry]
    end.write(f"{total.item().hex()} {trainer.state.global_step} {logged}")
