"""Capacity provider strategies: missing, refused, of several kinds."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, report, task

NONE = "no-capacity-provider-strategy"
REFUSED = "strategy-is-refused"
MIXES = "strategy-mixes-provider-kinds"
GROUP = {"autoScalingGroupProvider": {"autoScalingGroupArn": "arn"}}


def run(*items: dict[str, object], **members: object) -> str:
    return json.dumps({"taskDefinition": "t", "capacityProviderStrategy": list(items), **members})


def item(name: str, **members: object) -> dict[str, object]:
    return {"capacityProvider": name, **members}


@pytest.mark.parametrize(
    "text",
    [
        run(item("a", weight=0), item("b", weight=0)),
        run(item("a"), item("b")),
        run(item("a", weight=1, base=1), item("b", weight=1, base=2)),
        run(*(item(f"p{n}", weight=1) for n in range(21))),
        run(item("a", weight=2000)),
    ],
)
def test_refused(text: str) -> None:
    assert only(REFUSED, text) == [("error", "capacityProviderStrategy")]


@pytest.mark.parametrize(
    "text",
    [
        run(item("a", weight=1), item("b", weight=0)),
        run(item("a")),
        run(item("a", weight=1, base=1), item("b", weight=1)),
    ],
)
def test_accepted(text: str) -> None:
    assert only(REFUSED, text) == []


def test_refused_in_cloudformation_and_terraform() -> None:
    text = """
Parameters: {Weight: {Type: Number}}
Resources:
  A:
    Type: AWS::ECS::ClusterCapacityProviderAssociations
    Properties:
      DefaultCapacityProviderStrategy:
        - {CapacityProvider: a, Weight: 0}
        - {CapacityProvider: b, Weight: 0}
"""
    where = "Resources.A.Properties.DefaultCapacityProviderStrategy"
    assert only(REFUSED, text, "t.yaml") == [("error", where)]
    unknown = text.replace("b, Weight: 0", "b, Weight: !Ref Weight")
    assert only(REFUSED, unknown, "t.yaml") == []
    terraform = """
    resource "aws_ecs_service" "s" {
      name = "s"
      capacity_provider_strategy { capacity_provider = "a" }
      capacity_provider_strategy { capacity_provider = "b" }
    }
    """
    assert [s for s, _ in only(REFUSED, terraform, "m.tf")] == ["error"]


def mixes(*providers: dict[str, object], strategy: str) -> list[str]:
    files = [("run.json", strategy)]
    files += [(f"p{n}.json", json.dumps(p)) for n, p in enumerate(providers)]
    return [f.where for f in report(*files).findings if f.slug == MIXES]


def test_kinds_of_providers() -> None:
    group = {"name": "pool", **GROUP}
    managed = {"name": "mi", "cluster": "c", "managedInstancesProvider": {}}
    both = run(item("pool", weight=1), item("FARGATE", weight=1))
    assert mixes(group, strategy=both) == ["capacityProviderStrategy"]
    assert mixes(strategy=both) == []
    other = run(item("pool", weight=1), item("mi", weight=1))
    assert mixes(group, managed, strategy=other) == ["capacityProviderStrategy"]
    same = run(item("FARGATE", weight=1), item("FARGATE_SPOT", weight=1))
    assert mixes(strategy=same) == []


WORLD = """
resource "aws_ecs_cluster" "c" {{ name = "c" }}
resource "aws_ecs_capacity_provider" "p" {{
  name = "p"
  auto_scaling_group_provider {{ auto_scaling_group_arn = "arn" }}
}}
resource "aws_ecs_cluster_capacity_providers" "a" {{
  cluster_name       = aws_ecs_cluster.c.name
  capacity_providers = [aws_ecs_capacity_provider.p.name]
  {default}
}}
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", resourceRequirements = [{{ type = "GPU", value = "1" }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  name            = "s"
  cluster         = aws_ecs_cluster.c.id
  task_definition = aws_ecs_task_definition.d.arn
  {service}
}}
"""
DEFAULT = 'default_capacity_provider_strategy {\n capacity_provider = "p"\n weight = 1\n}'


@pytest.mark.parametrize(
    ("default", "service", "count"),
    [
        ("", "", 1),
        (DEFAULT, "", 0),
        ("", 'launch_type = "EC2"', 0),
        ("", 'capacity_provider_strategy {\n capacity_provider = "p"\n weight = 1\n}', 0),
        ("", 'scheduling_strategy = "DAEMON"', 0),
    ],
)
def test_no_strategy_at_all(default: str, service: str, count: int) -> None:
    text = WORLD.format(default=default, service=service)
    where = "aws_ecs_service.s.capacity_provider_strategy"
    assert only(NONE, text, "m.tf") == [("warning", where)] * count


def test_no_strategy_where_the_cluster_is_elsewhere() -> None:
    files = (
        ("t.json", task()),
        ("run.json", json.dumps({"taskDefinition": "t"})),
        ("p.json", json.dumps({"name": "pool", **GROUP})),
    )
    assert [f for f in report(*files).findings if f.slug == NONE] == []
