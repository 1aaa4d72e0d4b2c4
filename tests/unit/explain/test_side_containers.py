"""Tasks of several containers: the training's ending is the task's, whoever ended it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

OOM = "OutOfMemoryError: Container killed due to memory usage"
FAMILY = "arn:aws:ecs:us-west-2:111122223333:task-definition/tr:3"


def box(name: str, code: int | None, reason: str = "", gpu: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "exitCode": code, "reason": reason}
    return {**found, "gpuIds": ["GPU-1"]} if gpu else found


def answer(*containers: dict[str, Any], stop: str = "EssentialContainerExited") -> dict[str, Any]:
    task = {
        "taskArn": "arn:aws:ecs:us-west-2:111122223333:task/c/a",
        "taskDefinitionArn": FAMILY,
        "lastStatus": "STOPPED",
        "stopCode": stop,
        "stoppedReason": "Essential container in task exited",
        "containers": list(containers),
    }
    return explain([Input("t.json", json.dumps({"tasks": [task]}).encode())]).plain()


def slugs(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f["slug"], f["severity"]) for f in given["findings"]]


@pytest.mark.parametrize(
    "main", [box("tr", 0), box("trainer", 0), box("x", 0, gpu=True), box("main", 0)]
)
@pytest.mark.parametrize(
    "side", [box("cw-agent", 137, OOM), box("envoy", 1), box("vector", 139), box("helper", 1)]
)
def test_a_training_that_exited_0_succeeded(main: dict[str, Any], side: dict[str, Any]) -> None:
    for order in ((main, side), (side, main)):
        given = answer(*order)
        assert given["decision"]["next"] == "succeeded"
        assert given["tasks"][0]["class"] is None
        assert given["tasks"][0]["exit_code"] == 0
        assert slugs(given) == [("side-container-failed", "warning")]
        assert side["name"] in given["findings"][0]["message"]


@pytest.mark.parametrize("code", [0, 137, 143])
def test_a_side_container_that_was_stopped_with_the_task_is_nothing(code: int) -> None:
    given = answer(box("tr", 0), box("cw", code))
    assert given["decision"]["next"] == "succeeded"
    assert slugs(given) == []


@pytest.mark.parametrize("code", [137, 143])
@pytest.mark.parametrize(
    ("side", "right", "following"),
    [
        (box("log-router", 1), "NonZeroExit", "restart"),
        (box("envoy", 2), "NonZeroExit", "restart"),
        (box("envoy", 139), "Killed", "restart"),
        (box("cw-agent", 137, OOM), "OutOfMemory", "fail"),
    ],
)
def test_the_container_that_ended_first_is_named(
    code: int, side: dict[str, Any], right: str, following: str
) -> None:
    given = answer(box("tr", code), side)
    task = given["tasks"][0]
    assert (task["class"], given["decision"]["next"]) == (right, following)
    assert side["name"] in given["decision"]["reason"]
    assert f"container {side['name']} exit code {side['exitCode']}" in task["evidence"][0]["says"]
    assert ("side-container-ended-task", "error") in slugs(given)


def test_a_side_container_that_exited_0_explains_a_polite_stop_alone() -> None:
    polite = answer(box("tr", 143), box("envoy", 0))["decision"]["reason"]
    assert "its container envoy exited 0; then ECS stopped tr" in polite
    assert "envoy" not in answer(box("tr", 137), box("envoy", 0))["decision"]["reason"]


@pytest.mark.parametrize("main", [box("tr", 1), box("tr", 137, OOM), box("tr", 139)])
def test_a_training_that_failed_by_itself_is_the_cause(main: dict[str, Any]) -> None:
    given = answer(main, box("envoy", 1))
    assert "envoy" not in given["decision"]["reason"]
    assert "side-container-ended-task" not in [s for s, _ in slugs(given)]


def test_a_stop_by_somebody_is_not_a_side_containers() -> None:
    given = answer(box("tr", 143), box("envoy", 1), stop="UserInitiated")
    assert given["tasks"][0]["class"] == "StoppedByUser"
    assert "side-container-ended-task" not in [s for s, _ in slugs(given)]


def test_what_no_container_ran_for_may_be_told_by_any() -> None:
    side = box("envoy", None, "CannotPullContainerError: manifest unknown")
    given = answer(box("tr", None), side, stop="TaskFailedToStart")
    assert given["tasks"][0]["class"] == "ImagePull"
