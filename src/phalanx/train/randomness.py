"""Random numbers go on where they were: Python's, numpy's and torch's generators, per rank."""

from __future__ import annotations

import random
import sys
from typing import Any


def capture() -> dict[str, Any]:
    """States of the global generators that are loaded."""
    states: dict[str, Any] = {"python": random.getstate()}
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        states["numpy"] = numpy_random.get_state()
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = torch.get_rng_state()
        if torch.cuda.is_initialized():
            states["cuda"] = torch.cuda.get_rng_state()
    return states


def restore(states: dict[str, Any]) -> None:
    """Put the generators back. Those whose library is gone are passed over."""
    random.setstate(states["python"])
    if "numpy" in states:
        import numpy

        numpy.random.set_state(states["numpy"])
    torch = sys.modules.get("torch")
    if torch is not None and "torch" in states:
        torch.set_rng_state(states["torch"])
        if "cuda" in states and torch.cuda.is_available():
            torch.cuda.set_rng_state(states["cuda"])
