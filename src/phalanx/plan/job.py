"""A resolved job: every default filled, every unit parsed. Plain frozen data, stored in the record.

The spec (what the user wrote) is read by `phalanx.spec`; `plan.build` turns it into this.
"""

from __future__ import annotations

from phalanx.frozen import frozen
from phalanx.plan.lineage import Origin
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
class Receiver:
    """Who is told of some events of a job.

    `kind` is `webhook` or `command`, `words` the URL or the program with its arguments. A URL may
    hold a token: it is never printed whole.
    """

    kind: str
    words: tuple[str, ...]
    on: tuple[str, ...]
    waiting_s: float = 600.0
    """A wait is told once it is this long."""


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
    init_from: Origin | None = None
    """Where the first state comes from; None begins from nothing."""
    min_nodes: int = 0
    """Fewest nodes that the job goes on with; 0: `nodes`, which is fixed then."""
    last_call_s: float = 10.0
    """How long the others are waited for once the fewest are there."""
    grow_after_s: float | None = None
    """Shortest time between two sizes; None: ten measured restarts."""
    global_batch: int | None = None
    """Samples of one step over all ranks, when the job file says it."""
    max_instance_hours: float | None = None
    """Most hours summed over all incarnations; None has no limit."""
    memory_limit_mib: int | None = None
    """Memory of each node when the job file names it; None: nobody asked for a limit."""
    notify: tuple[Receiver, ...] = ()
    evidence_keep_s: float = 30 * 86400.0
    """Age at which logs and evidence are removed."""

    @property
    def fewest(self) -> int:
        """Fewest nodes that the job goes on with."""
        return self.min_nodes or self.nodes

    @property
    def is_elastic(self) -> bool:
        """Whether the number of nodes may change."""
        return self.fewest < self.nodes

    @property
    def world_size(self) -> int:
        """Number of ranks when all slots are there."""
        return self.nodes * self.ranks_per_node
