"""Memory asked for against the memory of the only type."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, task

SLUG = "memory-no-headroom"


def pinned(kind: str) -> list[dict[str, str]]:
    return [{"type": "memberOf", "expression": f"attribute:ecs.instance-type == {kind}"}]


@pytest.mark.parametrize(
    ("kind", "memory", "severities"),
    [
        ("g4dn.xlarge", "16384", ["error"]),
        ("g4dn.xlarge", "16 GB", ["error"]),
        ("g4dn.xlarge", "20000", ["error"]),
        ("g4dn.xlarge", "16000", ["warning"]),
        ("g4dn.xlarge", "14000", []),
        ("p5.48xlarge", "2097152", ["error"]),
        ("p5.48xlarge", "2000000", []),
        ("unheard.large", "16384", []),
        ("g5.*", "9999999", []),
    ],
)
def test_of_the_task(kind: str, memory: str, severities: list[str]) -> None:
    found = only(SLUG, task(memory=memory, placementConstraints=pinned(kind)))
    assert found == [(severity, "memory") for severity in severities]


def test_without_a_pinned_type_nothing_is_known() -> None:
    assert only(SLUG, task(memory="16384")) == []


def test_of_the_container() -> None:
    text = task({"memory": 16384}, placementConstraints=pinned("g4dn.xlarge"))
    assert only(SLUG, text) == [("error", "containerDefinitions[0].memory")]


def test_the_type_of_the_group_behind_the_service() -> None:
    text = """
    resource "aws_launch_template" "t" { instance_type = "g5.xlarge" }
    resource "aws_autoscaling_group" "g" {
      launch_template { id = aws_launch_template.t.id }
    }
    resource "aws_ecs_capacity_provider" "p" {
      name = "p"
      auto_scaling_group_provider { auto_scaling_group_arn = aws_autoscaling_group.g.arn }
    }
    resource "aws_ecs_task_definition" "d" {
      memory                = 16384
      container_definitions = jsonencode([{ name = "a" }])
    }
    resource "aws_ecs_service" "s" {
      task_definition = aws_ecs_task_definition.d.arn
      capacity_provider_strategy { capacity_provider = aws_ecs_capacity_provider.p.name }
    }
    """
    assert only(SLUG, text, "m.tf") == [("error", "aws_ecs_task_definition.d.memory")]


def test_a_batch_job_of_one_type() -> None:
    need = [{"type": "MEMORY", "value": "786432"}, {"type": "GPU", "value": "8"}]
    node = {"container": {"instanceType": "g5.48xlarge", "resourceRequirements": need}}
    job = {
        "jobDefinitionName": "j",
        "type": "multinode",
        "nodeProperties": {"numNodes": 2, "nodeRangeProperties": [{"targetNodes": "0:", **node}]},
    }
    (found,) = only(SLUG, json.dumps(job))
    assert found[0] == "error"
    assert found[1].endswith("container.resourceRequirements[0].value")


@pytest.mark.parametrize(("reserved", "count"), [("2000", 1), ("256", 0), ("${var.mib}", 0)])
def test_what_the_agent_reserves(reserved: str, count: int) -> None:
    text = f"""
    resource "aws_launch_template" "t" {{
      instance_type = "g5.xlarge"
      user_data     = base64encode("echo ECS_RESERVED_MEMORY={reserved} >> /etc/ecs/ecs.config")
    }}
    resource "aws_autoscaling_group" "g" {{
      launch_template {{ id = aws_launch_template.t.id }}
    }}
    resource "aws_ecs_capacity_provider" "p" {{
      name = "p"
      auto_scaling_group_provider {{ auto_scaling_group_arn = aws_autoscaling_group.g.arn }}
    }}
    resource "aws_ecs_task_definition" "d" {{
      memory                = 15000
      container_definitions = jsonencode([{{ name = "a" }}])
    }}
    resource "aws_ecs_service" "s" {{
      task_definition = aws_ecs_task_definition.d.arn
      capacity_provider_strategy {{ capacity_provider = aws_ecs_capacity_provider.p.name }}
    }}
    """
    assert only(SLUG, text, "m.tf") == [("error", "aws_ecs_task_definition.d.memory")] * count


@pytest.mark.parametrize(
    ("types", "count"), [('"g6.2xlarge"', 1), ('"g6.*"', 0), ('"g6.2xlarge", var.other', 0)]
)
def test_the_type_of_managed_instances(types: str, count: int) -> None:
    text = f"""
    resource "aws_ecs_capacity_provider" "p" {{
      name = "p"
      managed_instances_provider {{
        instance_launch_template {{
          instance_requirements {{ allowed_instance_types = [{types}] }}
        }}
      }}
    }}
    resource "aws_ecs_task_definition" "d" {{
      memory                   = 32768
      requires_compatibilities = ["MANAGED_INSTANCES"]
      container_definitions    = jsonencode([{{ name = "a" }}])
    }}
    resource "aws_ecs_service" "s" {{
      task_definition = aws_ecs_task_definition.d.arn
      capacity_provider_strategy {{ capacity_provider = aws_ecs_capacity_provider.p.name }}
    }}
    """
    assert len(only(SLUG, text, "m.tf")) == count


def _beside(sidecar: dict[str, object], main: dict[str, object], kind: str) -> str:
    two = [{"name": "side", "image": "a", **sidecar}, {"name": "main", "image": "b", **main}]
    return task(containerDefinitions=two, placementConstraints=pinned(kind))


@pytest.mark.parametrize(
    ("sidecar", "main", "member"),
    [
        ({"memoryReservation": 64}, {"memory": 32768}, "memory"),
        ({"memory": 64}, {"memory": 32768}, "memory"),
        ({"memory": 4096}, {"memoryReservation": 30000}, "memoryReservation"),
        ({}, {"memory": 32768}, None),
        ({"memoryReservation": 64}, {"memory": 32768, "memoryReservation": 24000}, None),
    ],
)
def test_what_all_containers_reserve(
    sidecar: dict[str, object], main: dict[str, object], member: str | None
) -> None:
    expected = [("error", f"containerDefinitions[1].{member}")] if member else []
    assert only(SLUG, _beside(sidecar, main, "g5.2xlarge")) == expected
