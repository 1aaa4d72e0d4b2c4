"""Event rules on tasks, and what they relaunch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import stack
from tests.support.linting import only

TAGS, DESIRED, LONE = "event-rule-on-tags", "event-rule-desired-status", "lone-rank-relaunch"
PATTERN = "Resources.Rule.Properties.EventPattern"


def rule(detail: dict[str, Any], kind: str = "ECS Task State Change", **members: Any) -> str:
    pattern = {"source": ["aws.ecs"], "detail-type": [kind], "detail": detail}
    return stack(Rule=("AWS::Events::Rule", {"EventPattern": pattern, **members}))


@pytest.mark.parametrize("key", ["tags", "Tags"])
def test_tags(key: str) -> None:
    text = rule({"lastStatus": ["STOPPED"], key: {"job": ["train"]}})
    assert only("event-rule-on-tags", text) == [("error", f"{PATTERN}.detail.{key}")]


def test_tags_below_or() -> None:
    text = rule({"$or": [{"tags": {"job": ["a"]}}, {"group": ["b"]}]})
    assert len(only(TAGS, text)) == 1


def test_what_events_do_carry() -> None:
    assert only(TAGS, rule({"lastStatus": ["STOPPED"], "group": ["gang:run-1"]})) == []
    assert only(TAGS, rule({"tags": {"a": ["b"]}}, "EC2 Instance State-change")) == []


def terraform(detail: str, more: str = "") -> str:
    return f"""
    resource "aws_cloudwatch_event_rule" "r" {{
      name          = "stopped"
      event_pattern = jsonencode({{
        source        = ["aws.ecs"]
        "detail-type" = ["ECS Task State Change"]
        detail        = {{ {detail} }}
      }})
    }}
    {more}
    """


def test_in_terraform() -> None:
    found = only(TAGS, terraform("tags = { job = [var.job] }"), "m.tf")
    assert [severity for severity, _ in found] == ["error"]
    assert found[0][1].startswith("aws_cloudwatch_event_rule.r.event_pattern")
    assert only(DESIRED, terraform("desiredStatus = var.status"), "m.tf") == []
    assert len(only(DESIRED, terraform('desiredStatus = ["STOPPED"]'), "m.tf")) == 1


def test_desired_status() -> None:
    where = [("warning", f"{PATTERN}.detail.desiredStatus")]
    assert only("event-rule-desired-status", rule({"desiredStatus": ["STOPPED"]})) == where
    both = {"desiredStatus": ["STOPPED"], "lastStatus": ["STOPPED"]}
    assert only(DESIRED, rule(both)) == []
    assert only(DESIRED, rule({"lastStatus": ["STOPPED"]})) == []


def relaunch(command: list[str], status: str = "lastStatus") -> str:
    task = {
        "Family": "train",
        "ContainerDefinitions": [{"Name": "a", "Image": "b", "Command": command}],
    }
    target = {
        "Arn": "arn:cluster",
        "Id": "again",
        "EcsParameters": {"TaskDefinitionArn": {"Ref": "Task"}, "TaskCount": 1},
    }
    held = json.loads(rule({status: ["STOPPED"]}, Targets=[target]))
    held["Resources"]["Task"] = {"Type": "AWS::ECS::TaskDefinition", "Properties": task}
    return json.dumps(held)


TRAIN = ["torchrun", "--nnodes", "4", "train.py"]


def test_a_lone_rank() -> None:
    where = "Resources.Rule.Properties.Targets[0].EcsParameters"
    assert only("lone-rank-relaunch", relaunch(TRAIN)) == [("warning", where)]
    assert len(only(LONE, relaunch(TRAIN, "desiredStatus"))) == 1
    assert only(LONE, relaunch(["python", "report.py"])) == []
    assert only(LONE, relaunch(TRAIN, "launchType")) == []


@pytest.mark.parametrize(("status", "count"), [("STOPPED", 1), ("RUNNING", 0)])
def test_a_lone_rank_in_terraform(status: str, count: int) -> None:
    more = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{ name = "a", command = ["torchrun", "train.py"] }])
    }
    resource "aws_cloudwatch_event_target" "t" {
      rule = aws_cloudwatch_event_rule.r.name
      arn  = var.cluster
      ecs_target { task_definition_arn = aws_ecs_task_definition.t.arn }
    }
    resource "aws_cloudwatch_event_target" "other" {
      rule = aws_cloudwatch_event_rule.r.name
      arn  = var.queue
    }
    """
    text = terraform(f'lastStatus = ["{status}"]', more)
    assert len(only(LONE, text, "m.tf")) == count
