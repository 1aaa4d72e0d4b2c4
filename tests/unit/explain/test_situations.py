"""Launch plans and incidents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input


def found(value: dict[str, Any]) -> list[tuple[str, str, str]]:
    given = explain([Input("s.json", json.dumps(value).encode())]).plain()
    return [(f["severity"], f["slug"], f["where"]) for f in given["findings"]]


def plan(**more: Any) -> dict[str, Any]:
    return {
        "kind": "launch-plan",
        "compute": "MANAGED_INSTANCES",
        "instance_type": "p5.48xlarge",
        **more,
    }


LONG = ("mi-long-run", "expected_runtime_hours")


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (plan(expected_runtime_hours=336, checkpoint={"auto_resume": False}), []),
        (plan(expected_runtime_hours=900, checkpoint={"auto_resume": True}), [("warning", *LONG)]),
        (
            plan(
                expected_runtime_hours=900,
                checkpoint={"auto_resume": True},
                maintenance_window="Sun 02:00",
            ),
            [("info", *LONG)],
        ),
        (
            plan(expected_runtime_days=30),
            [
                ("error", "mi-long-run", "expected_runtime_days"),
                ("error", "no-auto-resume", "checkpoint.auto_resume"),
            ],
        ),
        (plan(compute="EC2", expected_runtime_hours=900, checkpoint={"auto_resume": False}), []),
        (plan(requirements={"guardduty_runtime_monitoring": False}), []),
        (plan(requirements={"guardduty_malware_protection": True}), []),
        (plan(compute="EC2", requirements={"guardduty_runtime_monitoring": True}), []),
        (
            plan(requirements={"guardduty_runtime_monitoring": "required"}),
            [("error", "guardduty-not-on-mi", "requirements.guardduty_runtime_monitoring")],
        ),
        (
            plan(requirements=["pci", "guardduty_runtime_monitoring"]),
            [("error", "guardduty-not-on-mi", "requirements[1]")],
        ),
        (plan(compute="FARGATE", gpus_per_node=1), [("error", "fargate-gpu", "compute")]),
        (
            plan(compute="EC2", capacity="SPOT", checkpoint={"interval_minutes": 240}),
            [
                ("error", "no-auto-resume", "checkpoint.auto_resume"),
                ("warning", "checkpoint-interval-too-long-for-spot", "checkpoint.interval_minutes"),
            ],
        ),
        (
            plan(compute="EC2", checkpoint={"target": "/tmp/ckpt", "auto_resume": True}),
            [("error", "checkpoint-on-instance", "checkpoint.target")],
        ),
        (
            plan(compute="EC2", capacity="CAPACITY_BLOCK", capacity_block={"duration_hours": 24},
                 expected_runtime_hours=30),
            [("error", "capacity-block-too-short", "expected_runtime_hours")],
        ),
    ],
)  # fmt: skip
def test_plans(value: dict[str, Any], right: list[tuple[str, str, str]]) -> None:
    assert sorted(found(value)) == sorted(right)


@pytest.mark.parametrize(
    ("hours", "stops"), [(840, "2 or more"), (400, "1 or more"), (672, "1"), (2000, "5 or more")]
)
def test_number_of_forced_stops(hours: int, stops: str) -> None:
    value = json.dumps(plan(expected_runtime_hours=hours)).encode()
    messages = [f.message for f in explain([Input("s.json", value)]).findings]
    assert any(f"expect {stops} forced stop" in message for message in messages)


def test_an_incident_names_what_was_first_by_kind() -> None:
    value = {
        "kind": "incident",
        "timeline": [
            {"at": "2026-11-01T10:00:00Z", "message": "rank 3: Connection closed by peer"},
            {"at": "2026-11-01T10:00:05Z", "message": "kernel: Out of memory: Killed process 7"},
        ],
    }
    assert ("info", "first-cause", "timeline[1]") in found(value)


def test_an_incident_of_a_replaced_host() -> None:
    value = {
        "kind": "incident",
        "compute": "MANAGED_INSTANCES",
        "timeline": [
            {"at": "2026-11-01T10:00:00Z", "event": "job started"},
            {
                "at": "2026-11-15T12:00:00Z",
                "stop_code": "TerminationNotice",
                "stopped_reason": "Task stopped during instance draining",
            },
        ],
    }
    slugs = {slug for _, slug, _ in found(value)}
    assert {"mi-host-replaced", "first-cause"} <= slugs
