"""Six small real models, and the bytes that torch counts for them under DDP and FSDP.

`python -m tests.support.model_memory` prints them beside the estimates, activations included.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

MODELS = ("mlp", "cnn", "transformer", "lstm", "tied", "mixed")
OPTIMIZERS = {
    "mlp": "adamw",
    "cnn": "momentum",
    "transformer": "adamw",
    "lstm": "adam",
    "tied": "rmsprop",
    "mixed": "adamw",
}
FORMS = ("ddp", "fsdp")
RANKS = 2
TOKENS, BATCH = 32, 4


def _mlp() -> tuple[Any, Callable[[], Any]]:
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.Linear(512, 10))
    return net, lambda: torch.randn(BATCH, 256)


def _cnn() -> tuple[Any, Callable[[], Any]]:
    import torch
    from torch import nn

    net = nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 100),
    )  # fmt: skip
    return net, lambda: torch.randn(BATCH, 3, 16, 16)


def _transformer() -> tuple[Any, Callable[[], Any]]:
    return _language_model(tied=False)


def _tied() -> tuple[Any, Callable[[], Any]]:
    return _language_model(tied=True)


def _language_model(*, tied: bool) -> tuple[Any, Callable[[], Any]]:
    import torch
    from torch import nn

    class Language(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(1000, 64)
            layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
            self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(64, 1000, bias=False)
            if tied:
                self.head.weight = self.embed.weight

        def forward(self, tokens: Any) -> Any:
            return self.head(self.body(self.embed(tokens)))

    return Language(), lambda: torch.randint(0, 1000, (BATCH, TOKENS))


def _lstm() -> tuple[Any, Callable[[], Any]]:
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.LSTM(64, 128, num_layers=2, batch_first=True)
            self.head = nn.Linear(128, 20)

        def forward(self, series: Any) -> Any:
            return self.head(self.cells(series)[0])

    return Recurrent(), lambda: torch.randn(BATCH, TOKENS, 64)


def _mixed() -> tuple[Any, Callable[[], Any]]:
    import torch
    from torch import nn

    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))
            self.body.to(torch.bfloat16)
            self.head = nn.Linear(256, 50)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x.bfloat16()).float())

    return Mixed(), lambda: torch.randn(BATCH, 256)


_BUILD = {
    "mlp": _mlp, "cnn": _cnn, "transformer": _transformer, "lstm": _lstm, "tied": _tied,
    "mixed": _mixed,
}  # fmt: skip


def groups(name: str) -> dict[str, int]:
    """Parameters by bytes of one (as text), each shared tensor once."""
    found: dict[str, int] = {}
    for tensor in _BUILD[name]()[0].parameters():
        size = str(tensor.element_size())
        found[size] = found.get(size, 0) + tensor.numel()
    return found


def _optimizer(kind: str, parameters: Iterable[Any]) -> Any:
    from torch import optim

    made = {
        "adamw": lambda: optim.AdamW(parameters, lr=1e-3),
        "adam": lambda: optim.Adam(parameters, lr=1e-3),
        "rmsprop": lambda: optim.RMSprop(parameters, lr=1e-3),
        "momentum": lambda: optim.SGD(parameters, lr=1e-3, momentum=0.9),
    }
    return made[kind]()


def _local(tensor: Any) -> Any:
    from torch.distributed.tensor import DTensor

    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _bytes(tensors: Iterable[Any]) -> int:
    """Bytes of the storage that this rank holds, each storage once."""
    seen: dict[int, int] = {}
    for tensor in tensors:
        storage = _local(tensor).untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
    return sum(seen.values())


def _wrapped(name: str, form: str) -> tuple[Any, Callable[[], Any]]:
    net, sample = _BUILD[name]()
    if form == "ddp":
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(net, gradient_as_bucket_view=False), sample
    from torch.distributed.fsdp import fully_shard

    if name == "mixed":
        # A group of fully_shard holds one precision.
        fully_shard(net.body)
    fully_shard(net)
    return net, sample


def _kept(optimizer: Any) -> Iterator[Any]:
    import torch

    for values in optimizer.state.values():
        yield from (value for value in values.values() if isinstance(value, torch.Tensor))


def measure(name: str, form: str) -> dict[str, int]:
    """Bytes after one real step on this rank; torch.distributed is up already."""
    import torch

    torch.manual_seed(0)
    net, sample = _wrapped(name, form)
    optimizer = _optimizer(OPTIMIZERS[name], net.parameters())
    own = {_local(p).untyped_storage().data_ptr() for p in net.parameters()}
    saved: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = _local(tensor).untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = net(sample()).float().square().mean()
    loss.backward()
    optimizer.step()
    return {
        "parameters": _bytes(net.parameters()),
        "gradients": _bytes(p.grad for p in net.parameters() if p.grad is not None),
        "optimizer": _bytes(_kept(optimizer)),
        "activations": sum(saved.values()),
    }


def rank_main(rank: int, folder: str, out: str) -> None:
    """One rank of the group: every model in every form; rank 0's counts go to `out`."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)
    store = distributed.FileStore(f"{folder}/store", RANKS)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)
    counts = {f"{n}/{form}": measure(n, form) for n in MODELS for form in FORMS}
    everyone: list[Any] = [None] * RANKS
    distributed.all_gather_object(everyone, counts)
    if rank == 0:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(everyone, file)
    distributed.destroy_process_group()


def main() -> None:
    """Print measured and estimated bytes side by side."""
    import tempfile

    from tests.unit.plan.test_memory import estimated, measured_in

    with tempfile.TemporaryDirectory() as folder:
        for place, counts in measured_in(folder).items():
            name, form = place.split("/")
            guess = estimated(name, form)
            print(f"{place:18}", {k: (counts[k], round(guess.get(k, -1))) for k in counts})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        rank_main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
    else:
        main()
