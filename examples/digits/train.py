"""Handwritten digits with DistributedDataParallel: an ordinary script for `torchrun`.

It saves a checkpoint after every epoch and goes on from it when there is one, as scripts do.
"""

import argparse
from pathlib import Path

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def datasets() -> tuple[TensorDataset, TensorDataset]:
    """1,797 images of 8 x 8 pixels, which scikit-learn carries: every fifth is for testing."""
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    labels = torch.tensor(digits.target)
    is_test = torch.arange(len(labels)) % 5 == 0
    train = TensorDataset(images[~is_test], labels[~is_test])
    return train, TensorDataset(images[is_test], labels[is_test])


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(32 * 4 * 4, 10),
    )


def accuracy(model: nn.Module, data: TensorDataset) -> float:
    images, labels = data.tensors
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).float().mean().item()
    model.train()
    return right


def newest(folder: Path) -> Path | None:
    """The checkpoint of the latest epoch: `epoch-7.pt` after seven of them."""
    return max(folder.glob("epoch-*.pt"), key=lambda path: int(path.stem[6:]), default=None)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("out"))
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    train, test = datasets()
    sampler = DistributedSampler(train, seed=0)
    loader = DataLoader(train, batch_size=32, sampler=sampler)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

    first, path = 0, newest(args.out)
    if path is not None:
        checkpoint = torch.load(path, weights_only=True)
        model.module.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        first = checkpoint["epochs"]
        print(f"rank {rank} goes on after epoch {first}")

    for epoch in range(first, args.epochs):
        torch.manual_seed(1000 * epoch + rank)  # dropout: the same after a restart
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        if rank == 0:
            args.out.mkdir(exist_ok=True)
            state = {
                "model": model.module.state_dict(),
                "optimizer": optimizer.state_dict(),
                "epochs": epoch + 1,
            }
            torch.save(state, args.out / f"epoch-{epoch + 1}.pt")
            right = accuracy(model.module, test)
            print(f"epoch {epoch + 1} loss {loss.item():.4f} accuracy {right:.4f}")

    if rank == 0:
        print(f"final accuracy {accuracy(model.module, test):.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
