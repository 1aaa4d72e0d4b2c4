"""Draining on a Spot notice."""

from __future__ import annotations

import base64
import json

import pytest

from tests.support.linting import only

SLUG = "spot-draining-off"
WHERE = "aws_launch_template.t.user_data"
TEXT = """
resource "aws_launch_template" "t" {{
  instance_market_options {{ market_type = "{market}" }}
  user_data = base64encode(<<-EOT
    #!/bin/bash
    {lines}
  EOT
  )
}}
"""
CLUSTER = "echo ECS_CLUSTER=a >> /etc/ecs/ecs.config"


@pytest.mark.parametrize(
    ("market", "lines", "count"),
    [
        ("spot", CLUSTER, 1),
        ("spot", CLUSTER + "\n    echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=false >> x", 1),
        ("spot", CLUSTER + "\n    echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> x", 0),
        ("spot", CLUSTER + '\n    echo "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true" >> x', 0),
        ("spot", CLUSTER + "\n    ${var.more}", 0),
        ("spot", "aws s3 cp s3://b/ecs.config /etc/ecs/ecs.config\n    # ECS_CLUSTER=", 0),
        ("spot", "echo ECS_CLUSTER=${var.cluster} >> /etc/ecs/ecs.config", 1),
        ("capacity-block", CLUSTER, 0),
    ],
)
def test_user_data(market: str, lines: str, count: int) -> None:
    found = only(SLUG, TEXT.format(market=market, lines=lines), "m.tf")
    assert found == [("error", WHERE)] * count


def test_user_data_that_is_not_known() -> None:
    text = TEXT.format(market="spot", lines=CLUSTER)
    start, end = text.index("base64encode"), text.rindex(")")
    assert only(SLUG, text[:start] + "var.user_data" + text[end + 1 :], "m.tf") == []


def test_spot_by_the_distribution_of_the_group() -> None:
    group = """
    resource "aws_autoscaling_group" "g" {
      mixed_instances_policy {
        instances_distribution { on_demand_percentage_above_base_capacity = 0 }
        launch_template {
          launch_template_specification { launch_template_id = aws_launch_template.t.id }
        }
      }
    }
    """
    text = TEXT.format(market="none", lines=CLUSTER).replace("market_type", "# market_type")
    text = text.replace('= "none" }', "\n}")
    assert only(SLUG, text + group, "m.tf") == [("error", WHERE)]


def test_managed_draining_of_a_provider_makes_it_a_warning() -> None:
    more = """
    resource "aws_autoscaling_group" "g" {
      launch_template { id = aws_launch_template.t.id }
    }
    resource "aws_ecs_capacity_provider" "p" {
      name = "p"
      auto_scaling_group_provider { auto_scaling_group_arn = aws_autoscaling_group.g.arn }
    }
    """
    text = TEXT.format(market="spot", lines=CLUSTER) + more
    assert only(SLUG, text, "m.tf") == [("warning", WHERE)]


def test_bottlerocket() -> None:
    lines = '[settings.ecs]\n    cluster = "a"'
    assert len(only(SLUG, TEXT.format(market="spot", lines=lines), "m.tf")) == 1
    lines += "\n    enable-spot-instance-draining = true"
    assert only(SLUG, TEXT.format(market="spot", lines=lines), "m.tf") == []


ENCODED = "IyEvYmluL2Jhc2gKZWNobyBFQ1NfQ0xVU1RFUj1jID4+IC9ldGMvZWNzL2Vjcy5jb25maWcK"
"""`#!/bin/bash`, then ECS_CLUSTER=c into the agent's file."""
TEMPLATE = {"InstanceType": "g5.xlarge", "InstanceMarketOptions": {"MarketType": "spot"}}


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (ENCODED, 1),
        (base64.b64encode(b"ECS_ENABLE_SPOT_INSTANCE_DRAINING=true").decode(), 0),
        (base64.b64encode(b"\x1f\x8b" + b"\0" * 30).decode(), 0),
    ],
)
def test_user_data_that_is_base64_already(data: str, count: int) -> None:
    properties = {"LaunchTemplateData": {**TEMPLATE, "UserData": data}}
    resources = {"L": {"Type": "AWS::EC2::LaunchTemplate", "Properties": properties}}
    where = "Resources.L.Properties.LaunchTemplateData.UserData"
    assert only(SLUG, json.dumps({"Resources": resources})) == [("error", where)] * count
    text = f"""
    resource "aws_launch_template" "t" {{
      instance_type = "g5.xlarge"
      instance_market_options {{ market_type = "spot" }}
      user_data = "{data}"
    }}
    """
    assert only(SLUG, text, "m.tf") == [("error", WHERE)] * count
