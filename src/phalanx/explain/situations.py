"""Launch plans and incidents in neutral words: what will stop the run, or what stopped it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from phalanx.explain import pages
from phalanx.explain.model import ERROR, INFO, WARNING, Finding, Path, Words
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import mapping, member, number, objects, sequence, text, truth
from phalanx.explain.task_findings import at

MI_DRAIN_HOURS = 14 * 24
"""Age at which a Managed Instances host begins to be replaced."""
MI_END_HOURS = 21 * 24
"""Age at which it is terminated at the latest."""
SPOT_INTERVAL_MINUTES = 30
"""Longest distance of checkpoints that the facts recommend on Spot."""

MI_LONG = Words(
    "SIT001",
    "mi-long-run",
    ERROR,
    "the run is longer than a Managed Instances host lives",
    "A Managed Instances host begins to be replaced 14 days after its launch and is gone by day "
    "21. A task that runs on it is stopped then, whatever it does.",
    "Test saving and resuming before the start and set a maintenance window, or run on EC2 "
    "capacity of your own (a scaling group, or a Capacity Block for a fixed time).",
    (pages.MI_PATCHING, pages.MI_DRAIN),
)
NO_RESUME = Words(
    "SIT002",
    "no-auto-resume",
    ERROR,
    "nothing resumes the run after a stop that is sure to come",
    "ECS never starts a standalone task again, and a program that does not look for its last "
    "checkpoint begins at step 0.",
    "Resume automatically from the newest complete checkpoint, let something outside the task "
    "relaunch it, and rehearse one stop before the long run.",
    (pages.STANDALONE, pages.MI_PATCHING),
)
GUARDDUTY = Words(
    "SIT003",
    "guardduty-not-on-mi",
    ERROR,
    "GuardDuty Runtime Monitoring does not cover Managed Instances",
    "The plan requires runtime monitoring; on these hosts it sees nothing. GuardDuty's malware "
    "protection of the volumes does cover them.",
    "Run this workload on EC2 capacity, where runtime monitoring is supported, or bring another "
    "runtime agent as a sidecar or a managed daemon.",
    (pages.GUARDDUTY_MI,),
)
FARGATE_GPU = Words(
    "SIT004",
    "fargate-gpu",
    ERROR,
    "Fargate has no GPU and no other accelerator",
    "No Fargate size has an accelerator, so no other size helps.",
    "Run the accelerated part on EC2 capacity or Managed Instances; the rest may stay on Fargate.",
    (pages.FARGATE, pages.GPU),
)
SPOT_SERVING = Words(
    "SIT005",
    "sla-inference-on-spot",
    WARNING,
    "inference with a service level runs on Spot",
    "Spot capacity is taken back with two minutes' notice.",
    "Serve from On-Demand or reserved capacity; keep Spot for what may wait.",
    (pages.SPOT_ADVICE,),
)
SPOT_INTERVAL = Words(
    "SIT006",
    "checkpoint-interval-too-long-for-spot",
    WARNING,
    "checkpoints are far apart for Spot capacity",
    "An interruption loses, on average, half the time between two checkpoints on every host.",
    "Save every 15 to 30 minutes, and once more within the two-minute notice.",
    (pages.SPOT_STOP,),
)
LOCAL_TARGET = Words(
    "SIT007",
    "checkpoint-on-instance",
    ERROR,
    "checkpoints are kept on the instance, which goes away with it",
    "What ends the run also ends the disk.",
    "Save to S3 or a shared file system.",
    (pages.SPOT_STOP,),
)
BLOCK_TOO_SHORT = Words(
    "SIT008",
    "capacity-block-too-short",
    ERROR,
    "the run is longer than its Capacity Block",
    "Instances of a block are terminated beginning 30 minutes before its end.",
    "Reserve a longer block, or plan to save, stop and resume in the next one.",
    (pages.BLOCKS,),
)

_LOCAL = re.compile(
    r"^(?:file://|/tmp\b|/var/tmp|/scratch|/local|/mnt/(?:nvme|local|ssd)|/root|/opt)"
)
_HOURS = (
    ("expected_runtime_hours", 1.0),
    ("runtime_hours", 1.0),
    ("duration_hours", 1.0),
    ("expected_runtime_days", 24.0),
    ("runtime_days", 24.0),
    ("duration_days", 24.0),
    ("expected_runtime_minutes", 1 / 60),
    ("expected_runtime", 1.0),
    ("runtime", 1.0),
)
_UNITS = {"h": 1.0, "hour": 1.0, "d": 24.0, "day": 24.0, "w": 168.0, "week": 168.0, "m": 1 / 60}
_BLOCK = (
    (("capacity_block", "duration_hours"), 1.0),
    (("capacity_block", "hours"), 1.0),
    (("capacity_block_hours",), 1.0),
    (("capacity_block", "duration_days"), 24.0),
    (("capacity_block_days",), 24.0),
)


def is_plan(value: Any) -> bool:
    """Whether a situation is a plan rather than something that happened."""
    body = mapping(value)
    kind = text(body.get("kind")).lower()
    if "incident" in kind or "timeline" in body:
        return False
    return "plan" in kind or "compute" in body


def of_plan(evidence: Evidence) -> Iterable[Finding]:
    """Findings about a launch plan."""
    plan = mapping(evidence.value)
    hours_at, hours = _runtime(plan)
    compute = _word(plan.get("compute"))
    is_mi = compute in ("MANAGEDINSTANCES", "MI", "ECSMANAGEDINSTANCES")
    if compute.startswith("FARGATE") and _accelerated(plan):
        yield at(evidence, FARGATE_GPU, ("compute",))
    too_long = is_mi and hours > MI_DRAIN_HOURS
    if too_long:
        yield _long_run(evidence, plan, hours_at, hours)
    spot = "SPOT" in _word(plan.get("capacity"))
    stops = too_long or (spot and not _serves(plan) and "checkpoint" in plan)
    if stops and not _resumes(plan):
        yield at(evidence, NO_RESUME, ("checkpoint", "auto_resume"))
    yield from _guardduty(evidence, plan, is_mi)
    yield from _of_spot(evidence, plan, spot)
    yield from _of_target(evidence, plan)
    yield from _of_block(evidence, plan, hours_at, hours)


def _long_run(evidence: Evidence, plan: dict[str, Any], path: Path, hours: float) -> Finding:
    stops = max(1, math.ceil(hours / MI_DRAIN_HOURS) - 1)
    least = max(0, math.ceil(hours / MI_END_HOURS) - 1)
    window = bool(plan.get("maintenance_window"))
    resumes = _resumes(plan)
    words = MI_LONG
    if resumes:
        words = replace(MI_LONG, severity=INFO if window else WARNING)
    finding = at(evidence, words, path)
    span = f"{stops}" if stops == least else f"{stops} or more"
    every = f"expect {span} forced stop{'s' if stops > 1 else ''} of each host's tasks"
    return replace(
        finding,
        message=f"{MI_LONG.message}: {hours:g} hours are {hours / 24:.1f} days; {every}, "
        "the first between day 14 and day 21",
    )


def _resumes(plan: dict[str, Any]) -> bool:
    found = truth(member(plan, "checkpoint", "auto_resume"))
    if found is None:
        found = truth(plan.get("auto_resume"))
    return bool(found)


def _word(value: Any) -> str:
    return re.sub(r"[\s_-]", "", text(value)).upper()


def _serves(plan: dict[str, Any]) -> bool:
    return bool(re.search(r"infer|serv", text(plan.get("workload")), re.IGNORECASE))


def _accelerated(plan: dict[str, Any]) -> bool:
    if any((number(plan.get(key)) or 0) > 0 for key in ("gpus_per_node", "gpus", "gpu_count")):
        return True
    kind = text(plan.get("instance_type"))
    return bool(re.match(r"(?:p\d|g[3-9]|gr\d|inf\d|trn\d)", kind)) or bool(plan.get("accelerator"))


def _runtime(plan: dict[str, Any]) -> tuple[Path, float]:
    """(path, hours); 0 hours when the plan does not say."""
    for key, factor in _HOURS:
        value = plan.get(key)
        amount = number(value)
        if amount is not None:
            return (key,), amount * factor
        match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]+?)s?\s*", text(value).lower())
        if match and match[2] in _UNITS:
            return (key,), float(match[1]) * _UNITS[match[2]]
    return ("expected_runtime_hours",), 0.0


def _guardduty(evidence: Evidence, plan: dict[str, Any], is_mi: bool) -> Iterable[Finding]:
    if not is_mi:
        return
    for start in ("requirements", "security"):
        needs = plan.get(start)
        for key, value in mapping(needs).items():
            low = key.lower()
            inner = truth(mapping(value).get("runtime_monitoring"))
            if "guardduty" in low and inner:
                yield at(evidence, GUARDDUTY, (start, key, "runtime_monitoring"))
            elif "guardduty" in low and "malware" not in low and truth(value):
                yield at(evidence, GUARDDUTY, (start, key))
        for index, item in enumerate(sequence(needs)):
            if re.search(r"guardduty.*runtime", text(item), re.IGNORECASE):
                yield at(evidence, GUARDDUTY, (start, index))


def _of_spot(evidence: Evidence, plan: dict[str, Any], spot: bool) -> Iterable[Finding]:
    if not spot:
        return
    needs = mapping(plan.get("requirements"))
    if _serves(plan) and any(k for k, v in needs.items() if re.search(r"sla|slo|latency", k) and v):
        yield at(evidence, SPOT_SERVING, ("capacity",))
    minutes = number(member(plan, "checkpoint", "interval_minutes"))
    if minutes is not None and minutes > SPOT_INTERVAL_MINUTES and not _serves(plan):
        yield at(evidence, SPOT_INTERVAL, ("checkpoint", "interval_minutes"), f"{minutes:g} min")


def _of_target(evidence: Evidence, plan: dict[str, Any]) -> Iterable[Finding]:
    target = text(member(plan, "checkpoint", "target"))
    if _LOCAL.match(target) and text(plan.get("compute")):
        yield at(evidence, LOCAL_TARGET, ("checkpoint", "target"), target)


def _of_block(
    evidence: Evidence, plan: dict[str, Any], hours_at: Path, hours: float
) -> Iterable[Finding]:
    for path, factor in _BLOCK:
        block = number(member(plan, *path))
        if block is not None and hours > block * factor - 0.5:
            said = f"{hours:g} h planned, {block * factor:g} h reserved"
            yield at(evidence, BLOCK_TOO_SHORT, hours_at, said)
            return


def timeline(value: Any) -> list[tuple[Path, dict[str, Any]]]:
    """The entries of an incident, in the order given."""
    body = mapping(value)
    for key in ("timeline", "events", "entries", "incident", "facts"):
        if isinstance(body.get(key), list):
            return [((key, index), item) for index, item in objects(body[key])]
    return []
