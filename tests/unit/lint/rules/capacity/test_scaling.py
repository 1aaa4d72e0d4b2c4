"""Managed scaling, groups that cannot grow, sizes of tasks and gangs, termination protection."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only

RANGE = "managed-scaling-out-of-range"
NEVER = "provider-can-never-scale"
SMALLEST = "task-does-not-fit-smallest-type"
GANG = "gang-larger-than-group"
PROTECTED = "termination-protection-without-scale-in-protection"
BASE = "autoScalingGroupProvider"


def scaling(**members: object) -> list[tuple[str, str]]:
    provider = {"autoScalingGroupArn": "arn", "managedScaling": members}
    return only(RANGE, json.dumps({"name": "p", BASE: provider}))


@pytest.mark.parametrize(
    ("key", "bad", "good"),
    [
        ("targetCapacity", 0, 1),
        ("targetCapacity", 120, 100),
        ("minimumScalingStepSize", 0, 1),
        ("maximumScalingStepSize", 20000, 10000),
        ("instanceWarmupPeriod", 20000, 300),
    ],
)
def test_ranges(key: str, bad: int, good: int) -> None:
    assert scaling(**{key: bad}) == [("error", f"{BASE}.managedScaling.{key}")]
    assert scaling(**{key: good}) == []


def test_ranges_in_terraform_and_unknown() -> None:
    text = """
    variable "target" {}
    resource "aws_ecs_capacity_provider" "p" {
      name = "p"
      auto_scaling_group_provider {
        auto_scaling_group_arn = "arn"
        managed_scaling { target_capacity = 110 }
      }
    }
    """
    assert [s for s, _ in only(RANGE, text, "m.tf")] == ["error"]
    assert only(RANGE, text.replace("= 110", "= var.target"), "m.tf") == []


TEXT = """
variable "most" {{}}
resource "aws_launch_template" "t" {{ instance_type = "g5.xlarge" }}
resource "aws_autoscaling_group" "g" {{
  min_size = 0
  {group}
  launch_template {{ id = aws_launch_template.t.id }}
}}
resource "aws_ecs_capacity_provider" "p" {{
  name = "p"
  auto_scaling_group_provider {{
    auto_scaling_group_arn = aws_autoscaling_group.g.arn
    {provider}
  }}
}}
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  network_mode          = "host"
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", {container}
    resourceRequirements = [{{ type = "GPU", value = "{gpus}" }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  name            = "s"
  task_definition = aws_ecs_task_definition.d.arn
  capacity_provider_strategy {{
    capacity_provider = aws_ecs_capacity_provider.p.name
    weight            = 1
  }}
}}
"""
DISABLED = 'managed_scaling { status = "DISABLED" }'
ENABLED = 'managed_scaling { status = "ENABLED" }'


def text(
    group: str = "max_size = 4",
    provider: str = ENABLED,
    container: str = "memory = 4000",
    gpus: int = 1,
) -> str:
    return TEXT.format(group=group, provider=provider, container=container, gpus=gpus)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (text("max_size = 0"), [("error", "aws_autoscaling_group.g.max_size")]),
        (text("max_size = 4", DISABLED), ["warning"]),
        (text("max_size = 4\n desired_capacity = 2", DISABLED), []),
        (text("max_size = var.most"), []),
        (text(), []),
    ],
)
def test_groups_that_cannot_grow(given: str, found: list[object]) -> None:
    made = only(NEVER, given, "m.tf")
    assert len(made) == len(found)
    for one, wanted in zip(made, found, strict=True):
        assert wanted in (one, one[0])


def test_a_group_that_a_schedule_opens() -> None:
    schedule = """
    resource "aws_autoscaling_schedule" "start" {
      autoscaling_group_name = aws_autoscaling_group.g.name
      max_size               = 4
    }
    """
    assert only(NEVER, text("max_size = 0") + schedule, "m.tf") == []


def test_a_group_that_cannot_grow_in_cloudformation() -> None:
    template = """
Resources:
  G:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: {MinSize: "0", MaxSize: "0"}
  P:
    Type: AWS::ECS::CapacityProvider
    Properties: {AutoScalingGroupProvider: {AutoScalingGroupArn: !Ref G}}
"""
    assert only(NEVER, template, "t.yaml") == [("error", "Resources.G.Properties.MaxSize")]


MIXED = """
max_size = 4
mixed_instances_policy {
  launch_template {
    launch_template_specification { launch_template_id = aws_launch_template.t.id }
    override { instance_type = "g5.xlarge" }
    override { instance_type = "g5.12xlarge" }
  }
}
"""


def test_what_does_not_fit_the_smallest_type() -> None:
    where = "aws_autoscaling_group.g.mixed_instances_policy"
    assert only(SMALLEST, text(MIXED, gpus=4), "m.tf") == [("warning", where)]
    large = text(MIXED, container="memory = 60000")
    assert only(SMALLEST, large, "m.tf") == [("warning", where)]
    assert only(SMALLEST, text(MIXED), "m.tf") == []
    assert only(SMALLEST, text(MIXED.replace('"g5.12xlarge"', "var.type"), gpus=4), "m.tf") == []
    assert only(SMALLEST, text(gpus=4), "m.tf") == []


NODES = 'environment = [{ name = "NNODES", value = "8" }]'


def test_a_gang_larger_than_its_group() -> None:
    where = "aws_ecs_service.s.capacity_provider_strategy"
    assert only(GANG, text(container=NODES), "m.tf") == [("error", where)]
    assert only(GANG, text("max_size = 8", container=NODES), "m.tf") == []
    assert only(GANG, text("max_size = var.most", container=NODES), "m.tf") == []
    assert only(GANG, text(), "m.tf") == []


def test_protection_that_cannot_be_switched_on() -> None:
    on = 'managed_termination_protection = "ENABLED"'
    where = "aws_autoscaling_group.g.protect_from_scale_in"
    assert only(PROTECTED, text(provider=on), "m.tf") == [("error", where)]
    plain = text("max_size = 4\n protect_from_scale_in = false", on)
    assert only(PROTECTED, plain, "m.tf") == [("error", where)]
    good = text("max_size = 4\n protect_from_scale_in = true", f"{on}\n{ENABLED}")
    assert only(PROTECTED, good, "m.tf") == []
    unknown = text("max_size = 4\n protect_from_scale_in = var.most", on)
    assert only(PROTECTED, unknown, "m.tf") == []
    bare = text("max_size = 4\n protect_from_scale_in = true", f"{on}\n{DISABLED}")
    assert [s for s, _ in only(PROTECTED, bare, "m.tf")] == ["error"]


def test_protection_in_cloudformation() -> None:
    template = """
Resources:
  G:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: {MinSize: "0", MaxSize: "4"}
  P:
    Type: AWS::ECS::CapacityProvider
    Properties:
      AutoScalingGroupProvider:
        AutoScalingGroupArn: !Ref G
        ManagedTerminationProtection: ENABLED
"""
    where = "Resources.G.Properties.NewInstancesProtectedFromScaleIn"
    assert only(PROTECTED, template, "t.yaml") == [("error", where)]
    good = template.replace('MaxSize: "4"', 'MaxSize: "4", NewInstancesProtectedFromScaleIn: true')
    assert only(PROTECTED, good, "t.yaml") == []
