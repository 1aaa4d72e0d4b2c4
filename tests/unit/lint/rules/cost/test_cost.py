"""Idle cards, floors, budgets, prices as one number."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import environment, only, report, task

IDLE = "idle-gpu-without-stop-rule"
FLOOR = "idle-scaling-floor"
SILENT = "budget-tells-nobody"
BUDGET = "no-budget-alarm"
PRICE = "cost-as-one-number"


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["sleep", "infinity"], 1),
        (["sh", "-c", "tail -f /dev/null"], 1),
        (["sleep", "864000"], 1),
        (["sh", "-c", "nvidia-smi && sleep infinity"], 1),
        (["sh", "-c", "python train.py; sleep infinity"], 0),
        (["sh", "-c", "/start.sh & sleep infinity"], 0),
        (["sleep", "5"], 0),
        (["python", "train.py"], 0),
    ],
)
def test_a_container_that_sleeps(words: list[str], count: int) -> None:
    where = "containerDefinitions[0].command"
    assert only(IDLE, task({"command": words})) == [("warning", where)] * count
    assert only(IDLE, task({"command": words, "resourceRequirements": []})) == []


def test_a_notebook_as_a_service() -> None:
    lab = task({"command": ["jupyter", "lab"]})

    def found(desired: int) -> list[str]:
        service = {"serviceName": "s", "taskDefinition": "t", "desiredCount": desired}
        files = (("t.json", lab), ("s.json", json.dumps(service)))
        return [f.severity.value for f in report(*files).findings if f.slug == IDLE]

    assert found(1) == ["info"]
    assert found(0) == []
    assert only(IDLE, lab) == []


TEXT = """
variable "x" {{}}
resource "aws_launch_template" "t" {{ instance_type = "{type}" }}
resource "aws_autoscaling_group" "g" {{
  min_size = {least}
  max_size = 4
  launch_template {{ id = aws_launch_template.t.id }}
}}
resource "aws_ecs_capacity_provider" "p" {{
  name = "p"
  auto_scaling_group_provider {{ auto_scaling_group_arn = aws_autoscaling_group.g.arn }}
}}
{more}
"""


def group(least: str = "2", type_: str = "g5.xlarge", more: str = "") -> str:
    return TEXT.format(least=least, type=type_, more=more)


def test_floors() -> None:
    where = "aws_autoscaling_group.g.min_size"
    assert only(FLOOR, group(), "m.tf") == [("info", where)]
    assert only(FLOOR, group("0"), "m.tf") == []
    assert only(FLOOR, group("var.x"), "m.tf") == []
    assert only(FLOOR, group(type_="m5.large"), "m.tf") == []
    service = """
    resource "aws_ecs_service" "s" {
      capacity_provider_strategy { capacity_provider = aws_ecs_capacity_provider.p.name }
      load_balancer { target_group_arn = "arn" }
    }
    """
    assert only(FLOOR, group(more=service), "m.tf") == []


def test_floors_in_cloudformation() -> None:
    text = """
Resources:
  T:
    Type: AWS::EC2::LaunchTemplate
    Properties: {LaunchTemplateData: {InstanceType: g5.xlarge}}
  G:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: {MinSize: "1", LaunchTemplate: {LaunchTemplateId: !Ref T, Version: "1"}}
  P:
    Type: AWS::ECS::CapacityProvider
    Properties: {AutoScalingGroupProvider: {AutoScalingGroupArn: !Ref G}}
"""
    assert only(FLOOR, text, "t.yaml") == [("info", "Resources.G.Properties.MinSize")]
    assert only(FLOOR, text.replace('"1", Launch', '"0", Launch'), "t.yaml") == []


NOTE = "notification {\n threshold = 80\n}"


def test_budgets() -> None:
    text = 'resource "aws_budgets_budget" "b" {\n limit_amount = "100"\n LINE\n}'
    assert [s for s, _ in only(SILENT, text.replace("LINE", ""), "m.tf")] == ["warning"]
    assert only(SILENT, text.replace("LINE", NOTE), "m.tf") == []
    template = {"Resources": {"B": {"Type": "AWS::Budgets::Budget", "Properties": {"Budget": {}}}}}
    assert [s for s, _ in only(SILENT, json.dumps(template))] == ["warning"]
    template["Resources"]["B"]["Properties"]["NotificationsWithSubscribers"] = {"Ref": "N"}
    assert only(SILENT, json.dumps(template)) == []


def test_no_budget() -> None:
    alarm = 'resource "aws_cloudwatch_metric_alarm" "a" {\n metric_name = "CPUUtilization"\n}\n'
    budget = f'resource "aws_budgets_budget" "b" {{\n {NOTE}\n}}\n'
    assert [s for s, _ in only(BUDGET, group(more=alarm), "m.tf")] == ["info"]
    assert only(BUDGET, group(more=alarm + budget), "m.tf") == []
    assert only(BUDGET, group(), "m.tf") == []
    billing = alarm.replace("CPUUtilization", "EstimatedCharges")
    assert only(BUDGET, group(more=billing), "m.tf") == []


@pytest.mark.parametrize("name", ["GPU_HOURLY_COST", "COST_PER_HOUR", "INSTANCE_PRICE_USD"])
def test_prices_in_variables(name: str) -> None:
    where = "containerDefinitions[0].environment[0]"
    assert only(PRICE, task(environment(**{name: "12.5"}))) == [("info", where)]
    assert only(PRICE, task(environment(**{name: "see the price list"}))) == []
    assert only(PRICE, task(environment(MAX_TOKENS="12"))) == []


def test_prices_of_spot() -> None:
    text = """
    variable "price" {}
    resource "aws_launch_template" "t" {
      instance_market_options {
        market_type = "spot"
        spot_options { max_price = "1.20" }
      }
    }
    """
    assert [s for s, _ in only(PRICE, text, "m.tf")] == ["info"]
    assert only(PRICE, text.replace('"1.20"', "var.price"), "m.tf") == []
    assert only(PRICE, text.replace("spot_options", "# "), "m.tf") == []
