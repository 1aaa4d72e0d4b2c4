"""Service events, scaling activities and container instances: why nothing runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from phalanx.explain import pages
from phalanx.explain.model import ERROR, INFO, WARNING, Finding, Path, Words
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import mapping, number, objects, sequence, text
from phalanx.explain.task_findings import at
from phalanx.explain.task_words import UNHEALTHY
from phalanx.facts.instances import instance

SPOT_QUOTA_ZERO = Words(
    "CAP001",
    "spot-quota-zero",
    ERROR,
    "Spot instances cannot be launched: the Spot quota of this family is zero or used up",
    "The group asks for Spot. Spot has a limit of its own for each family of accelerated types, it "
    "starts at zero in many accounts, and the limit for other purchase options does not count.",
    "Ask for a higher Spot limit of this family ({quota}) in Service Quotas, in this Region and "
    "account, or let a group that does not use Spot serve this capacity provider.",
    (pages.SPOT_LIMITS, pages.VCPU_LIMITS),
)
SPOT_QUOTA_USED = Words(
    "CAP002",
    "spot-quota-exceeded",
    ERROR,
    "Spot instances cannot be launched: the Spot quota of this family is used up",
    SPOT_QUOTA_ZERO.why,
    "End Spot instances that are not needed, or ask for a higher Spot limit ({quota}).",
    (pages.SPOT_LIMITS,),
)
VCPU_QUOTA = Words(
    "CAP003",
    "on-demand-quota-exceeded",
    ERROR,
    "the vCPU limit for running instances of this family is too low",
    "Accelerated families have vCPU limits of their own, and they start at zero in many accounts.",
    "Ask for a higher limit of this family in Service Quotas, in this Region and account.",
    (pages.VCPU_LIMITS,),
)
NO_CAPACITY = Words(
    "CAP004",
    "instance-capacity-unavailable",
    WARNING,
    "EC2 has no capacity of this type in the zone just now",
    "",
    "Allow more zones (for single-node work), another type in a group of its own, or reserve: a "
    "Capacity Block or an On-Demand Capacity Reservation.",
    (pages.SPOT_ADVICE, pages.BLOCKS),
)
LAUNCH_REFUSED = Words(
    "CAP005",
    "instance-launch-refused",
    ERROR,
    "EC2 refused the launch",
    "The launch template, the machine image, a role or a key was refused; waiting changes nothing.",
    "Correct what the message names.",
    (pages.CAPACITY_PROVIDERS,),
)
LAUNCH_FAILED = Words(
    "CAP006",
    "instance-launch-failed",
    WARNING,
    "a scaling activity failed, for a reason that is not known here",
    "",
    "Read the whole StatusMessage.",
    (pages.CAPACITY_PROVIDERS,),
)
NOT_PLACED = Words(
    "CAP010",
    "service-cannot-place",
    WARNING,
    "the service could not place a task",
    "No registered instance meets the task's needs, or there is none.",
    "Look at the container instances (registered and remaining resources), then at the scaling "
    "activities of the group behind the capacity provider.",
    (pages.SCALING,),
)
IMPAIRED_START = Words(
    "CAP012",
    "service-start-impaired",
    WARNING,
    "the service cannot start its tasks again and again",
    "",
    "Look at the stopped tasks' reasons (describe-tasks, within about an hour).",
    (pages.STOP_CODES,),
)
NO_GPU = Words(
    "INS001",
    "instance-registered-without-gpu",
    ERROR,
    "a GPU instance is registered with no GPU",
    "The agent reads the GPUs once, when it starts. If the driver was not ready then, or GPU "
    "support was off, the instance registers without GPUs, and tasks that ask for one never fit.",
    "Use the ECS GPU-optimized AMI, or start the agent after the driver is up and with "
    "ECS_ENABLE_GPU_SUPPORT=true. Restart the agent to register anew, better replace the "
    "instance.{fractional}",
    (pages.GPU, pages.AGENT_CONFIG),
)
FEWER_GPUS = Words(
    "INS004",
    "instance-registered-with-fewer-gpus",
    WARNING,
    "a GPU instance is registered with fewer GPUs than its type has",
    "The agent reads the GPUs once, when it starts. A GPU that was not there then (fallen off the "
    "bus, held back by a fault or an option) is not offered, and a task that asks for all of them "
    "never fits.",
    "Look at `nvidia-smi` and the kernel log of the host for an Xid, then replace the instance.",
    (pages.GPU, pages.XID),
)
DISCONNECTED = Words(
    "INS002",
    "agent-disconnected",
    INFO,
    "the instance's agent is not connected",
    "Agents reconnect a few times an hour; a long silence means that the host or its network is "
    "gone, and what its tasks do is not known.",
    "",
    (pages.TASK_EVENTS,),
)
IMPAIRED = Words(
    "INS003",
    "instance-impaired",
    WARNING,
    "the instance reports an impaired health check",
    "",
    "Drain and replace it; an impaired ACCELERATED_COMPUTE check means that its GPU is not usable.",
    (pages.HEALTH,),
)

_GPU_TYPE = re.compile(r"^(?:p\d\w*|g[3-9]\w*|gr\d\w*)(?:-b\d+)?\.", re.IGNORECASE)
_FRACTIONAL = re.compile(r"^gr?6f\.", re.IGNORECASE)
_NOT_NVIDIA = re.compile(r"^g4ad\.", re.IGNORECASE)
_SPOT_MAX = re.compile(r"max ?spot ?instance ?count ?exceeded", re.IGNORECASE)
_VCPU = re.compile(r"vcpu (?:capacity|limit)|VcpuLimitExceeded|InstanceLimitExceeded", re.I)
_NONE_LEFT = re.compile(
    r"Insufficient\w*Capacity|sufficient .*capacity|no spot capacity|UnfulfillableCapacity"
    r"|capacity-not-available|SpotMaxPriceTooLow",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"not authorized|UnauthorizedOperation|AccessDenied|does not exist|Invalid\w*|not supported"
    r"|is not valid|Unsupported|encoded authorization",
    re.IGNORECASE,
)


def of_activities(evidence: Evidence, quotas: dict[str, float]) -> Iterable[Finding]:
    """Findings about failed scaling activities; one for each message, at its first place."""
    value = evidence.value
    key: Path = () if isinstance(value, list) else ("Activities",)
    items = value if isinstance(value, list) else mapping(value).get("Activities")
    told: set[str] = set()
    for index, item in objects(items):
        message = text(item.get("StatusMessage")) or text(item.get("Description"))
        if text(item.get("StatusCode")).lower() not in ("failed", "cancelled"):
            continue
        if message in told:
            continue
        told.add(message)
        name = "StatusMessage" if item.get("StatusMessage") else "Description"
        words = _activity_words(message, text(item.get("AutoScalingGroupName")), quotas)
        yield at(evidence, words, (*key, index, name), message)


def _activity_words(message: str, group: str, quotas: dict[str, float]) -> Words:
    if _SPOT_MAX.search(message):
        return _spot_words(quotas)
    for pattern, words in (
        (_VCPU, VCPU_QUOTA),
        (_NONE_LEFT, NO_CAPACITY),
        (_REFUSED, LAUNCH_REFUSED),
    ):
        if pattern.search(message):
            return words
    return LAUNCH_FAILED


def _spot_words(quotas: dict[str, float]) -> Words:
    """Names the quota: one that is zero, else the only Spot one, else in general."""
    spot = {name: limit for name, limit in quotas.items() if "spot" in name.lower()}
    zero = [name for name, limit in spot.items() if limit == 0]
    words = SPOT_QUOTA_USED if spot and not zero else SPOT_QUOTA_ZERO
    names = zero or list(spot) or ["for example `All G and VT Spot Instance Requests`"]
    filled = _filled(words, quota=" or ".join(names))
    if not zero:
        return filled
    said = f"Spot instances cannot be launched: the Spot quota {' and '.join(zero)} is 0"
    return replace(filled, message=said)


def _filled(words: Words, **texts: str) -> Words:
    return replace(words, fix=words.fix.format(**texts))


def quotas_in(evidence: Evidence) -> dict[str, float]:
    """Quotas that a file gives as context: name to limit."""
    value = mapping(evidence.value)
    given = mapping(mapping(value.get("context")).get("quotas")) or mapping(value.get("quotas"))
    found = {name: number(limit) for name, limit in given.items()}
    for _, item in objects(value.get("Quotas")):
        found[text(item.get("QuotaName"))] = number(item.get("Value"))
    return {name: limit for name, limit in found.items() if name and limit is not None}


def of_service_events(evidence: Evidence) -> Iterable[Finding]:
    """Findings about service events; one for each kind, at its first place."""
    told: set[str] = set()
    for path, message in _service_messages(evidence.value):
        words = _service_words(message)
        if words is not None and words.slug not in told:
            told.add(words.slug)
            yield at(evidence, words, path, message)


def _service_messages(value: Any) -> Iterable[tuple[Path, str]]:
    if isinstance(value, list):
        for index, item in objects(value):
            yield (index, "message"), text(item.get("message"))
        return
    for index, item in objects(mapping(value).get("events")):
        yield ("events", index, "message"), text(item.get("message"))
    for number_, service in objects(mapping(value).get("services")):
        for index, item in objects(service.get("events")):
            yield ("services", number_, "events", index, "message"), text(item.get("message"))


def _service_words(message: str) -> Words | None:
    low = message.lower()
    if "unable to place a task" in low:
        return NOT_PLACED
    if "unable to consistently start" in low or "deployment failed" in low:
        return IMPAIRED_START
    if "health check" in low and ("fail" in low or "unhealthy" in low):
        return UNHEALTHY
    if "unhealthy in" in low:
        return UNHEALTHY
    return None


def of_instances(evidence: Evidence) -> Iterable[Finding]:
    """Findings about container instances."""
    value = evidence.value
    key: Path = ("containerInstances",) if "containerInstances" in mapping(value) else ()
    items = value if isinstance(value, list) else mapping(value).get("containerInstances", [value])
    for index, item in objects(items):
        path: Path = (*key, index) if key or isinstance(value, list) else ()
        yield from _of_instance(evidence, path, item)


def _of_instance(evidence: Evidence, path: Path, item: dict[str, Any]) -> Iterable[Finding]:
    kind = _instance_type(item)
    name = text(item.get("ec2InstanceId")) or text(item.get("containerInstanceArn"))
    there = None if text(item.get("status")).upper() == "INACTIVE" else _gpus(item, kind)
    row = instance(kind)
    if there and row is not None and there < row.gpus:
        said = f"{there} of {row.gpus}, {kind} {name}".strip()
        yield at(evidence, FEWER_GPUS, (*path, "registeredResources"), said)
    if there == 0:
        more = " Fractional types need the driver flavour made for them." * bool(
            _FRACTIONAL.match(kind)
        )
        words = _filled(NO_GPU, fractional=more)
        yield at(evidence, words, (*path, "registeredResources"), f"{kind} {name}".strip())
    if item.get("agentConnected") is False:
        yield at(evidence, DISCONNECTED, (*path, "agentConnected"))
    if text(mapping(item.get("healthStatus")).get("overallStatus")) == "IMPAIRED":
        yield at(evidence, IMPAIRED, (*path, "healthStatus"))


def _instance_type(item: dict[str, Any]) -> str:
    for _, attribute in objects(item.get("attributes")):
        if text(attribute.get("name")) == "ecs.instance-type":
            return text(attribute.get("value")).lower()
    return text(item.get("instanceType")).lower()


def _gpus(item: dict[str, Any], kind: str) -> float | None:
    """Number of registered GPUs; None when the type has none of NVIDIA's or nothing tells."""
    if not _GPU_TYPE.match(kind) or _NOT_NVIDIA.match(kind):
        return None
    if not isinstance(item.get("registeredResources"), list):
        return None
    for _, resource in objects(item["registeredResources"]):
        if text(resource.get("name")).upper() == "GPU":
            listed = len(sequence(resource.get("stringSetValue")))
            counted = number(resource.get("integerValue")) or number(resource.get("doubleValue"))
            return listed or counted or 0
    return 0
