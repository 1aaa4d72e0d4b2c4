"""What kind of ending one task had, from what ECS or Batch say of it.

The stop code says who ended it, the reasons say why, the exit code alone says little: 137 is
SIGKILL, and memory, a person and a reclaimed host all send that. A code that is not in the
vocabulary stays `Unknown`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from phalanx.verdict.first_cause import tier_of
from phalanx.verdict.ranks import classify_text, signal_name, signal_of
from phalanx.words import FailureClass

STOP_CODES = frozenset(
    {
        "TaskFailedToStart",
        "EssentialContainerExited",
        "UserInitiated",
        "ServiceSchedulerInitiated",
        "SpotInterruption",
        "TerminationNotice",
        "InfrastructureHealth",
    }
)
"""The stop codes that ECS documents; others stay unknown."""

UNCOUNTED = frozenset(
    {
        FailureClass.SPOT_INTERRUPTION,
        FailureClass.HOST_LOST,
        FailureClass.CAPACITY_UNAVAILABLE,
        FailureClass.STOPPED_BY_US,
        FailureClass.SUPERSEDED,
    }
)
"""Endings that are not the job's fault and do not use up its attempts."""


@dataclass(frozen=True)
class StoppedTask:
    """The facts of one stopped task, in the target's own words."""

    stop_code: str = ""
    reason: str = ""
    """`stoppedReason`."""
    exit_code: int | None = None
    """Exit code of the container that mattered; None when it has none."""
    container_reasons: tuple[str, ...] = ()
    ours: bool = False
    """We recorded that we asked for this stop."""


@dataclass(frozen=True)
class TaskEnding:
    """The class of a task's ending; `failure` is None when it succeeded."""

    failure: FailureClass | None
    because: str
    """One clause for people."""
    sign: str = ""
    """Name of the text that was recognised, if one was."""
    said: str = ""
    """The text itself."""
    repeatable: bool = True
    """Whether the same task, launched again unchanged, can end otherwise."""

    @property
    def counted(self) -> bool:
        """Whether it uses up one of the job's attempts."""
        return self.failure is not None and self.failure not in UNCOUNTED


@dataclass(frozen=True)
class Sign:
    """A text that names a cause."""

    name: str
    pattern: re.Pattern[str]
    failure: FailureClass
    repeatable: bool = False


def _sign(name: str, pattern: str, failure: FailureClass, repeatable: bool = False) -> Sign:
    return Sign(name, re.compile(pattern, re.IGNORECASE), failure, repeatable)


_PULL = (
    r"(?:CannotPull\w*Error|ImagePull\w*|image pull|pull image manifest|\bpull(?:ing)?\b"
    r"(?! secrets[\s\S]*secrets? (?:from|data)))"
)
_SECRET = (
    r"(?:secrets? (?:values? )?from (?:asm|ssm)|secret data from|from (?:aws )?secrets manager"
    r"|secretsmanager:GetSecretValue|ssm:GetParameters?\b"
    r"|kms:Decrypt)"
)
_DENIED = r"(?:Access ?Denied|not authorized)"

SIGNS: tuple[Sign, ...] = (
    _sign(
        "container-out-of-memory",
        r"OutOfMemoryError|killed due to memory usage|OOM ?Killed",
        FailureClass.OUT_OF_MEMORY,
    ),
    _sign("diagnose-disk-full", r"no space left on device", FailureClass.DISK_FULL),
    _sign(
        "driver-too-old-for-image",
        r"unsatisfied condition: ?(?:cuda|driver)|driver version is insufficient"
        r"|driver on your system is too old|forward compatibility was attempted",
        FailureClass.DRIVER_MISMATCH,
    ),
    _sign(
        "driver-not-loaded",
        r"driver not loaded|libnvidia-ml\.so|could not select device driver"
        r"|(?:unknown or invalid|unknown) runtime(?: name)?:? *\"?nvidia|nvml error"
        r"|driver/library version mismatch",
        FailureClass.DRIVER_MISMATCH,
    ),
    _sign(
        "fabric-manager-not-ready",
        r"system not yet initialized|error 802|cudaErrorSystemNotReady",
        FailureClass.DRIVER_MISMATCH,
    ),
    _sign("gpu-vanished", r"unknown device|device error:", FailureClass.GPU_FAULT, True),
    _sign(
        "device-missing-on-host",
        r"adding custom device|no such device|error gathering device information",
        FailureClass.UNKNOWN,
    ),
    _sign(
        "secret-access-denied",
        rf"{_SECRET}[\s\S]*{_DENIED}|{_DENIED}[\s\S]*{_SECRET}",
        FailureClass.UNKNOWN,
    ),
    _sign(
        "image-wrong-architecture",
        rf"{_PULL}[\s\S]*(?:no matching manifest for|descriptor matching platform"
        r"|no match for platform|platform\b[^.]{0,80}\b(?:does not|doesn't) match)",
        FailureClass.IMAGE_PULL,
    ),
    _sign("image-wrong-architecture", r"exec format error", FailureClass.BAD_COMMAND),
    _sign(
        "image-not-found",
        rf"{_PULL}[\s\S]*(?:manifest unknown|not found|does not exist|no matching manifest"
        r"|platform')",
        FailureClass.IMAGE_PULL,
    ),
    _sign(
        "image-pull-rate-limited",
        rf"{_PULL}[\s\S]*(?:toomanyrequests|rate ?limit|429)",
        FailureClass.IMAGE_PULL,
        True,
    ),
    _sign(
        "image-pull-denied",
        rf"{_PULL}[\s\S]*(?:denied|not authorized|no basic auth|forbidden|\b403\b|unauthorized)",
        FailureClass.IMAGE_PULL,
    ),
    _sign(
        "image-pull-network",
        rf"{_PULL}[\s\S]*(?:time(?:d )?out|deadline exceeded|connection re(?:fused|set)"
        r"|no such host|TLS handshake|EOF|dial tcp|context canceled|\b50[0234]\b|unreachable)",
        FailureClass.IMAGE_PULL,
        True,
    ),
    _sign("image-pull-failed", r"CannotPull\w*Error", FailureClass.IMAGE_PULL),
    _sign(
        "capacity-unavailable",
        r"capacity is unavailable|\bRESOURCE:[A-Z_]+|insufficient (?:instance )?capacity",
        FailureClass.CAPACITY_UNAVAILABLE,
        True,
    ),
    _sign(
        "start-timed-out",
        r"DockerTimeoutError|ContainerCreationTimeout",
        FailureClass.START_TIMEOUT,
        True,
    ),
    _sign(
        "task-init-failed",
        r"ResourceInitializationError|network interface provisioning",
        FailureClass.UNKNOWN,
        True,
    ),
    _sign(
        "container-cannot-start",
        r"CannotStartContainerError|CannotCreateContainerError|OCI runtime create failed",
        FailureClass.UNKNOWN,
    ),
)
"""Texts in reasons, most telling first."""

HOST_GONE = re.compile(
    r"Host EC2|instance draining|deregistration forced|Container instance (?:deregister|terminat)"
    r"|host (?:was |is )?(?:lost|terminated)",
    re.IGNORECASE,
)
UNHEALTHY = "service-health-check-failing"
"""Sign of a task that its service stopped for its health; the service starts another."""
ON_PURPOSE = "stopped-by-service"
"""Sign of a task that its service stopped because it wants it no more: scaling, a deployment."""
_HEALTH = re.compile(
    r"fail\w*\b.*\bhealth[ -]?checks?|health[ -]?checks?\b.*\bfail|\bunhealthy\b", re.IGNORECASE
)
_SPOT = re.compile(r"\bspot\b.*\b(?:interrupt|reclaim)|interrupted.*\bspot\b", re.IGNORECASE)


SIGTERM_CODE = 143
"""Exit code of a process that a polite stop ended: mostly somebody else's decision."""


def tier_of_task(ending: TaskEnding, exit_code: int | None) -> int:
    """Strength of a task's ending as a first cause, 0 strongest; as `first_cause.tier_of`.

    A bare SIGTERM comes after endings that tell of themselves: it follows from a stop.
    """
    failure = ending.failure or FailureClass.UNKNOWN
    tier = tier_of(failure, ending.said)
    polite = failure is FailureClass.KILLED and exit_code == SIGTERM_CODE
    return max(tier, 1) if polite else tier


def classify_task(task: StoppedTask) -> TaskEnding:
    """The class of one stopped task's ending."""
    sign = _find_sign(task)
    if sign is not None and sign.failure is FailureClass.OUT_OF_MEMORY:
        return sign
    stopped = _stopped_by_others(task)
    if stopped is not None:
        return stopped
    if task.stop_code and task.stop_code not in STOP_CODES:
        return TaskEnding(
            FailureClass.UNKNOWN,
            f"the stop code {task.stop_code} is not known",
            "unknown-stop-code",
        )
    if sign is not None:
        return sign
    if task.stop_code == "TaskFailedToStart":
        return TaskEnding(FailureClass.UNKNOWN, "it failed to start for a reason that is not known")
    return _by_exit(task)


def _stopped_by_others(task: StoppedTask) -> TaskEnding | None:
    """Endings that somebody else decided: a person, us, a host, a reclaim, a scheduler."""
    code, reason = task.stop_code, task.reason
    if code == "SpotInterruption" or (not code and _SPOT.search(reason)):
        return TaskEnding(FailureClass.SPOT_INTERRUPTION, "Spot capacity was taken back")
    if HOST_GONE.search(reason) or code == "InfrastructureHealth":
        return TaskEnding(FailureClass.HOST_LOST, "its host is gone or was drained")
    if code == "TerminationNotice":
        return TaskEnding(FailureClass.SPOT_INTERRUPTION, "Spot capacity was taken back")
    killed = signal_of(task.exit_code, None)
    if task.ours and (code == "UserInitiated" or (not code and killed is not None)):
        return TaskEnding(FailureClass.STOPPED_BY_US, "we asked for this stop")
    if code == "UserInitiated":
        return TaskEnding(
            FailureClass.STOPPED_BY_USER, "somebody stopped it through the API", repeatable=False
        )
    if code == "ServiceSchedulerInitiated" and _HEALTH.search(reason):
        because = "its health check failed and the service stopped it"
        return TaskEnding(FailureClass.UNKNOWN, because, UNHEALTHY, reason)
    if code == "ServiceSchedulerInitiated":
        because = "the service scheduler stopped it on purpose"
        return TaskEnding(FailureClass.UNKNOWN, because, ON_PURPOSE)
    return None


def _find_sign(task: StoppedTask) -> TaskEnding | None:
    for sign in SIGNS:
        for text in (*task.container_reasons, task.reason):
            if sign.pattern.search(text):
                return TaskEnding(
                    sign.failure,
                    _ABOUT.get(sign.name, "its reason says so"),
                    sign.name,
                    text,
                    sign.repeatable,
                )
    return None


_ABOUT = {
    "container-out-of-memory": "the container was killed for its use of memory",
    "diagnose-disk-full": "the host's disk is full",
    "driver-too-old-for-image": "the image needs a newer GPU driver than the host has",
    "driver-not-loaded": "the host's GPU driver is not loaded or not usable",
    "fabric-manager-not-ready": "the GPU fabric of the host is not ready",
    "gpu-vanished": "a GPU that was assigned is not on the host",
    "device-missing-on-host": "a mapped device does not exist on the host",
    "secret-access-denied": "the execution role may not read a secret",
    "image-wrong-architecture": "the image is not built for the architecture of the host",
    "image-not-found": "the image does not exist",
    "image-pull-rate-limited": "the registry limits the rate of pulls",
    "image-pull-denied": "the registry refused access to the image",
    "image-pull-network": "the registry could not be reached",
    "image-pull-failed": "the image could not be pulled",
    "capacity-unavailable": "there was nothing free to run it on",
    "start-timed-out": "the container runtime did not start it in time",
    "task-init-failed": "a resource of the task could not be set up",
    "container-cannot-start": "the container runtime refused to start it",
}


def _by_exit(task: StoppedTask) -> TaskEnding:
    """Nobody ended it from outside: the exit code is all there is."""
    if task.exit_code == 0:
        return TaskEnding(None, "it exited 0")
    if task.exit_code is None:
        return TaskEnding(FailureClass.UNKNOWN, "there is no exit code")
    for text in task.container_reasons:
        told = classify_text(text)
        if told is not None:
            return TaskEnding(told, f"it exited {task.exit_code}", said=text)
    signal = signal_of(task.exit_code, None)
    if signal is not None:
        return TaskEnding(
            FailureClass.KILLED,
            f"it was ended by {signal_name(signal)} (exit code {task.exit_code}), "
            "and nothing says who sent it",
        )
    return TaskEnding(FailureClass.NON_ZERO_EXIT, f"it exited {task.exit_code}")
