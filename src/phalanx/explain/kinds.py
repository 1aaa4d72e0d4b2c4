"""What a file is, told by what is in it and never by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from phalanx.explain.model import Path
from phalanx.explain.shapes import mapping, member, objects, sequence

DELIVERIES = "events"
TASKS = "tasks"
SERVICE_EVENTS = "service events"
INSTANCES = "container instances"
ACTIVITIES = "scaling activities"
BATCH = "batch jobs"
LISTING = "checkpoint listing"
SITUATION = "situation"
JOB_ONLY = "job"
INTENT = "intent"
UNKNOWN = "unknown"

READS = (
    "ECS task events, describe-tasks, service events, container instances, scaling activities, "
    "Batch jobs, checkpoint listings, launch plans, incidents, a phalanx root or evidence folder, "
    "and plain logs"
)
"""What `explain` reads, for messages."""

_INTENT_KEYS = (
    "containerDefinitions",
    "taskDefinition",
    "jobDefinitionName",
    "jobDefinition",
    "Resources",
    "AWSTemplateFormatVersion",
    "planned_values",
    "resource_changes",
    "services",
    "requiresCompatibilities",
    "apiVersion",
)
_JOB_FILE = re.compile(
    r"^(?:kind|name|command|launcher|nodes|ranks_per_node|total_steps|checkpoint|image|target):",
    re.MULTILINE,
)
_JOB_FILE_WORDS = 3
_TEXT_INTENTS = re.compile(
    r"^(?:resource|module|variable|provider|data|output)[ \t]+\"[^\"\n]*\""
    r"(?:[ \t]+\"[^\"\n]*\")?[ \t]*\{"
    r"|^(?:terraform|locals)[ \t]*\{|^AWSTemplateFormatVersion\b|^(?:Resources|services):[ \t]*$",
    re.MULTILINE,
)
_INTENT_ENDS = (".tf", ".hcl", ".tfvars", ".yaml", ".yml", ".toml")


def recognise(value: Any) -> str:
    """The kind of a JSON value."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict):
        return UNKNOWN
    return next((kind for kind, test in _TESTS if test(value)), UNKNOWN)


def is_intent_text(text: str, file: str) -> bool:
    """Whether a text that is not JSON says what should run, and so is for `lint`."""
    if file.endswith(_INTENT_ENDS) or _TEXT_INTENTS.search(text[:200_000]):
        return True
    return len(_JOB_FILE.findall(text[:20_000])) >= _JOB_FILE_WORDS


def is_event(value: Any) -> bool:
    """Whether a value is one EventBridge event, or a delivery that holds one."""
    event = member(value, "event") if isinstance(member(value, "event"), dict) else value
    return isinstance(event, dict) and isinstance(event.get("detail"), dict)


def is_task(value: Any) -> bool:
    """Whether a value is one task of a describe answer."""
    return isinstance(value, dict) and (
        "taskArn" in value or ("lastStatus" in value and "containers" in value)
    )


def _of_list(value: list[Any]) -> str:
    items = [item for item in value if isinstance(item, dict)]
    tests = (
        (DELIVERIES, is_event),
        (TASKS, is_task),
        (INSTANCES, lambda item: "registeredResources" in item),
        (ACTIVITIES, lambda item: "StatusCode" in item or "AutoScalingGroupName" in item),
        (LISTING, lambda item: "path" in item and "size" in item),
        (BATCH, lambda item: "jobId" in item and "status" in item),
        (SERVICE_EVENTS, lambda item: "createdAt" in item and "message" in item),
    )
    return next((kind for kind, test in tests if any(map(test, items))), UNKNOWN)


def _has_list(value: dict[str, Any], key: str) -> bool:
    return isinstance(value.get(key), list)


def _any(value: dict[str, Any], key: str, *names: str) -> bool:
    return any(name in item for _, item in objects(value.get(key)) for name in names)


def _is_batch(value: dict[str, Any]) -> bool:
    return _has_list(value, "jobs") and _any(value, "jobs", "jobId", "jobName", "jobDefinition")


def _is_jobs_of_ours(value: dict[str, Any]) -> bool:
    jobs: Iterable[Any] = [value.get("job"), *sequence(value.get("jobs"))]
    return any("ranks" in mapping(job) or "controller_intents" in mapping(job) for job in jobs)


def _is_described_service(value: dict[str, Any]) -> bool:
    return _has_list(value, "services") and _any(
        value, "services", "events", "serviceArn", "deployments"
    )


def _is_situation(value: dict[str, Any]) -> bool:
    kind = value.get("kind")
    if isinstance(kind, str) and re.search(r"launch|plan|incident|timeline|situation", kind, re.I):
        return True
    return "compute" in value and ("instance_type" in value or "requirements" in value)


def _is_service_events(value: dict[str, Any]) -> bool:
    return _has_list(value, "events") and (_any(value, "events", "message") or not value["events"])


_TESTS = (
    (DELIVERIES, lambda v: _has_list(v, "deliveries")),
    (DELIVERIES, lambda v: _has_list(v, "Messages")),
    (DELIVERIES, lambda v: is_event(v) and ("source" in v or "detail-type" in v)),
    (DELIVERIES, lambda v: _has_list(v, "events") and any(map(is_event, v["events"]))),
    (TASKS, lambda v: _has_list(v, "tasks") and (not v["tasks"] or any(map(is_task, v["tasks"])))),
    (TASKS, lambda v: is_task(v)),
    (INSTANCES, lambda v: _has_list(v, "containerInstances")),
    (INSTANCES, lambda v: "registeredResources" in v),
    (ACTIVITIES, lambda v: _has_list(v, "Activities")),
    (BATCH, _is_batch),
    (BATCH, lambda v: "jobId" in v and "status" in v),
    (LISTING, lambda v: _has_list(v, "entries")),
    (LISTING, lambda v: _has_list(v, "Contents")),
    (SITUATION, _is_situation),
    (SERVICE_EVENTS, _is_described_service),
    (SERVICE_EVENTS, _is_service_events),
    (TASKS, lambda v: _has_list(v, "failures") and _any(v, "failures", "reason")),
    (JOB_ONLY, _is_jobs_of_ours),
    (INTENT, lambda v: any(key in v for key in _INTENT_KEYS)),
)


def deliveries(value: Any) -> list[tuple[Path, dict[str, Any]]]:
    """(path, event) of every delivery, in the order given."""
    key, items = "", value
    if isinstance(value, dict):
        key = next((k for k in ("deliveries", "Messages", "events") if _has_list(value, k)), "")
        items = value[key] if key else [value]
    start: Path = (key,) if key else ()
    listed = key or isinstance(value, list)
    found: list[tuple[Path, dict[str, Any]]] = []
    for index, item in objects(items):
        path = (*start, index) if listed else ()
        if isinstance(item.get("event"), dict):
            found.append(((*path, "event"), item["event"]))
        elif isinstance(item.get("Body"), str):
            found.append(((*path, "Body"), _body(item["Body"])))
        else:
            found.append((path, item))
    return found


def _body(text: str) -> dict[str, Any]:
    import json

    try:
        body = mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    inner = body.get("Message")
    return _body(inner) if isinstance(inner, str) and "detail" not in body else body
