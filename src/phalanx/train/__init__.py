"""What a training script imports: `Checkpointer`, and `export` for plain weights."""

from __future__ import annotations

from phalanx.train.checkpointer import Checkpointer
from phalanx.train.weights import export

__all__ = ["Checkpointer", "export"]
