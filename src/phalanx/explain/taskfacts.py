"""Tasks as the evidence tells of them, whatever the number and order of the deliveries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from phalanx.explain.kinds import deliveries
from phalanx.explain.model import Path
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import (
    canonical,
    integer,
    mapping,
    moment,
    objects,
    sequence,
    spell,
    text,
)

_ORDER = (
    "PROVISIONING",
    "PENDING",
    "ACTIVATING",
    "RUNNING",
    "DEACTIVATING",
    "STOPPING",
    "DEPROVISIONING",
    "STOPPED",
    "DELETED",
)
_ENDED = ("STOPPED", "DELETED")
_SIDECARS = (
    "xray", "datadog", "log_router", "log-router", "logrouter", "firelens", "fluent", "envoy",
    "otel", "adot", "cloudwatch", "guardduty", "service-connect", "dcgm", "exporter", "sidecar",
    "agent", "collector", "proxy", "vector", "telegraf", "statsd", "prometheus", "promtail",
    "filebeat", "logstash", "newrelic", "splunk", "monitor", "logger", "metrics",
)  # fmt: skip
_TRAINERS = re.compile(r"train|torch|finetune|fine-tune|pretrain|\b(?:ddp|fsdp|main)\b", re.I)
_STOPPED_CODES = (137, 143)
"""What a container exits with when it is stopped together with the task."""


@dataclass(frozen=True)
class Seen:
    """One look at one task: an event's detail, or a task of a describe answer."""

    evidence: Evidence
    path: Path
    """Of the detail inside the document."""
    where: str
    """What people call it: `deliveries[3]`."""
    detail: dict[str, Any]
    at: float | None
    event_id: str = ""

    @property
    def version(self) -> int:
        """`detail.version`; -1 when it is missing."""
        found = integer(self.detail.get("version"))
        return -1 if found is None else found

    @property
    def status(self) -> str:
        """`lastStatus`, upper case."""
        return text(self.detail.get("lastStatus")).upper()

    @property
    def ended(self) -> bool:
        """Whether the task is stopped for good."""
        return self.status in _ENDED

    def key(self) -> tuple[Any, ...]:
        """Order of the looks at one task, whatever the order of delivery."""
        rank = _ORDER.index(self.status) if self.status in _ORDER else -1
        return (self.ended, self.version, rank, self.at or 0.0, canonical(self.detail))


@dataclass(frozen=True)
class Container:
    """One container of a task."""

    name: str
    exit_code: int | None
    reason: str
    has_gpu: bool
    path: Path

    @property
    def failed(self) -> bool:
        """Whether it ended badly by itself: not with 0, and not because the task was stopped."""
        if self.exit_code in (None, 0):
            return False
        return bool(self.reason) or self.exit_code not in _STOPPED_CODES


@dataclass(frozen=True)
class TaskFacts:
    """One task: its newest look, and where it was read."""

    arn: str
    seen: Seen
    looks: tuple[Seen, ...] = field(repr=False, default=())

    @property
    def detail(self) -> dict[str, Any]:
        """The newest look's members."""
        return self.seen.detail

    @property
    def stop_code(self) -> str:
        """`stopCode`."""
        return text(self.detail.get("stopCode"))

    @property
    def reason(self) -> str:
        """`stoppedReason`."""
        return text(self.detail.get("stoppedReason"))

    @property
    def is_service(self) -> bool:
        """Whether a service keeps it; a service starts another by itself."""
        group, by = text(self.detail.get("group")), text(self.detail.get("startedBy"))
        return group.startswith("service:") or by.startswith("ecs-svc/")

    @property
    def stopped(self) -> bool:
        """Whether it has ended."""
        return self.seen.ended

    @property
    def state(self) -> str:
        """`pending`, `running`, `stopping`, `stopped` or `unknown`."""
        status = self.seen.status
        if self.stopped:
            return "stopped"
        wanted = text(self.detail.get("desiredStatus")).upper()
        if wanted in _ENDED or status in ("DEACTIVATING", "STOPPING", "DEPROVISIONING"):
            return "stopping"
        if status == "RUNNING":
            return "running"
        return "pending" if status in _ORDER else "unknown"

    @property
    def stopped_at(self) -> float | None:
        """When it ended, in seconds since 1970."""
        for name in ("executionStoppedAt", "stoppingAt", "stoppedAt"):
            at = moment(self.detail.get(name))
            if at is not None:
                return at
        return self.seen.at

    def containers(self) -> list[Container]:
        """Its containers, in the order given."""
        return [
            Container(
                text(item.get("name")),
                integer(item.get("exitCode")),
                text(item.get("reason")),
                bool(item.get("gpuIds") or item.get("neuronDeviceIds")),
                (*self.seen.path, "containers", index),
            )
            for index, item in objects(self.detail.get("containers"))
        ]

    def main(self) -> Container | None:
        """The container whose ending is the task's: the training's; of several, a failed one."""
        chosen = self._training()
        done = [c for c in chosen if c.exit_code == 0]
        by_itself = [c for c in chosen if c.failed and c.exit_code not in _STOPPED_CODES]
        with_reason = [c for c in chosen if c.failed]
        ended = [c for c in chosen if c.exit_code is not None]
        for group in (by_itself, with_reason, done, ended, chosen):
            if group:
                return group[0]
        return None

    def others(self) -> list[Container]:
        """The containers beside the one that decides."""
        main = self.main()
        return [c for c in self.containers() if main is None or c.path != main.path]

    def ended_first(self) -> Container | None:
        """The other container for whose ending ECS stopped the training; None when none did.

        A container without a fault of its own says nothing when the training was killed (many
        exit 0 when they are asked to stop), but explains a polite stop of the training.
        """
        main = self.main()
        if main is None or main.failed or main.exit_code not in _STOPPED_CODES:
            return None
        if self.stop_code not in ("", "EssentialContainerExited"):
            return None
        others = self.others()
        failed = [c for c in others if c.failed]
        done = [c for c in others if c.exit_code == 0 and main.exit_code == _STOPPED_CODES[1]]
        return next(iter((*failed, *done)), None)

    def _training(self) -> list[Container]:
        """The containers that may be the training, by the most telling sign that any has."""
        every = self.containers()
        family = text(self.detail.get("taskDefinitionArn")).rpartition("/")[2].partition(":")[0]
        plain = [c for c in every if not _is_sidecar(c.name)]
        return (
            [c for c in every if c.has_gpu]
            or [c for c in plain if _TRAINERS.search(c.name)]
            or [c for c in every if c.name == family]
            or plain
            or every
        )


def _is_sidecar(name: str) -> bool:
    return any(word in name.lower() for word in _SIDECARS)


def looks(evidence: Evidence, kind_is_events: bool) -> list[Seen]:
    """Every look at a task in one file, in the order given."""
    if kind_is_events:
        return [seen for seen in _of_events(evidence) if seen is not None]
    return list(_of_describe(evidence))


def _of_events(evidence: Evidence) -> Iterable[Seen | None]:
    for path, event in deliveries(evidence.value):
        detail = mapping(event.get("detail"))
        if not text(detail.get("taskArn")):
            continue
        where = path[:-1] if path[-1:] in (("event",), ("Body",)) else path
        yield Seen(
            evidence,
            (*path, "detail"),
            spell(where) or "detail",
            detail,
            moment(event.get("time")),
            text(event.get("id")),
        )


def _of_describe(evidence: Evidence) -> Iterable[Seen]:
    value = evidence.value
    start: Path = ()
    items = value
    if isinstance(value, dict):
        start, items = (("tasks",), value["tasks"]) if "tasks" in value else ((), [value])
    for index, item in objects(items):
        path = (*start, index) if start or isinstance(value, list) else ()
        yield Seen(evidence, path, spell(path) or "task", item, None)


def gather(every: Iterable[Seen]) -> list[TaskFacts]:
    """One `TaskFacts` per task, by ARN; looks without an ARN are tasks of their own."""
    by_arn: dict[str, list[Seen]] = {}
    for number, seen in enumerate(every):
        arn = text(seen.detail.get("taskArn")) or f"task-{number}"
        by_arn.setdefault(arn, []).append(seen)
    return [_newest(arn, group) for arn, group in by_arn.items()]


def _newest(arn: str, group: list[Seen]) -> TaskFacts:
    return TaskFacts(arn, max(group, key=Seen.key), tuple(group))


@dataclass
class _Known:
    """What the deliveries so far told of one task."""

    states: set[str] = field(default_factory=set)
    highest: int = -1
    ended: bool = False


def repeats(every: Iterable[Seen]) -> tuple[list[Seen], list[Seen]]:
    """(duplicates, late ones): looks that change nothing about what had been seen before."""
    tasks: dict[str, _Known] = {}
    duplicates: list[Seen] = []
    late: list[Seen] = []
    for seen in every:
        known = tasks.setdefault(text(seen.detail.get("taskArn")), _Known())
        version = seen.version
        state = str(version) if version >= 0 else canonical(seen.detail)
        if state in known.states or (known.ended and seen.ended):
            duplicates.append(seen)
        elif known.ended or -1 < version < known.highest:
            late.append(seen)
        known.states.add(state)
        known.highest = max(known.highest, version)
        known.ended = known.ended or seen.ended
    return duplicates, late


def instances_of(evidence: Evidence) -> dict[str, str]:
    """Container instance ARN to EC2 instance id, from events and describe answers."""
    found: dict[str, str] = {}
    value = evidence.value
    items: list[Any] = [event.get("detail") for _, event in deliveries(value)]
    if isinstance(value, dict):
        items += sequence(value.get("containerInstances"))
    for item in map(mapping, items):
        arn, instance = text(item.get("containerInstanceArn")), text(item.get("ec2InstanceId"))
        if arn and instance:
            found[arn] = instance
    return found


def spot_warnings(evidence: Evidence) -> set[str]:
    """EC2 instance ids for which a Spot interruption warning was delivered."""
    return {
        text(mapping(event.get("detail")).get("instance-id"))
        for _, event in deliveries(evidence.value)
        if "Spot Instance Interruption" in text(event.get("detail-type"))
    } - {""}
