"""Capacity that does not fit, expressions and placement rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import stack
from tests.support.linting import only, report, task

FIT, MATCH, SHAPE = (
    "compatibility-not-of-capacity",
    "placement-expression-matches-nothing",
    "placement-shape",
)


def launch(kinds: list[str], **members: Any) -> list[tuple[str, str]]:
    service = json.dumps({"serviceName": "s", "taskDefinition": "t", **members})
    text = task({"resourceRequirements": []}, requiresCompatibilities=kinds)
    findings = report(("t.json", text), ("s.json", service)).findings
    return [(f.severity.value, f.where) for f in findings if f.slug == FIT]


SPOT = [{"capacityProvider": "FARGATE_SPOT", "weight": 1}]


@pytest.mark.parametrize(
    ("kinds", "members", "where"),
    [
        (["EC2"], {"launchType": "FARGATE"}, ["launchType"]),
        (["EC2"], {"capacityProviderStrategy": SPOT}, ["capacityProviderStrategy"]),
        (["EC2", "FARGATE"], {"launchType": "FARGATE"}, []),
        (["EC2"], {"launchType": "EC2"}, []),
        ([], {"launchType": "FARGATE"}, []),
    ],
)
def test_fargate(kinds: list[str], members: dict[str, Any], where: list[str]) -> None:
    assert launch(kinds, **members) == [("error", path) for path in where]


@pytest.mark.parametrize(("kinds", "count"), [('["EC2"]', 1), ('["MANAGED_INSTANCES"]', 0)])
def test_managed_instances(kinds: str, count: int) -> None:
    text = f"""
    resource "aws_ecs_capacity_provider" "m" {{
      name = "m"
      managed_instances_provider {{ infrastructure_role_arn = var.role }}
    }}
    resource "aws_ecs_task_definition" "t" {{
      requires_compatibilities = {kinds}
      container_definitions    = jsonencode([{{ name = "a", image = "b" }}])
    }}
    resource "aws_ecs_service" "s" {{
      task_definition = aws_ecs_task_definition.t.arn
      capacity_provider_strategy {{ capacity_provider = aws_ecs_capacity_provider.m.name }}
    }}
    """
    assert len(only("compatibility-not-of-capacity", text, "m.tf")) == count


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("attribute:ecs.instance-type == g5.*", 1),
        ("ecs.instance-type == g5.xlarge", 1),
        ("attribute:ecs.instance-type =~ *.xlarge", 1),
        ("attribute:ecs.instance-type =~ g5.*", 0),
        ("attribute:ecs.instance-type in [g5.xlarge, g5.2xlarge]", 0),
        ("(attribute:ecs.instance-type == g5.xlarge) and attribute:stage exists", 0),
        ("task:group == service:production", 0),
    ],
)
def test_expressions(expression: str, count: int) -> None:
    constraint = [{"type": "memberOf", "expression": expression}]
    where = [("error", "placementConstraints[0].expression")] * count
    assert only(MATCH, task(placementConstraints=constraint)) == where
    run = {"taskDefinition": "t", "placementConstraints": constraint}
    assert only("placement-expression-matches-nothing", json.dumps(run)) == where


def test_an_expression_that_cannot_be_known() -> None:
    inner = [{"Type": "memberOf", "Expression": {"Fn::Sub": "${Name} == g5.*"}}]
    properties = {"PlacementConstraints": inner, "ContainerDefinitions": []}
    text = stack(Task=("AWS::ECS::TaskDefinition", properties))
    assert len(only(MATCH, text)) == 1
    inner[0]["Expression"] = {"Ref": "Where"}
    assert only(MATCH, stack(Task=("AWS::ECS::TaskDefinition", properties))) == []


@pytest.mark.parametrize(
    ("strategy", "count"),
    [
        ({"type": "binpack", "field": "gpu"}, 1),
        ({"type": "binpack", "field": "memory"}, 0),
        ({"type": "binpack", "field": "CPU"}, 0),
        ({"type": "spread", "field": "instanceId"}, 0),
        ({"type": "random"}, 0),
    ],
)
def test_strategies(strategy: dict[str, str], count: int) -> None:
    run = {"taskDefinition": "t", "placementStrategy": [strategy]}
    where = [("error", "placementStrategy[0].field")] * count
    assert only("placement-shape", json.dumps(run)) == where


def test_distinct_instances_belong_to_the_launch() -> None:
    constraint = [{"type": "distinctInstance"}]
    text = task(placementConstraints=constraint)
    assert only(SHAPE, text) == [("error", "placementConstraints[0].type")]
    assert (
        only(SHAPE, json.dumps({"taskDefinition": "t", "placementConstraints": constraint})) == []
    )
    hcl = 'resource "aws_ecs_service" "s" {\n ordered_placement_strategy {\n type = "binpack"\n'
    assert len(only(SHAPE, hcl + ' field = "gpu"\n }\n}', "m.tf")) == 1


@pytest.mark.parametrize(
    ("strategy", "member", "count"),
    [
        ("FARGATE", "", 1),
        ("FARGATE_SPOT", "", 1),
        ("gpu", "", 0),
        ("FARGATE", 'launch_type = "EC2"', 0),
    ],
)
def test_the_strategy_of_the_cluster(strategy: str, member: str, count: int) -> None:
    text = f"""
    resource "aws_ecs_cluster" "c" {{ name = "c" }}
    resource "aws_ecs_cluster_capacity_providers" "p" {{
      cluster_name = aws_ecs_cluster.c.name
      default_capacity_provider_strategy {{ capacity_provider = "{strategy}" }}
    }}
    resource "aws_ecs_task_definition" "t" {{
      requires_compatibilities = ["EC2"]
      container_definitions    = jsonencode([{{ name = "a", image = "b" }}])
    }}
    resource "aws_ecs_service" "s" {{
      cluster         = aws_ecs_cluster.c.id
      task_definition = aws_ecs_task_definition.t.arn
      {member}
    }}
    """
    assert len(only(FIT, text, "m.tf")) == count
