"""Launch types beside providers, and termination protection."""

from __future__ import annotations

import json

from tests.support.linting import only, report

BYPASS = "launch-type-bypasses-capacity-provider"
OFF = "termination-protection-off"
PATH = "autoScalingGroupProvider.managedTerminationProtection"
GROUP = {"autoScalingGroupArn": "arn:aws:autoscaling:x"}


def provider(name: str, **members: object) -> str:
    return json.dumps({"name": name, "autoScalingGroupProvider": {**GROUP, **members}})


def bypasses(service: dict[str, object]) -> list[str]:
    whole = {"serviceName": "s", "taskDefinition": "t", **service}
    files = (("s.json", json.dumps(whole)), ("p.json", provider("pool")))
    return [f.where for f in report(*files).findings if f.slug == BYPASS]


def test_a_launch_type_beside_a_provider() -> None:
    assert bypasses({"launchType": "EC2"}) == ["launchType"]
    assert bypasses({"launchType": "FARGATE"}) == []
    assert bypasses({"capacityProviderStrategy": [{"capacityProvider": "pool"}]}) == []
    alone = json.dumps({"serviceName": "s", "taskDefinition": "t", "launchType": "EC2"})
    assert only(BYPASS, alone) == []


def test_protection_switched_off() -> None:
    disabled = {"managedTerminationProtection": "DISABLED"}
    assert only(OFF, provider("docs-gpu", **disabled)) == [("warning", PATH)]
    assert only(OFF, provider("g5", **disabled)) == [("warning", PATH)]
    assert only(OFF, provider("web", **disabled)) == []
    assert only(OFF, provider("gpu", managedTerminationProtection="ENABLED")) == []


def test_left_out_it_is_off_too() -> None:
    text = """
    resource "aws_launch_template" "t" { instance_type = "g5.xlarge" }
    resource "aws_autoscaling_group" "g" {
      launch_template { id = aws_launch_template.t.id }
    }
    resource "aws_ecs_capacity_provider" "p" {
      name = "p"
      auto_scaling_group_provider { auto_scaling_group_arn = aws_autoscaling_group.g.arn }
    }
    """
    assert [severity for severity, _ in only(OFF, text, "m.tf")] == ["info"]
