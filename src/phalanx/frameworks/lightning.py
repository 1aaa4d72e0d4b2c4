"""PyTorch Lightning: one callback reports, saves in phalanx's checkpoints and resumes.

trainer = Trainer(callbacks=[PhalanxCallback()])
trainer.fit(model, loader)
"""

from __future__ import annotations

import functools
from typing import Any

from lightning.pytorch.callbacks import Checkpoint
from lightning.pytorch.strategies import DDPStrategy, SingleDeviceStrategy

from phalanx.errors import InputError
from phalanx.frameworks.late import Late, once
from phalanx.train import Checkpointer, randomness
from phalanx.train.telling import say
from phalanx.train.values import with_tied

_EQUAL = ("optimizer_states", "lr_schedulers")
"""What Lightning saves beside the model that is equal on all ranks; the rest is each rank's own."""
_LEFT_OUT = ("hyper_parameters", "datamodule_hyper_parameters")
"""What is not needed to go on, and may hold anything."""


class PhalanxCallback(Checkpoint):
    """Makes `fit` go on from the checkpoint that the job resumes from.

    Kept is what Lightning's own checkpoint holds (model, optimizers, schedulers, loops, callbacks,
    precision, and the states of loaders that have one) and the random numbers. It takes the place
    of the ModelCheckpoint that a Trainer adds by itself.
    """

    def __init__(self) -> None:
        self._checkpointer: Checkpointer | None = None
        self._trainer: Any = None
        self._content: dict[str, Any] = {}
        self._random: dict[str, Any] | None = None
        self._has_resumed = False
        self._reported = 0

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Read the checkpoint before Lightning puts anything back.

        Raises `InputError` for a strategy that splits the model over the ranks.
        """
        if stage != "fit":
            return
        if not isinstance(trainer.strategy, (DDPStrategy, SingleDeviceStrategy)):
            raise InputError(
                f"{type(trainer.strategy).__name__} may split the model over the ranks",
                hint="use ModelCheckpoint and write checkpoint: {mode: watch} in the job file",
            )
        once(self._checkpointer, "fit() with this callback")
        model = Late(lambda: self._dump().get("state_dict", {}), weights=True)
        equal = Late(functools.partial(self._read, True))
        own = Late(functools.partial(self._read, False))
        state = {"model": model, "lightning.equal": equal, "lightning.own": own}
        self._checkpointer = Checkpointer(state, replicated=["model", "lightning.equal"])
        self._reported = self._checkpointer.restore()
        if self._reported:
            self._random = randomness.capture()
            # What `fit(ckpt_path=...)` reads from a file is found here instead.
            found = {"state_dict": model.take(), **equal.take(), **own.take()}
            trainer._checkpoint_connector._loaded_checkpoint = found
            # With max_steps Lightning takes an epoch that was finished for one to be repeated.
            trainer.fit_loop._iteration_based_training = lambda: False
        elif model.saved:  # the job begins with the weights of another
            pl_module.load_state_dict(with_tied(pl_module, model.take()))
        self._trainer = trainer

    def _dump(self) -> dict[str, Any]:
        """Lightning's checkpoint of the present step; empty before training begins."""
        if self._trainer is not None and not self._content:
            self._content = self._trainer._checkpoint_connector.dump_checkpoint(False)
        return self._content

    def _read(self, equal: bool) -> dict[str, Any]:
        """What is equal on all ranks, or this rank's own, without the model."""
        left_out = ("state_dict", *_LEFT_OUT)
        return {
            name: value
            for name, value in self._dump().items()
            if (name in _EQUAL) == equal and name not in left_out
        }

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The loader has begun: random numbers go on where they were."""
        loaders = trainer.fit_loop._combined_loader.flattened
        if trainer.is_global_zero and not all(hasattr(each, "state_dict") for each in loaders):
            say(
                "the train loader has no state: after a restart within an epoch it begins the "
                "epoch anew, so samples come twice (use PositionedLoader or StatefulDataLoader)"
            )
        if self._random is not None:
            vars(trainer.fit_loop).pop("_iteration_based_training")
            randomness.restore(self._random)
            self._random = None
            self._has_resumed = True
        if self._checkpointer is not None:
            self._checkpointer.watch({"model": pl_module, **_numbered(trainer.optimizers)})

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """An epoch that begins after a resume: its loader began before it was told the epoch."""
        if self._has_resumed:
            iter(trainer.fit_loop._data_fetcher)
            self._has_resumed = False

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The last batch of an epoch is reported at the epoch's end, after its validation."""
        self._has_resumed = False
        if not trainer.is_last_batch:
            self._report(trainer)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """The epoch's last step is done with all that belongs to it."""
        loop = trainer.fit_loop
        if loop.epoch_loop._num_ready_batches_reached():
            # Lightning does this right after the hook, so that it would be missing from what is
            # saved here, and not at all in an epoch that was resumed.
            loop.epoch_loop.update_lr_schedulers("epoch", update_plateau_schedulers=True)
            loop._restarting = True  # then it is not done twice; ends with the epoch
        self._report(trainer)

    def _report(self, trainer: Any) -> None:
        done = trainer.global_step
        if self._checkpointer is None or done <= self._reported:
            return
        self._reported = done
        metrics = {k: v for k, v in trainer.callback_metrics.items() if k not in ("self", "step")}
        self._checkpointer.step(done - 1, **metrics)
        self._content = {}

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """A validation is under way."""
        self._phase(trainer, "eval")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """A validation is over."""
        self._phase(trainer, "train")

    def _phase(self, trainer: Any, name: str) -> None:
        if self._checkpointer is not None and trainer.state.fn == "fit":
            self._checkpointer.phase(name)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Training ends: the last step is saved and committed before `fit` returns."""
        if self._checkpointer is not None:
            self._checkpointer.finish()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Also where nothing was left to train."""
        if self._checkpointer is not None:
            self._checkpointer.finish()


def _numbered(optimizers: list[Any]) -> dict[str, Any]:
    return {f"optimizer{n}": each for n, each in enumerate(optimizers)}
