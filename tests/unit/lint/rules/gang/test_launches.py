"""Calls that start gangs: limits, ranks, zones, names, dependencies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import job, stack
from tests.support.linting import environment, only, report, task

LIMITS, RANK, SPREAD, NAMES, DEPENDS = (
    "run-task-limits",
    "same-rank-for-many-tasks",
    "ranks-spread-over-zones",
    "batch-reserved-variable",
    "depends-on-end-of-essential",
)
LONG = [{"name": "main", "environment": [{"name": "X", "value": "x" * 9000}]}]


def run(**members: Any) -> str:
    return json.dumps({"taskDefinition": "t", **members})


@pytest.mark.parametrize(
    ("members", "where"),
    [
        ({"count": 11}, "count"),
        ({"clientToken": "x" * 65}, "clientToken"),
        ({"startedBy": "x" * 129}, "startedBy"),
        ({"startedBy": "x" * 37, "containerInstances": ["a"]}, "startedBy"),
        ({"containerInstances": ["a"] * 11}, "containerInstances"),
        ({"propagateTags": "SERVICE"}, "propagateTags"),
        ({"placementStrategy": [{"type": "random"}] * 6}, "placementStrategy"),
        ({"overrides": {"containerOverrides": LONG}}, "overrides"),
        ({"count": 10, "clientToken": "x" * 64, "startedBy": "x" * 128}, ""),
    ],
)
def test_limits(members: dict[str, Any], where: str) -> None:
    assert only("run-task-limits", run(**members)) == ([("error", where)] if where else [])


def override(name: str, value: str) -> dict[str, Any]:
    pair = {"name": name, "value": value}
    return {"overrides": {"containerOverrides": [{"name": "main", "environment": [pair]}]}}


def test_one_rank_for_many() -> None:
    where = "overrides.containerOverrides[0].environment[0]"
    text = run(count=4, **override("NODE_RANK", "0"))
    assert only("same-rank-for-many-tasks", text) == [("error", where)]
    assert only(RANK, run(count=1, **override("NODE_RANK", "0"))) == []
    assert only(RANK, run(count=4, **override("NNODES", "4"))) == []


def started(container: dict[str, Any], **members: Any) -> list[tuple[str, str]]:
    files = (("t.json", task(container)), ("r.json", run(**members)))
    findings = report(*files).findings
    return [(f.severity.value, f.where) for f in findings if f.slug == RANK]


def test_one_rank_of_the_task_definition() -> None:
    held = environment(NODE_RANK="0", NNODES="4")
    assert started(held, count=4) == [("error", "count")]
    assert started(held, count=1) == []
    assert started(held, count=4, **override("NODE_RANK", "x")) == []
    command = {"command": ["torchrun", "--nnodes", "4", "--node-rank", "0", "train.py"]}
    assert started(command, count=4) == [("error", "count")]


def test_one_rank_in_a_service() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name = "a", environment = [{ name = "RANK", value = PLACE }]
      }])
    }
    resource "aws_ecs_service" "s" {
      task_definition = aws_ecs_task_definition.t.arn
      desired_count   = 2
    }
    """
    where = "aws_ecs_service.s.desired_count"
    assert only(RANK, text.replace("PLACE", '"0"'), "m.tf") == [("error", where)]
    assert only(RANK, text.replace("PLACE", "var.rank"), "m.tf") == []


ZONES = {"type": "spread", "field": "attribute:ecs.availability-zone"}


@pytest.mark.parametrize(
    ("nodes", "strategy", "count"),
    [
        ("4", ZONES, 1),
        ("1", ZONES, 0),
        ("4", {"type": "spread", "field": "instanceId"}, 0),
    ],
)
def test_zones(nodes: str, strategy: dict[str, str], count: int) -> None:
    files = (
        ("t.json", task(environment(NNODES=nodes))),
        ("r.json", run(placementStrategy=[strategy])),
    )
    found = [f for f in report(*files).findings if f.slug == "ranks-spread-over-zones"]
    assert [(f.severity.value, f.where) for f in found] == [
        ("warning", "placementStrategy[0].field")
    ] * count


def test_zones_of_a_service_in_a_template() -> None:
    container = {
        "Name": "a",
        "Command": ["torchrun", "--nnodes=2", "train.py"],
        "ResourceRequirements": [{"Type": "GPU", "Value": "8"}],
    }
    strategy = [{"Type": "spread", "Field": "attribute:ecs.availability-zone"}]
    service = {"TaskDefinition": {"Ref": "Task"}, "PlacementStrategies": strategy}
    task_definition = ("AWS::ECS::TaskDefinition", {"ContainerDefinitions": [container]})
    text = stack(Task=task_definition, Service=("AWS::ECS::Service", service))
    assert len(only(SPREAD, text)) == 1


def test_names_of_batch() -> None:
    where = "containerProperties.environment[0]"
    held = environment(AWS_BATCH_JOB_NODE_INDEX="0")
    assert only("batch-reserved-variable", job(held)) == [("error", where)]
    assert only(NAMES, job(environment(MY_BATCH="0"))) == []
    assert only(NAMES, task(held)) == []


@pytest.mark.parametrize(
    ("essential", "condition", "count"),
    [
        ({}, "SUCCESS", 1),
        ({"essential": True}, "COMPLETE", 1),
        ({"essential": False}, "SUCCESS", 0),
        ({}, "HEALTHY", 0),
        ({}, "START", 0),
    ],
)
def test_dependencies(essential: dict[str, bool], condition: str, count: int) -> None:
    two = [
        {"name": "fetch", **essential},
        {"name": "main", "dependsOn": [{"containerName": "fetch", "condition": condition}]},
    ]
    where = "containerDefinitions[1].dependsOn[0].condition"
    found = only("depends-on-end-of-essential", task(containerDefinitions=two))
    assert found == [("error", where)] * count


def test_a_dependency_that_cannot_be_known() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([
        { name = "fetch", essential = PLACE },
        { name = "main", dependsOn = [{ containerName = "fetch", condition = "SUCCESS" }] },
      ])
    }
    """
    assert only(DEPENDS, text.replace("PLACE", "var.essential"), "m.tf") == []
    assert len(only(DEPENDS, text.replace("PLACE", "true"), "m.tf")) == 1
