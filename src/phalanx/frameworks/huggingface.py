"""Hugging Face Trainer: one line makes it report, save in phalanx's checkpoints and resume.

trainer = resumable(Trainer(model=model, args=args, train_dataset=data))
trainer.train()
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import tempfile
from typing import Any

from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from phalanx.errors import InputError
from phalanx.frameworks.late import Late, once
from phalanx.train import Checkpointer, randomness
from phalanx.train.values import unwrapped, with_tied

_OTHER = ("_runtime", "_per_second", "total_flos", "step", "self")
"""Endings of what the Trainer logs about its own speed: no metrics of the model."""
_PARTS = ("model", "optimizer", "scheduler", "scaler", "trainer")


def resumable(trainer: Any) -> Any:
    """The same Trainer, whose `train()` goes on from the checkpoint that the job resumes from.

    Kept are the model, optimizer, scheduler, gradient scaler, the Trainer's own state, the states
    of its callbacks and the random numbers; the position in the data is the number of optimizer
    steps. Raises `InputError` for a Trainer whose model is split over the ranks.
    """
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        raise InputError(
            "a model that FSDP or DeepSpeed splits over the ranks is saved by the Trainer alone",
            hint="leave resumable out and write checkpoint: {mode: watch} in the job file",
        )
    callback = PhalanxCallback(trainer)
    trainer.add_callback(callback)
    trainer._inner_training_loop = callback.around(trainer._inner_training_loop)
    return trainer


class PhalanxCallback(TrainerCallback):
    """Reports and saves step n when step n + 1 begins: then its log, evaluation and save are done.

    `resumable` installs it.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._state = {
            name: Late(functools.partial(_read, self, name), weights=name == "model")
            for name in _PARTS
        }
        self._checkpointer: Checkpointer | None = None
        self._is_training = False
        self._reported = 0
        self._random: dict[str, Any] | None = None
        self._metrics: dict[str, float] = {}

    def around(self, loop: Any) -> Any:
        """The Trainer's loop, begun where the checkpoint ends."""

        @functools.wraps(loop)
        def resumed(*args: Any, **options: Any) -> Any:
            once(self._checkpointer, "train() of this Trainer")
            self._checkpointer = Checkpointer(dict(self._state), replicated=_PARTS)
            self._reported = self._checkpointer.restore()
            if not self._reported:
                return loop(*args, **options)
            self._random = randomness.capture()
            words = self._state["trainer"].take()
            demand_batch(words["global_batch"], self._trainer)
            with tempfile.TemporaryDirectory(prefix="phalanx-") as folder:
                with open(os.path.join(folder, "trainer_state.json"), "w") as file:
                    file.write(words["state"])
                return loop(*args, **{**options, "resume_from_checkpoint": folder})

        return resumed

    def part(self, name: str) -> Any:
        """The live object of one part, None when the Trainer has none."""
        found = {
            "model": unwrapped(self._trainer.model),
            "optimizer": self._trainer.optimizer,
            "scheduler": self._trainer.lr_scheduler,
            "scaler": getattr(self._trainer.accelerator, "scaler", None),
        }
        return found[name]

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Everything exists now: put it back."""
        self._is_training = True
        for name in _PARTS[:-1]:
            saved = self._state[name].take()
            if saved:
                part = self.part(name)
                part.load_state_dict(with_tied(part, saved))
        if self._checkpointer is not None:
            self._checkpointer.watch({name: self.part(name) for name in ("model", "optimizer")})

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Random numbers go on where they were, whatever drew some since."""
        if self._random is not None:
            randomness.restore(self._random)

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """The step before is done with all that belongs to it."""
        if self._random is not None:
            randomness.restore(self._random)  # the loader drew some for its first batch
            self._random = None
        self._report(state)

    def _report(self, state: Any) -> None:
        if self._checkpointer is not None and state.global_step > self._reported:
            self._reported = state.global_step
            self._checkpointer.step(state.global_step - 1, **self._metrics)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
        """Metrics of the step that is reported next."""
        for name, value in (logs or {}).items():
            if isinstance(value, (int, float)) and not name.endswith(_OTHER):
                self._metrics[name] = value

    def _phase(self, name: str) -> None:
        if self._checkpointer is not None and self._is_training:
            self._checkpointer.phase(name)

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """What the Trainer does next, before the next step, may take long."""
        if control.should_evaluate or control.should_save:
            self._phase("eval" if control.should_evaluate else "save")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """An evaluation is under way."""
        self._phase("eval")

    def on_evaluate(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """An evaluation is over."""
        self._phase("save" if control.should_save else "train")

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """The Trainer has written a folder of its own."""
        self._phase("train")

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Training ends: the last step is saved and committed before `train()` returns."""
        self._report(state)
        if self._checkpointer is not None:
            self._checkpointer.finish()
        self._is_training = False


def _read(callback: PhalanxCallback, name: str) -> dict[str, Any]:
    """What a checkpoint holds of one part; empty before training begins."""
    if not callback._is_training:
        return {}
    if name == "trainer":
        return _words(callback._trainer)
    found = callback.part(name)
    return {} if found is None else dict(found.state_dict())


def _words(trainer: Any) -> dict[str, Any]:
    """The Trainer's own state as it would write it, with that of its callbacks."""
    state = trainer.state
    for kept in [*trainer.callback_handler.callbacks, trainer.control]:
        if isinstance(kept, ExportableState):
            state.stateful_callbacks[type(kept).__name__] = kept.state()
    return {
        "state": json.dumps(dataclasses.asdict(state), sort_keys=True),
        "global_batch": _global_batch(trainer),
    }


def _global_batch(trainer: Any) -> int:
    """Samples of one optimizer step over all ranks."""
    args = trainer.args
    return int(args.train_batch_size * args.gradient_accumulation_steps * args.world_size)


def demand_batch(saved: int, trainer: Any) -> None:
    """Raises `InputError` when an optimizer step has another number of samples than `saved`."""
    if saved != _global_batch(trainer):
        raise InputError(
            f"an optimizer step had {saved} samples when saved and has "
            f"{_global_batch(trainer)} now, so the position in the data is lost",
            hint="keep per_device_train_batch_size x gradient_accumulation_steps x ranks equal",
        )
