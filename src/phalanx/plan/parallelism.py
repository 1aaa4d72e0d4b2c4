"""How a model is spread over GPUs: the simplest form whose memory fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phalanx.plan.memory import (
    State,
    activation_bytes,
    gathered_bytes,
    groups_of,
    sharded,
    state,
)
from phalanx.plan.workload import ModelNeed

MIB = 1024.0 * 1024.0
USABLE = 0.9
"""Share of a device's memory that a plan fills; the rest is the runtime's, NCCL's and chance's."""
LARGE_LAYER = 4 * 1024.0**3
"""Bytes of one gathered layer above which it is divided by tensor parallelism first."""
PIPELINES = (2, 4, 8, 16, 32)
"""Pipeline depths that are tried."""


@dataclass(frozen=True)
class Fit:
    """One form of parallelism, and what one GPU holds under it, in bytes.

    `data` ranks share the state by `strategy`; `activations` is None where no formula is known.
    """

    strategy: str
    data: int
    tensor: int
    pipeline: int
    recompute: bool
    state: State
    buffers: float
    activations: float | None
    room: float

    @property
    def total(self) -> float:
        """All that is known of."""
        return self.state.total + self.buffers + (self.activations or 0.0)

    @property
    def fits(self) -> bool:
        """It stays within the usable memory; unknown activations are left a third of it."""
        room = self.room if self.activations is not None else self.room * 2 / 3
        return self.total <= room

    @property
    def name(self) -> str:
        """`fsdp + tp 8 + pp 4 + recompute`."""
        words = [self.strategy]
        words += [f"tp {self.tensor}"] if self.tensor > 1 else []
        words += [f"pp {self.pipeline}"] if self.pipeline > 1 else []
        return " + ".join([*words, "recompute"] if self.recompute else words)


def forms(model: ModelNeed, gpus: int, per_node: int, device_mib: int) -> tuple[Fit, ...]:
    """Every form that is tried, the simplest first."""
    room = device_mib * MIB * USABLE
    return tuple(
        _fit(model, gpus, shape, recompute, room)
        for shape in _shapes(model, gpus, per_node)
        for recompute in _recomputes(model)
    )


def choose(fits: tuple[Fit, ...]) -> Fit | None:
    """The first that fits; None when none does."""
    return next((fit for fit in fits if fit.fits), None)


_Shape = tuple[str, int, int]
"""(strategy, tensor, pipeline)."""


def _shapes(model: ModelNeed, gpus: int, per_node: int) -> Iterator[_Shape]:
    if gpus == 1:
        yield "single", 1, 1
        return
    tensor = min(per_node, gpus)
    splits = model.family == "transformer" and tensor > 1
    if not (splits and gathered_bytes(model) / 2 > LARGE_LAYER):
        yield from ((strategy, 1, 1) for strategy in ("ddp", "zero1", "zero2", "fsdp"))
    if not splits:
        return
    yield "fsdp", tensor, 1
    for depth in PIPELINES:
        if depth <= model.layers and gpus % (tensor * depth) == 0:
            yield "zero1", tensor, depth
    for depth in PIPELINES:
        if depth <= model.layers and gpus % (tensor * depth) == 0:
            yield "fsdp", tensor, depth


def _recomputes(model: ModelNeed) -> tuple[bool, ...]:
    if model.recompute is not None:
        return (model.recompute,)
    return (False, True) if model.family == "transformer" else (False,)


def _fit(model: ModelNeed, gpus: int, shape: _Shape, recompute: bool, room: float) -> Fit:
    strategy, tensor, pipeline = shape
    data = max(1, gpus // (tensor * pipeline))
    part = state(groups_of(model), model.optimizer).divided(*[tensor * pipeline] * 3)
    return Fit(
        strategy=strategy,
        data=data,
        tensor=tensor,
        pipeline=pipeline,
        recompute=recompute,
        state=sharded(part, strategy, data),
        buffers=_buffers(model, strategy, part, tensor),
        # A pipeline stage holds fewer layers, and the micro batches of all stages behind it.
        activations=activation_bytes(model, recompute=recompute, tensor=tensor),
        room=room,
    )


def _buffers(model: ModelNeed, strategy: str, part: State, tensor: int) -> float:
    """Copies that communication keeps: DDP's gradient buckets, what fully_shard gathers."""
    if strategy in ("ddp", "zero1"):
        return part.gradients
    if strategy in ("zero2", "fsdp"):
        return gathered_bytes(model, tensor)
    return 0.0
