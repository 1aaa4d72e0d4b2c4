"""MLflow: the run's id is kept with the job, and every attempt goes on with that run."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from phalanx.errors import InputError
from phalanx.train.metrics import numbers
from phalanx.train.trackers.here import Here, here, library
from phalanx.train.trackers.tracked import Journal, Tracked


def mlflow_run(*, first: int = 0, **options: Any) -> Tracked:
    """`mlflow.start_run(**options)` with one run for all attempts of the job.

    `first` is the number that the script gives its first step: 0, or 1 where it counts finished
    steps. Log with `.log(values, step)`; the run is MLflow's active one, so that parameters, tags
    and what frameworks log go there too. Set the tracking URI and the experiment before. Another
    rank than 0 gets a run of its own. Raises `InputError` when mlflow is not installed, or when
    the tracking URI does not know the run of the attempt before.
    """
    mlflow = library("mlflow", "mlflow")
    place = here()
    is_chosen = "run_id" in options or bool(os.environ.get("MLFLOW_RUN_ID"))
    if place is None or is_chosen:
        run = mlflow.start_run(**options)
    else:
        run = _continued(mlflow, place, options)
    journal = Journal(place, "mlflow", first) if place else None
    return Tracked(run, run.info.run_id, _Sink(mlflow, run), journal)


def _continued(mlflow: Any, place: Here, options: dict[str, Any]) -> Any:
    store, key = place.store(), place.keys.tracker("mlflow", place.rank.rank)
    kept = store.read(key)
    if kept is None:
        name = place.run_of_rank.replace(place.run, place.rank.job)
        run = mlflow.start_run(**{"run_name": name, **options})
        store.create(key, run.info.run_id.encode())
        return run
    known = {name: value for name, value in options.items() if name != "run_name"}
    try:
        return mlflow.start_run(**known, run_id=kept.data.decode())
    except mlflow.exceptions.MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise InputError(
            f"{mlflow.get_tracking_uri()} does not know this job's run {kept.data.decode()}",
            hint="use the tracking URI of the attempt before",
        ) from error


class _Sink:
    """An MLflow run: a step may be logged again, and is then there twice."""

    def __init__(self, mlflow: Any, run: Any) -> None:
        self._mlflow = mlflow
        self._id = run.info.run_id
        self._client = mlflow.MlflowClient()
        names = self._client.get_run(self._id).data.metrics
        self._last = {name: self._newest(name) for name in names}

    def _newest(self, name: str) -> int:
        return max(int(m.step) for m in self._client.get_metric_history(self._id, name))

    def add(self, values: Mapping[str, Any], step: int) -> None:
        """Log."""
        now_ms = time.time_ns() // 1_000_000
        metric = self._mlflow.entities.Metric
        found = [
            metric(name, float("nan") if value is None else value, now_ms, step)
            for name, value in numbers(values).items()
        ]
        self._client.log_batch(self._id, metrics=found)

    def last(self, name: str) -> int:
        """Of each metric its own."""
        return self._last.get(name, -1)

    def close(self) -> None:
        """Ends MLflow's active run."""
        self._mlflow.end_run()
