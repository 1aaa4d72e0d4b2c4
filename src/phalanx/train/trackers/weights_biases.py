"""Weights & Biases: one run id, resumed online, continued in further files offline."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from phalanx.train.trackers.here import Here, here, library
from phalanx.train.trackers.offline import last_step
from phalanx.train.trackers.tracked import Journal, Tracked


def wandb_run(*, first: int = 0, **options: Any) -> Tracked:
    """`wandb.init(**options)` with the job's run id, the same in every attempt.

    `first` is the number that the script gives its first step: 0, or 1 where it counts finished
    steps. Log with `.log(values, step)`. Offline, each attempt adds a folder with the same run id
    below `wandb` in the job's own folder (or `WANDB_DIR`); `wandb sync` joins them. Another rank
    than 0 gets a run of its own. Raises `InputError` when wandb is not installed.
    """
    wandb = library("wandb", "wandb")
    place = here()
    if place is None:
        run = wandb.init(**options)
        return Tracked(run, run.id, _Sink(run, -1), None)
    run = wandb.init(**_with_defaults(options, place))
    last = -1 if place.is_first else _last(run)
    return Tracked(run, run.id, _Sink(run, last), Journal(place, "wandb", first))


def _with_defaults(options: Mapping[str, Any], place: Here) -> dict[str, Any]:
    chosen: dict[str, Any] = {"name": place.run_of_rank.replace(place.run, place.rank.job)}
    if not {"resume_from", "fork_from", "resume"} & set(options):
        chosen["resume"] = "allow"
    if not os.environ.get("WANDB_RUN_ID"):
        chosen["id"] = place.run_of_rank
    if not os.environ.get("WANDB_DIR"):
        os.makedirs(place.files, mode=0o700, exist_ok=True)
        chosen["dir"] = place.files
    return {**chosen, **options}


def _last(run: Any) -> int:
    """The last step that the run has: the server says it, or the files of earlier attempts."""
    if run.offline:
        return last_step(os.path.dirname(os.path.dirname(run.dir)), run.id)
    return int(run.starting_step) - 1


class _Sink:
    """A W&B run: its steps only grow."""

    def __init__(self, run: Any, last: int) -> None:
        self._run = run
        self._last = last

    def add(self, values: Mapping[str, Any], step: int) -> None:
        """Log."""
        self._run.log(dict(values), step=step)

    def last(self, name: str) -> int:
        """One number for all metrics."""
        return self._last

    def close(self) -> None:
        """Write what is left."""
        self._run.finish()
