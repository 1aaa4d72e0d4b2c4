"""TensorBoard: its own way to take back steps that are done again."""

from __future__ import annotations

from typing import Any

from phalanx.train.flushing import before_saves
from phalanx.train.trackers.here import here, library


def tensorboard_writer(log_dir: str | None = None, *, first: int = 0, **options: Any) -> Any:
    """A `torch.utils.tensorboard.SummaryWriter` that continues the job's one run.

    `log_dir` is by default `tensorboard` in the job's own folder, below it `rank-N` for another
    rank than 0. `first` is the number that the script gives its first step: 0, or 1 where it
    counts finished steps. Steps that an earlier attempt wrote and this one does again are hidden
    (`purge_step`). Events are flushed before each save, and every ten seconds. Raises
    `InputError` when tensorboard is not installed.
    """
    writer = library("torch.utils.tensorboard", "tensorboard").SummaryWriter
    place = here()
    if place is None:
        return writer(log_dir, **options)
    if log_dir is None:
        rank = place.rank.rank
        log_dir = f"{place.files}/tensorboard" + (f"/rank-{rank}" if rank else "")
    if not place.is_first:
        options.setdefault("purge_step", place.done + first)
    options.setdefault("flush_secs", 10)
    made = writer(log_dir, **options)
    before_saves(made.flush)
    return made
