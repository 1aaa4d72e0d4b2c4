"""A small GPT learns Python, byte by byte, from the standard library of the Python that runs it.

About one million parameters, data parallel over every rank (gloo, CPU). Runs under `phalanx run
job.yaml`, and just as well under `torchrun --nproc-per-node=4 train.py`.
"""

from __future__ import annotations

import argparse
import math
import os
import sysconfig
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

import phalanx.train
from phalanx.train import Checkpointer

VOCABULARY = 256
SAY_EVERY = 10
TRAIN_BYTES = 2_000_000
HELD_OUT_BYTES = 65_536


class Block(nn.Module):
    """Attention, then a two-layer perceptron, both with a residual path."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        qkv = self.mix(self.norm_attention(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm_mlp(x))))


class GPT(nn.Module):
    """Bytes in, scores of the next byte out.

    What goes into the first block is a byte, the two bytes before it, and its place.
    """

    def __init__(self, length: int, width: int = 128, depth: int = 5, heads: int = 4) -> None:
        super().__init__()
        self.length = length
        self.bytes = nn.Embedding(VOCABULARY, width)
        self.before = nn.ModuleList(nn.Embedding(VOCABULARY, width) for _ in range(2))
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, VOCABULARY, bias=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                residual = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * depth) if residual else 0.02)

    def forward(self, x: Tensor) -> Tensor:
        tokens, x = x, self.bytes(x) + self.places.weight[: x.shape[1]]
        for back, table in enumerate(self.before, start=1):
            x = x + F.pad(table(tokens[:, :-back]), (0, 0, back, 0))
        for block in self.blocks:
            x = block(x)
        return self.scores(self.norm(x))


def read_corpus() -> tuple[Tensor, Tensor]:
    """Bytes to train on, and bytes of other files to judge by: the same on every rank."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"), key=lambda path: path.name)
    held_out = b"".join(path.read_bytes() for path in files[5::10])
    train = b"".join(path.read_bytes() for i, path in enumerate(files) if i % 10 != 5)
    return as_tensor(train[:TRAIN_BYTES]), as_tensor(held_out[:HELD_OUT_BYTES])


def as_tensor(text: bytes) -> Tensor:
    return torch.frombuffer(bytearray(text), dtype=torch.uint8)


def batch_at(step: int, text: Tensor, args: argparse.Namespace) -> tuple[Tensor, Tensor]:
    """This rank's share of the global batch of one step.

    The batch depends on the step's number and on nothing else, so a resumed run goes on with
    exactly the data that the lost one had not yet used.
    """
    draw = torch.Generator().manual_seed(args.seed * 1_000_003 + step)
    starts = torch.randint(len(text) - args.length - 1, (args.batch,), generator=draw)
    mine = starts[dist.get_rank() :: dist.get_world_size()]
    rows = torch.stack([text[s : s + args.length + 1] for s in mine.tolist()]).long()
    return rows[:, :-1], rows[:, 1:]


def learning_rate(step: int, args: argparse.Namespace) -> float:
    """Warm-up, then a cosine down to a twentieth."""
    if step < args.warm_up:
        return args.rate * (step + 1) / args.warm_up
    done = (step - args.warm_up) / max(1, args.steps - args.warm_up)
    return args.rate * (0.05 + 0.95 * (1 + math.cos(math.pi * min(1.0, done))) / 2)


def loss_of(scores: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(scores.reshape(-1, VOCABULARY), targets.reshape(-1))


@torch.no_grad()
def held_out_loss(model: GPT, text: Tensor) -> float:
    """Mean loss in nats per byte; every rank scores its share of the text."""
    rows = text[: (len(text) - 1) // model.length * model.length + 1].long()
    x, y = (part.view(-1, model.length) for part in (rows[:-1], rows[1:]))
    mine = slice(dist.get_rank(), None, dist.get_world_size())
    total = torch.zeros(2, dtype=torch.float64)
    for xs, ys in zip(x[mine].split(32), y[mine].split(32), strict=True):
        total += torch.tensor([loss_of(model(xs), ys).item() * ys.numel(), ys.numel()])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def unigram_entropy(text: Tensor) -> float:
    """Nats per byte of the best model that looks at no context: what chance alone gives."""
    share = torch.bincount(text.long(), minlength=VOCABULARY).double() / len(text)
    return -(share * share.clamp_min(1e-30).log()).sum().item()


@torch.no_grad()
def sample(model: GPT, prompt: str, count: int, seed: int) -> str:
    """The prompt, and what the model writes after it."""
    draw = torch.Generator().manual_seed(seed)
    text = list(prompt.encode())
    for _ in range(count):
        scores = model(torch.tensor([text[-model.length :]]))[0, -1] / 0.8
        text.append(int(torch.multinomial(scores.softmax(-1), 1, generator=draw)))
    return bytes(text).decode(errors="replace")


def settle(parallel: DistributedDataParallel, text: Tensor, args: argparse.Namespace) -> None:
    """One pass whose gradients are thrown away, so that a resumed run stays bit-equal.

    The first backward pass of DDP ends with new gradient buckets, and a ring of more than two
    ranks adds up in an order that follows the buckets. From here on every run, resumed or not,
    adds up in the same order.
    """
    x, y = batch_at(0, text, args)
    loss_of(parallel(x), y).backward()
    parallel.zero_grad()


def train(model: GPT, text: Tensor, args: argparse.Namespace) -> None:
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(
        model.parameters(), betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    checkpointer = Checkpointer({"model": model, "optimizer": optimizer})
    first = checkpointer.restore()
    settle(parallel, text, args)
    for step in range(first, args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args)
        x, y = batch_at(step, text, args)
        loss = loss_of(parallel(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        checkpointer.step(step, loss=loss.item())
        if dist.get_rank() == 0 and (step + 1) % SAY_EVERY == 0:
            print(f"step {step + 1} loss {loss.item()!r}", flush=True)


def report(model: GPT, text: Tensor, args: argparse.Namespace) -> None:
    """Rank 0 says how good the model is, shows what it writes and exports its weights."""
    loss, entropy = held_out_loss(model, text), unigram_entropy(text)
    if dist.get_rank() != 0:
        return
    print(f"held-out loss: {loss:.4f} nats per byte")
    print(f"unigram entropy: {entropy:.4f} nats per byte")
    print(f"below unigram entropy: {entropy - loss:.4f} nats per byte")
    print(f"sample:\n{sample(model, 'def read(', 320, args.seed)}")
    path = args.export or Path(os.environ.get("PHALANX_CHECKPOINT_DIR", ".")) / "gpt.safetensors"
    phalanx.train.export(model, path)
    print(f"weights: {path}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=8, help="sequences in a global batch")
    parser.add_argument("--length", type=int, default=64, help="bytes in a sequence")
    parser.add_argument("--rate", type=float, default=2e-3, help="highest learning rate")
    parser.add_argument("--warm-up", type=int, default=50, help="steps until the highest rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--export", type=Path, help="where the weights go, as SafeTensors")
    args = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(args.seed)
    train_text, held_out = read_corpus()
    model = GPT(args.length)
    started = time.perf_counter()
    train(model, train_text, args)
    if dist.get_rank() == 0:
        count = sum(weight.numel() for weight in model.parameters())
        print(f"parameters: {count:,}; training took {time.perf_counter() - started:.1f} s")
    report(model, held_out, args)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
