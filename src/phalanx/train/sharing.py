"""One rank's share of the global batch: the same samples in every step, whatever the world size.

The first `global_batch % world_size` ranks take one sample more than the others. Step s of the
whole job consumes the samples `s * global_batch` to `(s + 1) * global_batch` of the data's order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from phalanx.errors import InputError
from phalanx.frozen import frozen


@frozen
class Share:
    """What one rank does of each step."""

    rank: int
    world_size: int
    global_batch: int
    first: int
    """Place of this rank's first sample in each global batch."""
    size: int
    """Samples of this rank in each global batch."""
    micro: tuple[int, ...]
    """Samples of each micro-step; every rank has as many micro-steps."""

    @property
    def weights(self) -> tuple[float, ...]:
        """What the mean loss of each micro-step is multiplied by before `backward`.

        DDP averages gradients over ranks, and micro-steps add up. With these factors the result
        is the gradient of the mean over the global batch, also when the shares are uneven.
        """
        return tuple(n * self.world_size / self.global_batch for n in self.micro)

    def samples(self, step: int) -> range:
        """Places of this rank's samples of a step in the order of the data, counted from 0."""
        begin = step * self.global_batch + self.first
        return range(begin, begin + self.size)


def share(
    global_batch: int | None = None,
    micro_batch: int | None = None,
    *,
    env: Mapping[str, str] | None = None,
) -> Share:
    """This rank's share of `global_batch` samples, in micro-steps of at most `micro_batch`.

    The job file's `elastic.global_batch` is taken when none is given; without `micro_batch` the
    whole share is one micro-step. Checked for every world size that the job may have, so that a
    job is refused when it starts and not when it shrinks. Raises `InputError`.
    """
    given = os.environ if env is None else env
    batch = global_batch or int(given.get("PHALANX_GLOBAL_BATCH") or 0)
    if batch < 1:
        raise InputError(
            "share needs a global batch", hint="give it, or set elastic.global_batch in the job"
        )
    if micro_batch is not None and micro_batch < 1:
        raise InputError(f"micro_batch {micro_batch} is not at least 1")
    for world_size in _world_sizes(given):
        _check(batch, micro_batch, world_size)
    rank, world_size = int(given.get("RANK") or 0), int(given.get("WORLD_SIZE") or 1)
    each, more = divmod(batch, world_size)
    size = each + (rank < more)
    steps = _micro_steps(batch, micro_batch, world_size)
    low, rest = divmod(size, steps)
    return Share(
        rank=rank,
        world_size=world_size,
        global_batch=batch,
        first=rank * each + min(rank, more),
        size=size,
        micro=tuple(low + (n < rest) for n in range(steps)),
    )


def _world_sizes(env: Mapping[str, str]) -> list[int]:
    now = int(env.get("WORLD_SIZE") or 1)
    low = int(env.get("PHALANX_MIN_WORLD_SIZE") or now)
    high = int(env.get("PHALANX_MAX_WORLD_SIZE") or now)
    step = int(env.get("LOCAL_WORLD_SIZE") or 1)
    return [now, *range(low, high + 1, step)]


def _micro_steps(batch: int, micro_batch: int | None, world_size: int) -> int:
    most = -(-batch // world_size)
    return -(-most // micro_batch) if micro_batch else 1


def _check(batch: int, micro_batch: int | None, world_size: int) -> None:
    """Every micro-step of every rank holds at least one sample."""
    if batch < world_size:
        raise InputError(
            f"{world_size} ranks cannot share a global batch of {batch}",
            hint="make it larger, or lower nodes.max",
        )
    if batch // world_size < _micro_steps(batch, micro_batch, world_size):
        raise InputError(
            f"{world_size} ranks cannot share a global batch of {batch} in micro-steps of "
            f"{micro_batch}: a rank would have an empty one",
            hint="a larger micro_batch, or a global batch that every world size divides",
        )
