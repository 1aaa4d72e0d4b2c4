"""The closed vocabularies: phases, failure classes, endings, task states."""

from __future__ import annotations

from enum import Enum


class Phase(str, Enum):
    """One word for people: where the job is."""

    PENDING = "Pending"
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    STOPPING = "Stopping"
    PAUSED = "Paused"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    STOPPED = "Stopped"

    @property
    def is_terminal(self) -> bool:
        """Terminal phases never change."""
        return self in _TERMINAL


_TERMINAL = frozenset({Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED})


class FailureClass(str, Enum):
    """Why something ended. Names are a contract: more are added, none is renamed."""

    NON_ZERO_EXIT = "NonZeroExit"
    KILLED = "Killed"
    OUT_OF_MEMORY = "OutOfMemory"
    HANG = "Hang"
    HOST_LOST = "HostLost"
    SPOT_INTERRUPTION = "SpotInterruption"
    CAPACITY_UNAVAILABLE = "CapacityUnavailable"
    IMAGE_PULL = "ImagePull"
    DISK_FULL = "DiskFull"
    DRIVER_MISMATCH = "DriverMismatch"
    START_TIMEOUT = "StartTimeout"
    RENDEZVOUS_TIMEOUT = "RendezvousTimeout"
    GPU_FAULT = "GpuFault"
    NETWORK_FAULT = "NetworkFault"
    CHECKPOINT_UNREADABLE = "CheckpointUnreadable"
    STORE_UNREACHABLE = "StoreUnreachable"
    SOURCE_DAMAGED = "SourceDamaged"
    NO_PROGRESS = "NoProgress"
    SUPERSEDED = "Superseded"
    STOPPED_BY_USER = "StoppedByUser"
    STOPPED_BY_US = "StoppedByUs"
    UNKNOWN = "Unknown"
    RESIZED = "Resized"
    BAD_COMMAND = "BadCommand"


class Outcome(str, Enum):
    """How one agent's part of an attempt ended."""

    SUCCEEDED = "succeeded"
    """Every rank exited 0."""
    FAILED = "failed"
    """A rank ended badly by itself, or the agent could not start its ranks."""
    STOPPED = "stopped"
    """The ranks were told to end: a sibling ended, the user asked, or a notice came due."""


class TaskState(str, Enum):
    """What the target says of a task."""

    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
