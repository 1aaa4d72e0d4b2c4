"""What a training script imports: `Checkpointer`, samplers, and `export` for plain weights."""

from __future__ import annotations

from phalanx.train.checkpointer import Checkpointer
from phalanx.train.sampler import PositionedSampler
from phalanx.train.shared import SharedSampler
from phalanx.train.sharing import Share, share
from phalanx.train.weights import export

__all__ = ["Checkpointer", "PositionedSampler", "Share", "SharedSampler", "export", "share"]
