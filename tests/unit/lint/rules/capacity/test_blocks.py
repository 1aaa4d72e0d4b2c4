"""Capacity Blocks: targeted, their end, their zone."""

from __future__ import annotations

from tests.support.linting import only

TARGET = "capacity-block-not-targeted"
END = "capacity-block-end-not-planned"
ZONES = "capacity-block-in-several-zones"
TEXT = """
variable "zone" {{}}
resource "aws_subnet" "a" {{ availability_zone = "eu-west-1a" }}
resource "aws_subnet" "b" {{ availability_zone = "eu-west-1b" }}
resource "aws_launch_template" "t" {{
  instance_type = "{type}"
  instance_market_options {{ market_type = "{market}" }}
  {template}
}}
resource "aws_autoscaling_group" "g" {{
  min_size            = {least}
  max_size            = 4
  vpc_zone_identifier = [{subnets}]
  launch_template {{ id = aws_launch_template.t.id }}
}}
{more}
"""
NAMED = """capacity_reservation_specification {
  capacity_reservation_target { capacity_reservation_id = "cr-1" }
}"""
SCHEDULE = """
resource "aws_autoscaling_schedule" "end" {
  scheduled_action_name  = "end"
  autoscaling_group_name = aws_autoscaling_group.g.name
  desired_capacity       = 0
}
"""
EVENT = """
resource "aws_cloudwatch_event_rule" "end" {
  event_pattern = jsonencode({ "detail-type" = ["Capacity Block Expiration Warning"] })
}
"""


def text(**members: str) -> str:
    given = {
        "type": "p5.48xlarge",
        "market": "capacity-block",
        "template": NAMED,
        "least": "0",
        "subnets": "aws_subnet.a.id",
        "more": "",
        **members,
    }
    return TEXT.format(**given)


def test_targeted() -> None:
    where = "aws_launch_template.t.instance_market_options"
    assert only(TARGET, text(template=""), "m.tf") == [("error", where)]
    assert only(TARGET, text(), "m.tf") == []
    assert only(TARGET, text(template="", market="spot"), "m.tf") == []
    by_variable = NAMED.replace('"cr-1"', "var.zone")
    assert only(TARGET, text(template=by_variable), "m.tf") == []


def test_there_are_no_blocks_of_g_types() -> None:
    where = "aws_launch_template.t.instance_type"
    assert only(TARGET, text(type="g5.48xlarge"), "m.tf") == [("error", where)]


def test_targeted_in_cloudformation() -> None:
    template = """
Resources:
  T:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        InstanceMarketOptions: {MarketType: capacity-block}
"""
    assert [s for s, _ in only(TARGET, template, "t.yaml")] == ["error"]


def test_the_end() -> None:
    where = "aws_autoscaling_group.g"
    assert only(END, text(least="2"), "m.tf") == [("warning", where)]
    assert only(END, text(), "m.tf") == [("info", where)]
    assert only(END, text(more=SCHEDULE), "m.tf") == []
    assert only(END, text(more=EVENT), "m.tf") == []
    assert only(END, text(market="spot"), "m.tf") == []
    unknown = EVENT.replace('jsonencode({ "detail-type" = ["Capacity', "var.zone # ")
    assert only(END, text(more=unknown), "m.tf") == []


def test_the_end_in_cloudformation() -> None:
    template = """
Resources:
  T:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceMarketOptions: {MarketType: capacity-block}}
  G:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      MinSize: "2"
      MaxSize: "2"
      LaunchTemplate: {LaunchTemplateId: !Ref T, Version: "1"}
"""
    assert only(END, template, "t.yaml") == [("warning", "Resources.G")]
    action = """
  A:
    Type: AWS::AutoScaling::ScheduledAction
    Properties: {AutoScalingGroupName: !Ref G, DesiredCapacity: 0}
"""
    assert only(END, template + action, "t.yaml") == []


def test_the_zone() -> None:
    where = "aws_autoscaling_group.g.vpc_zone_identifier"
    both = "aws_subnet.a.id, aws_subnet.b.id"
    assert only(ZONES, text(subnets=both), "m.tf") == [("warning", where)]
    assert only(ZONES, text(), "m.tf") == []
    assert only(ZONES, text(subnets=both, market="spot"), "m.tf") == []
    unknown = text(subnets=both).replace('"eu-west-1b"', "var.zone")
    assert only(ZONES, unknown, "m.tf") == []
