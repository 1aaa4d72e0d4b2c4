"""A resolved workload: what a plan is made for, with every assumption named.

Made by `phalanx.plan.resolve` from a job file, a workload file, or both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelNeed:
    """The model. `parameters` 0: its size is not known, and nothing is sized by it."""

    parameters: int = 0
    family: str = "transformer"
    layers: int = 0
    hidden: int = 0
    kv_share: float = 1.0
    """Part of the attention heads that have keys and values of their own."""
    vocabulary: int = 0
    precision: str = "mixed"
    optimizer: str = "adamw"
    tuning: str = "full"
    sequence: int = 4096
    micro_batch: int = 1
    recompute: bool | None = None
    """Activation checkpointing; None: where it is needed."""

    @property
    def is_sized(self) -> bool:
        """Its number of parameters is known."""
        return self.parameters > 0


@dataclass(frozen=True)
class DeviceNeed:
    """What it should run on. `count` is the whole job's, or one replica's; 0: not said."""

    vendor: str = "any"
    type: str = ""
    count: int = 0
    own: int = 0
    neuron_supported: bool | None = None
    is_cpu: bool = False


@dataclass(frozen=True)
class RunNeed:
    """How it runs. `nodes` 0: not said. Durations in seconds; None: not said."""

    nodes: int = 0
    duration_s: float | None = None
    deadline_s: float | None = None
    market: str = "any"
    resumes: bool = False
    frequency: str = "once"
    utilisation: float | None = None


@dataclass(frozen=True)
class ServingNeed:
    """How it is served."""

    latency_s: float | None = None
    traffic: str = "steady"
    replicas: tuple[int, int] = (1, 1)
    concurrency: int = 8
    own_weights: bool = True
    scale_to_zero: bool = False
    facing: str = "internal"


@dataclass(frozen=True)
class TeamNeed:
    """Who runs it, on what, and what is asked of the platform."""

    platform: str = "none"
    self_host: bool = True
    containers: bool = True
    wants: tuple[str, ...] = ()
    fee_sensitive: bool = False


@dataclass(frozen=True)
class SecurityNeed:
    """Duties, and which items of the baseline are in place and by whose word."""

    compliance: tuple[str, ...] = ()
    runtime_monitoring: bool = False
    custom_ami: bool = False
    stated: tuple[str, ...] = ()
    """Items that the workload file says are in place."""
    seen: tuple[tuple[str, str], ...] = ()
    """(item, what in the job file shows it)."""
    missing: tuple[tuple[str, str], ...] = ()
    """(item, what in the job file speaks against it)."""


@dataclass(frozen=True)
class LossNeed:
    """What a checkpoint and a loss cost; None: not said."""

    stall_s: float | None = None
    restart_s: float = 120.0
    lag_s: float = 0.0
    per_1000_node_days: float | None = None
    announced: float = 0.0
    fixed_every_s: float | None = None
    """The interval that the job file fixes."""


@dataclass(frozen=True)
class PriceRange:
    """Price of one instance for an hour, as somebody read it."""

    low: float
    high: float
    currency: str
    source: str
    date: str


@dataclass(frozen=True)
class Workload:
    """Everything that the decisions look at."""

    name: str
    use: str
    model: ModelNeed = ModelNeed()
    devices: DeviceNeed = DeviceNeed()
    run: RunNeed = RunNeed()
    serving: ServingNeed = ServingNeed()
    team: TeamNeed = TeamNeed()
    security: SecurityNeed = SecurityNeed()
    losses: LossNeed = LossNeed()
    sharing: str = "none"
    tenants: str = "one"
    dataset_mib: int | None = None
    weights_mib: int | None = None
    lustre: bool | None = None
    price: PriceRange | None = None
    quota_vcpus: int | None = None
    assumptions: tuple[str, ...] = ()
    """What was taken for granted because nobody said it, one sentence each."""

    @property
    def trains(self) -> bool:
        """It is a training."""
        return self.use == "training"

    @property
    def days(self) -> float | None:
        """Length of one run in days."""
        return None if self.run.duration_s is None else self.run.duration_s / 86400
