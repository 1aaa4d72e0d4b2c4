"""Accelerate: everything that `prepare` returned is saved and resumed, with the place in the data.

run = resumable(accelerator, loader)       # after accelerator.prepare(...)
for epoch in run.epochs(3):
    for batch in run.batches():
        with accelerator.accumulate(model):
            ...
        run.step(loss=loss)
run.finish()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accelerate import skip_first_batches
from accelerate.data_loader import DataLoaderShard, SeedableRandomSampler
from accelerate.utils import DistributedType
from torch.utils.data import RandomSampler

from phalanx.errors import InputError
from phalanx.train import Checkpointer, randomness
from phalanx.train.checkpointer import Phase

_WHOLE = frozenset({DistributedType.NO, DistributedType.MULTI_CPU, DistributedType.MULTI_GPU})
"""Ways to train that keep the whole model on every rank."""


def resumable(accelerator: Any, loader: Any, **state: Any) -> Run:
    """A training run over a prepared loader that goes on from the job's checkpoint.

    Kept are all models, optimizers, schedulers, the gradient scaler and the objects registered for
    checkpointing, the random numbers, the position in the data, and `state` as a `Checkpointer`
    takes it. Raises `InputError` for a model split over the ranks and for a loader whose order
    cannot be found again.
    """
    if accelerator.distributed_type not in _WHOLE:
        raise InputError(
            f"{accelerator.distributed_type.value} splits the model over the ranks",
            hint="call accelerator.save_state and write checkpoint: {mode: watch} in the job file",
        )
    return Run(accelerator, loader, state)


class Run:
    """What `resumable` gives: the loop's epochs, batches and steps."""

    def __init__(self, accelerator: Any, loader: Any, state: dict[str, Any]) -> None:
        self._accelerator = accelerator
        self._loader = loader
        self._sampler = _sampler(loader)
        self._at = {"epoch": 0, "consumed": 0, "seed": getattr(self._sampler, "initial_seed", 0)}
        found = {**_prepared(accelerator), "position": self._at, **state}
        replicated = [name for name in found if name.startswith("scheduler")]
        self._checkpointer = Checkpointer(found, replicated=[*replicated, "position"])
        self.steps = self._checkpointer.restore()
        """Optimizer steps done."""
        self._random = randomness.capture() if self.steps else None
        if isinstance(self._sampler, SeedableRandomSampler):
            self._sampler.initial_seed = self._at["seed"]

    def epochs(self, count: int) -> Iterator[int]:
        """Numbers of the epochs from the present one on, `count` in all with those before."""
        for epoch in range(self._at["epoch"], count):
            if epoch != self._at["epoch"]:
                self._at.update(epoch=epoch, consumed=0)
            yield epoch

    def batches(self) -> Iterator[Any]:
        """The rest of the present epoch; a batch counts as consumed when it is handed over.

        Raises `InputError` when the batches no longer fit the position.
        """
        size = self._loader.total_batch_size
        done, rest = divmod(self._at["consumed"], size)
        if rest:
            raise InputError(
                f"{self._at['consumed']} samples of the epoch are consumed, which is no multiple "
                f"of {size}, the batch over all ranks",
                hint="keep batch size x ranks equal, or make it a divisor of what it was",
            )
        self._loader.set_epoch(self._at["epoch"])
        if done < len(self._loader):
            yield from self._counted(done, size)
        self._at.update(epoch=self._at["epoch"] + 1, consumed=0)

    def _counted(self, done: int, size: int) -> Iterator[Any]:
        source = skip_first_batches(self._loader, done) if done else self._loader
        for batch in source:
            if done and self._random is not None:
                randomness.restore(self._random)  # the loader drew some when it began
            self._random = None
            done += 1
            self._at["consumed"] = done * size
            yield batch

    def step(self, **metrics: Any) -> None:
        """A batch is done: report, and save when due, if the optimizer made its step with it."""
        if self._accelerator.sync_gradients:
            self.steps += 1
            self._checkpointer.step(self.steps - 1, **metrics)

    def phase(self, name: str) -> Phase:
        """Announce that something other than training goes on, as `Checkpointer.phase`."""
        return self._checkpointer.phase(name)

    def finish(self) -> None:
        """Training ends here: save the last step and wait for its commit."""
        self._checkpointer.finish()


def _prepared(accelerator: Any) -> dict[str, Any]:
    """What the accelerator holds, by name."""
    kinds = {
        "model": accelerator._models,
        "optimizer": accelerator._optimizers,
        "scheduler": accelerator._schedulers,
        "registered": accelerator._custom_objects,
        "scaler": [] if accelerator.scaler is None else [accelerator.scaler],
    }
    return {f"{kind}{n}": each for kind, all_ in kinds.items() for n, each in enumerate(all_)}


def _sampler(loader: Any) -> Any:
    """The sampler below a prepared loader. Raises `InputError` when its order is lost."""
    if not isinstance(loader, DataLoaderShard) or not hasattr(loader, "__len__"):
        raise InputError(
            f"the position of a {type(loader).__name__} is not known to Accelerate",
            hint="prepare a DataLoader over a map-style dataset, or use Checkpointer with a "
            "loader that has state_dict",
        )
    sampler = loader.batch_sampler
    while hasattr(sampler, "batch_sampler"):  # the shard of each rank wraps the user's own
        sampler = sampler.batch_sampler
    sampler = getattr(sampler, "sampler", sampler)
    if isinstance(sampler, RandomSampler) and not isinstance(sampler, SeedableRandomSampler):
        raise InputError(
            "the loader's order comes from random numbers that nobody can draw again",
            hint="Accelerator(dataloader_config=DataLoaderConfiguration("
            "use_seedable_sampler=True, data_seed=1))",
        )
    return sampler
