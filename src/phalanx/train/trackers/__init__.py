"""Runs of TensorBoard, Weights & Biases and MLflow that go on over the attempts of a job.

One run a job instead of one an attempt; a step that is done again after a restart is not shown
twice. Outside phalanx each function gives what the library itself would. The libraries are
imported when they are asked for.
"""

from __future__ import annotations

from phalanx.train.trackers.board import tensorboard_writer
from phalanx.train.trackers.ml_flow import mlflow_run
from phalanx.train.trackers.tracked import Tracked
from phalanx.train.trackers.weights_biases import wandb_run

__all__ = ["Tracked", "mlflow_run", "tensorboard_writer", "wandb_run"]
