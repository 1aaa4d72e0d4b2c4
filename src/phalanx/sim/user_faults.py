"""What people do to a job beside stopping it. Imported for its entries in `faults.KINDS`."""

from __future__ import annotations

from phalanx.sim.faults import Fault, kind
from phalanx.sim.rests import ask
from phalanx.sim.scene import Scene

PATIENCE_S = 5.0
"""Somebody who is impatient resumes before the job has come to rest."""


@kind
def user_pause(scene: Scene, fault: Fault) -> None:
    """Somebody pauses the job and resumes it later, perhaps before it has come to rest."""
    for_s = PATIENCE_S if fault.size < 0.15 else fault.for_s

    def later() -> None:
        scene.loop.after(for_s, lambda _: ask(scene, False))

    ask(scene, True, later)
