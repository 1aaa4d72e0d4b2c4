"""A cluster placement group and its zones."""

from __future__ import annotations

import pytest

from tests.support.linting import only, report

SLUG = "cluster-pg-multi-az"
TEXT = """
resource "aws_placement_group" "p" {{
  name     = "p"
  strategy = "{strategy}"
}}
resource "aws_autoscaling_group" "g" {{
  placement_group    = aws_placement_group.p.name
  availability_zones = {zones}
}}
"""


@pytest.mark.parametrize(
    ("strategy", "zones", "count"),
    [
        ("cluster", '["us-west-2a", "us-west-2b"]', 1),
        ("cluster", '["us-west-2a"]', 0),
        ("spread", '["us-west-2a", "us-west-2b"]', 0),
        ("cluster", "var.zones", 0),
    ],
)
def test_zones(strategy: str, zones: str, count: int) -> None:
    found = only(SLUG, TEXT.format(strategy=strategy, zones=zones), "m.tf")
    assert found == [("error", "aws_autoscaling_group.g.availability_zones")] * count


def test_the_group_of_the_launch_template_counts() -> None:
    text = """
    Resources:
      Pg: {Type: AWS::EC2::PlacementGroup, Properties: {Strategy: cluster}}
      A: {Type: AWS::EC2::Subnet, Properties: {AvailabilityZone: us-west-2a}}
      B: {Type: AWS::EC2::Subnet, Properties: {AvailabilityZone: us-west-2b}}
      Template:
        Type: AWS::EC2::LaunchTemplate
        Properties: {LaunchTemplateData: {Placement: {GroupName: !Ref Pg}}}
      Group:
        Type: AWS::AutoScaling::AutoScalingGroup
        Properties:
          LaunchTemplate: {LaunchTemplateId: !Ref Template, Version: "1"}
          VPCZoneIdentifier: [!Ref A, !Ref B]
    """
    where = "Resources.Group.Properties.VPCZoneIdentifier"
    (finding,) = (f for f in report(("t.yaml", text)).findings if f.slug == SLUG)
    assert finding.message == "Cluster placement group Pg is stretched over 2 zones"
    assert only(SLUG, text, "t.yaml") == [("error", where)]
