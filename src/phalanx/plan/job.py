"""A resolved job: every default filled, every unit parsed. Plain frozen data, stored in the record.

The spec (what the user wrote) is read by `phalanx.spec`; `plan.build` turns it into this.
"""

from __future__ import annotations

from phalanx.frozen import frozen
from phalanx.words import FailureClass


@frozen
class RestartRule:
    """First match wins. `limit` counts restarts of these classes; None has no limit of its own."""

    on: tuple[FailureClass, ...]
    do: str = "restart"
    """`restart` or `fail`."""
    limit: int | None = None
    counted: bool = True


@frozen
class Secret:
    """A secret by reference: never its value. Locally `source` is `env`."""

    name: str
    source: str
    reference: str


@frozen
class CheckpointPlan:
    """`every_steps` and `every_s` are both None for `auto`."""

    mode: str = "api"
    every_steps: int | None = None
    every_s: float | None = None
    keep: int = 3
    directory: str | None = None


@frozen
class JobPlan:
    """Everything the controller, the backends and the agents need to know of a train job."""

    name: str
    command: tuple[str, ...]
    launcher: str = "ranks"
    nodes: int = 1
    ranks_per_node: int = 1
    cpus: float = 1.0
    memory_mib: int = 2048
    gpus_per_node: int = 0
    accelerator: str = ""
    shared_memory_mib: int | None = None
    efa: bool = False
    image: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    secrets: tuple[Secret, ...] = ()
    working_directory: str = "."
    source: str | None = None
    """Folder that was shipped, for people."""
    source_digest: str | None = None
    """sha256 of the snapshot that every task unpacks; None ships nothing."""
    total_steps: int | None = None
    checkpoint: CheckpointPlan = CheckpointPlan()
    hang_after_s: float | None = None
    """None: learned from step times."""
    start_timeout_s: float = 1800.0
    stop_grace_s: float = 90.0
    isolation_s: float = 600.0
    restart: tuple[RestartRule, ...] = ()
    restart_scope: str = "slot"
    warm: tuple[str, ...] = ()
    no_progress: int = 5
    max_runtime_s: float = 30 * 86400.0
    max_waiting_s: float = 86400.0
    target: str = "local"

    @property
    def world_size(self) -> int:
        """Number of ranks when all slots are there."""
        return self.nodes * self.ranks_per_node
