"""Zones and placement groups of Batch compute environments."""

from __future__ import annotations

import pytest

from tests.support.linting import only

SLUG = "batch-nodes-apart"
TEXT = """
resource "aws_placement_group" "p" {{ strategy = "{strategy}" }}
resource "aws_subnet" "a" {{ availability_zone = "us-west-2a" }}
resource "aws_subnet" "b" {{ availability_zone = "{zone}" }}
resource "aws_launch_template" "t" {{
  network_interfaces {{ interface_type = "{interface}" }}
}}
resource "aws_batch_compute_environment" "e" {{
  compute_resources {{
    type    = "EC2"
    subnets = {subnets}
    {group}
    launch_template {{ launch_template_id = aws_launch_template.t.id }}
  }}
}}
"""
BOTH = "[aws_subnet.a.id, aws_subnet.b.id]"
GROUP = "placement_group = aws_placement_group.p.name"


def text(**parts: str) -> str:
    usual = {"strategy": "cluster", "zone": "us-west-2b", "interface": "efa"}
    return TEXT.format(**{**usual, "subnets": BOTH, "group": GROUP, **parts})


@pytest.mark.parametrize(
    ("parts", "severities"),
    [
        ({}, ["error"]),
        ({"zone": "us-west-2a"}, []),
        ({"subnets": "[aws_subnet.a.id]"}, []),
        ({"subnets": "var.subnets"}, []),
        ({"group": ""}, ["warning"]),
        ({"group": "", "interface": "interface"}, []),
        ({"group": "placement_group = var.group"}, []),
    ],
)
def test_in_terraform(parts: dict[str, str], severities: list[str]) -> None:
    assert [severity for severity, _ in only(SLUG, text(**parts), "m.tf")] == severities


def test_in_cloudformation() -> None:
    template = """
    Resources:
      P: {Type: AWS::EC2::PlacementGroup, Properties: {Strategy: cluster}}
      A: {Type: AWS::EC2::Subnet, Properties: {AvailabilityZone: us-west-2a}}
      B: {Type: AWS::EC2::Subnet, Properties: {AvailabilityZone: us-west-2b}}
      E:
        Type: AWS::Batch::ComputeEnvironment
        Properties:
          ComputeResources: {Type: EC2, PlacementGroup: !Ref P, Subnets: [!Ref A, !Ref B]}
    """
    where = "Resources.E.Properties.ComputeResources.Subnets"
    assert only("batch-nodes-apart", template, "t.yaml") == [("error", where)]


def test_a_group_that_a_parameter_switches_on_is_the_choice_of_the_user() -> None:
    template = """
    Parameters:
      Grouped: {Type: String, Default: "false", AllowedValues: ["true", "false"]}
    Conditions:
      IsGrouped: !Equals [!Ref Grouped, "true"]
    Resources:
      P: {Type: AWS::EC2::PlacementGroup, Condition: IsGrouped, Properties: {Strategy: cluster}}
      T:
        Type: AWS::EC2::LaunchTemplate
        Properties: {LaunchTemplateData: {NetworkInterfaces: [{InterfaceType: efa}]}}
      E:
        Type: AWS::Batch::ComputeEnvironment
        Properties:
          ComputeResources:
            PlacementGroup: !If [IsGrouped, !Ref P, !Ref "AWS::NoValue"]
            LaunchTemplate: {LaunchTemplateId: !Ref T}
      A:
        Type: AWS::AutoScaling::AutoScalingGroup
        Properties:
          MaxSize: "4"
          PlacementGroup: !If [IsGrouped, !Ref P, !Ref "AWS::NoValue"]
          LaunchTemplate: {LaunchTemplateId: !Ref T, Version: "1"}
    """
    assert only(SLUG, template, "t.yaml") == []
    assert only("efa-nodes-apart", template, "t.yaml") == []
