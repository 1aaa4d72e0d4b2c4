"""A small GPT-2 is tuned on a text with the Hugging Face Trainer; nothing is downloaded.

Runs alike as `python train.py [FILE]`, under torchrun and under phalanx. Without a file the text
is the help pages that every Python carries.
"""

from __future__ import annotations

import os
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from phalanx.frameworks.huggingface import resumable

LENGTH = 64
STEPS = 200


class Pieces(torch.utils.data.Dataset):
    """A text as bytes, cut into pieces of equal length."""

    def __init__(self, text: bytes) -> None:
        count = len(text) // LENGTH
        tokens = torch.tensor(list(text[: count * LENGTH]))
        self.pieces = tokens.view(count, LENGTH)

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.pieces[index], "labels": self.pieces[index]}


def read_text() -> bytes:
    if len(sys.argv) > 1:
        with open(sys.argv[1], "rb") as file:
            return file.read()
    from pydoc_data.topics import topics

    return "\n".join(topics.values()).encode()[:100_000]


def main() -> None:
    torch.manual_seed(1)
    text = read_text()
    edge = len(text) * 9 // 10
    config = GPT2Config(
        vocab_size=256, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    args = TrainingArguments(
        output_dir=os.environ.get("PHALANX_CHECKPOINT_DIR", "out"),
        max_steps=STEPS,
        per_device_train_batch_size=8,
        learning_rate=3e-3,
        logging_steps=10,
        eval_strategy="steps",
        eval_steps=100,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=not torch.cuda.is_available(),
        dataloader_drop_last=True,
        ddp_find_unused_parameters=False,
    )
    trainer = resumable(
        Trainer(
            model=GPT2LMHeadModel(config),
            args=args,
            train_dataset=Pieces(text[:edge]),
            eval_dataset=Pieces(text[edge:]),
        )
    )
    trainer.train()
    print(f"held-out loss {trainer.evaluate()['eval_loss']:.3f} nats per byte")
    trainer.save_model()


if __name__ == "__main__":
    main()
