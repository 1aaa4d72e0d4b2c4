"""Bytes that a model needs: parameters, gradients, optimizer state, activations, serving.

State is exact to a few parts in a thousand (tests hold it against torch); activations are a
formula for Transformers, and unknown (None) for everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phalanx.plan.workload import ModelNeed

BYTES = {"fp32": 4.0, "mixed": 4.0, "bf16": 2.0, "fp16": 2.0, "int8": 1.0, "int4": 0.5}
"""Precision → bytes of a parameter that is kept."""
COMPUTED = {"fp32": 4.0, "mixed": 2.0, "bf16": 2.0, "fp16": 2.0, "int8": 2.0, "int4": 2.0}
"""Precision → bytes of a parameter or an activation while it is computed with."""
STATES = {
    "adamw": 2.0,
    "adam": 2.0,
    "lion": 1.0,
    "momentum": 1.0,
    "rmsprop": 1.0,
    "adagrad": 1.0,
    "sgd": 0.0,
}
"""Optimizer → values kept for each trainable parameter, in the parameter's own precision."""
OPTIMIZER_BYTES = {"adamw8bit": 2.0, "adafactor": 0.1}
"""Optimizers whose state has a precision of its own → bytes for each trainable parameter."""
ADAPTER_SHARE = 0.01
"""Trainable adapters for each frozen parameter; a usual size, not a law."""
SERVING_MARGIN = 1.2
"""Weights and cache times this: 10 to 20 percent more, the upper end."""


@dataclass(frozen=True)
class Group:
    """Parameters of one precision: `each` bytes for one of them."""

    count: float
    each: float
    trainable: bool = True


@dataclass(frozen=True)
class State:
    """Bytes of what outlives a step."""

    parameters: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        """All three together."""
        return self.parameters + self.gradients + self.optimizer

    def divided(self, parameters: float, gradients: float, optimizer: float) -> State:
        """The part of one rank, when each is divided over so many ranks."""
        return State(
            self.parameters / parameters, self.gradients / gradients, self.optimizer / optimizer
        )


def state(groups: Sequence[Group], optimizer: str) -> State:
    """State of a whole model under an optimizer."""
    trained = [group for group in groups if group.trainable]
    return State(
        parameters=sum(group.count * group.each for group in groups),
        gradients=sum(group.count * group.each for group in trained),
        optimizer=sum(group.count * _optimizer_each(group.each, optimizer) for group in trained),
    )


def _optimizer_each(each: float, optimizer: str) -> float:
    if optimizer in OPTIMIZER_BYTES:
        return OPTIMIZER_BYTES[optimizer]
    return STATES[optimizer] * each


def sharded(whole: State, strategy: str, ranks: int) -> State:
    """The state of one of `ranks` ranks under `ddp`, `zero1`, `zero2` or `fsdp` (ZeRO 3)."""
    parameters, gradients, optimizer = {
        "single": (1, 1, 1),
        "ddp": (1, 1, 1),
        "zero1": (1, 1, ranks),
        "zero2": (1, ranks, ranks),
        "fsdp": (ranks, ranks, ranks),
    }[strategy]
    return whole.divided(parameters, gradients, optimizer)


def groups_of(model: ModelNeed) -> tuple[Group, ...]:
    """The parameters that a training keeps."""
    if model.tuning == "lora":
        frozen = Group(model.parameters, min(BYTES[model.precision], 2.0), trainable=False)
        return frozen, Group(model.parameters * ADAPTER_SHARE, 4.0)
    return (Group(model.parameters, max(BYTES[model.precision], 2.0)),)


def activation_bytes(model: ModelNeed, *, recompute: bool, tensor: int = 1) -> float | None:
    """Peak of activations of one rank for one micro batch; None when there is no formula.

    34 bytes for each token and hidden unit of a layer in half precision, attention recomputed; a
    layer's input alone, and one whole layer, with full recomputation; and the logits in fp32.
    Tensor parallelism divides layers (with sequence parallelism) and logits.
    """
    if model.family != "transformer" or not (model.layers and model.hidden):
        return None
    wide = COMPUTED[model.precision] / 2
    tokens = model.micro_batch * model.sequence
    layer = 34 * tokens * model.hidden * wide / tensor
    held = 2 * tokens * model.hidden * wide / tensor
    layers = model.layers * held + layer if recompute else model.layers * layer
    # Logits, their softmax in fp32 and its gradient.
    return layers + tokens * model.vocabulary * (8 + COMPUTED[model.precision]) / tensor


def gathered_bytes(model: ModelNeed, tensor: int = 1) -> float:
    """What fully_shard gathers: two groups of layers at once, in the precision of computing."""
    layers = model.layers or 32
    return 2 * model.parameters / layers * COMPUTED[model.precision] / tensor


def serving_bytes(model: ModelNeed, concurrency: int) -> float:
    """Device memory of one replica: weights, key-value cache, and a margin."""
    weights = model.parameters * BYTES[model.precision]
    cache = 0.0
    if model.family == "transformer" and model.layers and model.hidden:
        values = 2 * model.layers * model.hidden * model.kv_share
        cache = values * model.sequence * concurrency * COMPUTED[model.precision]
    return (weights + cache) * SERVING_MARGIN
