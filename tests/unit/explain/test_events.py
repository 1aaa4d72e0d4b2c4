"""Events and describe answers: other inputs of the kinds that the cases stand for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

ARN = "arn:aws:ecs:eu-west-1:999988887777:task/blue/{}"


def event(task: str, version: int | None, status: str = "STOPPED", **more: Any) -> dict[str, Any]:
    """One delivery; `code` is the exit code, `why` the container's reason."""
    container: dict[str, Any] = {"name": "main", "lastStatus": status}
    if more.get("code") is not None:
        container["exitCode"] = more["code"]
    if more.get("why"):
        container["reason"] = more["why"]
    detail: dict[str, Any] = {
        "taskArn": ARN.format(task),
        "lastStatus": status,
        "containers": [container],
        "stopCode": more.get("stop", "EssentialContainerExited" if status == "STOPPED" else None),
        "stoppedReason": more.get("reason", ""),
        "containerInstanceArn": more.get("on", "ci"),
    }
    if version is not None:
        detail["version"] = version
    at = more.get("at", "2026-11-21T12:00:00Z")
    name = f"{task}-{version}"
    return {"at": at, "event": {"id": name, "time": at, "source": "aws.ecs", "detail": detail}}


def job(*tasks: str, **more: Any) -> dict[str, Any]:
    ranks = [{"rank": n, "taskArn": ARN.format(t)} for n, t in enumerate(tasks)]
    return {
        "job_id": "exp",
        "world_size": len(tasks),
        "attempt": 1,
        "max_attempts": 3,
        "ranks": ranks,
        **more,
    }


def intent(task: str, reason: str = "gang-stop", at: str = "2026-11-21T12:00:00Z") -> Any:
    return {"at": at, "action": "StopTask", "taskArn": ARN.format(task), "reason": reason}


def answer(*values: Any) -> dict[str, Any]:
    files = [Input(f"{n}.json", json.dumps(v).encode()) for n, v in enumerate(values)]
    return explain(files).plain()


def classes(given: dict[str, Any]) -> dict[str, Any]:
    return {t["task"]: t["class"] for t in given["tasks"]}


def slugs(given: dict[str, Any]) -> set[str]:
    return {f["slug"] for f in given["findings"]}


def test_an_older_state_that_arrives_late_changes_nothing() -> None:
    value = {
        "job": job("a"),
        "deliveries": [event("a", 9, code=1), event("a", 4, "RUNNING"), event("a", 9, code=1)],
    }
    given = answer(value)
    assert (given["decision"]["next"], given["decision"]["relaunch"]) == ("restart", 1)
    where = {f["slug"]: f["where"] for f in given["findings"]}
    assert where["duplicate-ignored"] == "deliveries[2]"
    assert where["late-delivery-ignored"] == "deliveries[1]"


def test_desired_stopped_is_not_stopped() -> None:
    look = event("a", 5, "RUNNING")
    look["event"]["detail"]["desiredStatus"] = "STOPPED"
    given = answer({"job": job("a"), "deliveries": [look]})
    assert given["decision"]["next"] == "none"
    assert given["tasks"][0]["state"] == "stopping"


def test_an_unrecorded_stop_is_a_persons_even_beside_recorded_ones() -> None:
    value = {
        "job": job("a", "b", "c", controller_intents=[intent("a")]),
        "deliveries": [
            event("c", 3, code=1),
            event("a", 3, code=143, stop="UserInitiated", reason="gang-stop"),
            event("b", 3, code=143, stop="UserInitiated", reason="by hand"),
        ],
    }
    given = answer(value)
    assert classes(given) == {"a": "StoppedByUs", "b": "StoppedByUser", "c": "NonZeroExit"}
    assert (given["decision"]["next"], given["decision"]["relaunch"]) == ("none", 0)


def test_a_stop_with_another_reason_than_the_recorded_one_is_not_ours() -> None:
    value = {
        "job": job("a", controller_intents=[intent("a", "gang-stop exp attempt 1")]),
        "deliveries": [event("a", 3, code=143, stop="UserInitiated", reason="console")],
    }
    assert classes(answer(value)) == {"a": "StoppedByUser"}


def test_a_stop_before_the_recorded_one_is_not_ours() -> None:
    value = {
        "job": job("a", controller_intents=[intent("a", at="2026-11-21T13:00:00Z")]),
        "deliveries": [event("a", 3, code=143, stop="UserInitiated", reason="gang-stop")],
    }
    assert classes(answer(value)) == {"a": "StoppedByUser"}


def test_the_last_attempt_fails_unless_the_cause_does_not_count() -> None:
    last = job("a", attempt=3)
    crashed = answer({"job": last, "deliveries": [event("a", 3, code=1)]})
    assert (crashed["decision"]["next"], crashed["decision"]["relaunch"]) == ("fail", 0)
    assert crashed["tasks"][0]["action"] == "fail"
    spot = answer({"job": last, "deliveries": [event("a", 3, code=137, stop="SpotInterruption")]})
    assert (spot["decision"]["next"], spot["decision"]["next_attempt"]) == ("restart", 4)


NO_START = "TaskFailedToStart"
OLD_DRIVER = "nvidia-container-cli: requirement error: unsatisfied condition: driver>=560"
DRAINED = "Task stopped during instance draining"


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ({"code": 137}, "Killed"),
        ({"code": 139}, "Killed"),
        ({"code": 137, "why": "OutOfMemoryError: Container killed"}, "OutOfMemory"),
        ({"code": 0}, None),
        ({"code": 2}, "NonZeroExit"),
        ({}, "Unknown"),
        ({"stop": "TerminationNotice", "reason": "Your Spot Task was ..."}, "SpotInterruption"),
        ({"stop": "SomethingNew", "code": 1}, "Unknown"),
        ({"stop": "SomethingNew", "code": 0}, "Unknown"),
        ({"stop": "", "reason": "Host EC2 (instance i-1) terminated."}, "HostLost"),
        ({"stop": "InfrastructureHealth", "code": 137}, "HostLost"),
        ({"stop": "ServiceSchedulerInitiated", "reason": DRAINED}, "HostLost"),
        ({"stop": NO_START, "reason": "CannotPullContainerError: manifest unknown"}, "ImagePull"),
        ({"stop": NO_START, "reason": "something else"}, "Unknown"),
        ({"stop": NO_START, "why": OLD_DRIVER}, "DriverMismatch"),
        ({"code": 1, "why": "CUDA error: system not yet initialized (802)"}, "DriverMismatch"),
        ({"stop": NO_START, "reason": "Capacity is unavailable."}, "CapacityUnavailable"),
    ],
)
def test_class_of_a_stop(given: dict[str, Any], right: str | None) -> None:
    value = {"job": job("a"), "deliveries": [event("a", 3, **given)]}
    assert classes(answer(value)) == {"a": right}


def test_unknown_codes_are_named_and_not_guessed() -> None:
    given = answer({"job": job("a"), "deliveries": [event("a", 3, stop="SomethingNew", code=1)]})
    assert "unknown-stop-code" in slugs(given)
    assert "SomethingNew" in given["decision"]["reason"]


def test_the_first_cause_is_by_kind_before_time() -> None:
    value = {
        "job": job("a", "b"),
        "deliveries": [
            event("a", 3, code=1, at="2026-11-21T12:00:00Z"),
            event("b", 3, code=137, why="OutOfMemoryError: x", at="2026-11-21T12:00:09Z"),
        ],
    }
    given = answer(value)
    assert [t["task"] for t in given["tasks"] if t["first_cause"]] == ["b"]
    assert given["decision"]["next"] == "fail"


def test_a_spot_warning_names_a_lost_host() -> None:
    warning = {
        "event": {
            "detail-type": "EC2 Spot Instance Interruption Warning",
            "source": "aws.ec2",
            "detail": {"instance-id": "i-0abc", "instance-action": "terminate"},
        }
    }
    lost = event("a", 3, stop="", reason="Host EC2 (instance i-0abc) terminated.")
    given = answer({"job": job("a"), "deliveries": [warning, lost]})
    assert classes(given) == {"a": "SpotInterruption"}


def test_a_late_event_of_an_earlier_attempt_changes_nothing() -> None:
    value = {
        "job": job("new", attempt=2),
        "deliveries": [event("new", 2, "RUNNING"), event("old", 7, code=1)],
    }
    given = answer(value)
    assert (given["decision"]["next"], given["decision"]["relaunch"]) == ("none", 0)
    assert "task-of-no-job" in slugs(given)


def test_some_done_and_some_running_waits() -> None:
    value = {"job": job("a", "b"), "deliveries": [event("a", 3, code=0), event("b", 2, "RUNNING")]}
    assert answer(value)["decision"]["next"] == "none"


def test_one_rank_that_was_never_seen_is_no_success() -> None:
    given = answer({"job": job("a", "b"), "deliveries": [event("a", 3, code=0)]})
    assert given["decision"]["next"] == "none"


def test_a_sidecar_that_is_killed_after_success_is_no_failure() -> None:
    look = event("a", 3, code=0)
    look["event"]["detail"]["containers"].insert(0, {"name": "log_router", "exitCode": 137})
    assert answer({"job": job("a"), "deliveries": [look]})["decision"]["next"] == "succeeded"


def test_several_jobs_have_several_decisions() -> None:
    jobs = [job("a"), {**job("b"), "job_id": "other"}]
    value = {"jobs": jobs, "deliveries": [event("a", 3, code=0), event("b", 3, code=1)]}
    given = answer(value)
    assert {d["job"]: d["next"] for d in given["decisions"]} == {
        "exp": "succeeded",
        "other": "restart",
    }


@pytest.mark.parametrize("shape", ["list", "lines", "one", "messages"])
def test_shapes_in_which_events_are_kept(shape: str) -> None:
    events = [event("a", 2, "RUNNING")["event"], event("a", 3, code=1)["event"]]
    lines = "\n".join(map(json.dumps, events)).encode()
    messages = {"Messages": [{"Body": json.dumps(e)} for e in events]}
    data = {
        "list": json.dumps(events).encode(),
        "lines": lines,
        "one": json.dumps(events[1]).encode(),
        "messages": json.dumps(messages).encode(),
    }[shape]
    given = explain([Input("anything", data)]).plain()
    assert classes(given) == {"a": "NonZeroExit"}
    assert given["decision"]["relaunch"] == 1


def test_a_described_task_and_events_are_one_task() -> None:
    described = event("a", 6, code=1)["event"]["detail"]
    given = answer(
        {"job": job("a"), "deliveries": [event("a", 5, "RUNNING")]}, {"tasks": [described]}
    )
    assert classes(given) == {"a": "NonZeroExit"}


def test_a_service_starts_its_tasks_by_itself() -> None:
    task = {**event("a", 5, code=1)["event"]["detail"], "group": "service:web"}
    given = answer({"tasks": [task]})
    assert "decision" not in given
    assert given["tasks"][0]["action"] == "none"


def test_a_half_placed_gang() -> None:
    value = {
        "tasks": [event("a", 1, "PENDING")["event"]["detail"]],
        "failures": [{"arn": "ci", "reason": "RESOURCE:GPU"}, {"arn": "x", "reason": "MISSING"}],
    }
    assert {"placement-failure", "partial-placement", "task-missing"} <= slugs(answer(value))


def test_without_versions_the_end_is_the_end() -> None:
    value = {"job": job("a"), "deliveries": [event("a", None, code=1), event("a", None, "RUNNING")]}
    assert answer(value)["decision"]["next"] == "restart"
