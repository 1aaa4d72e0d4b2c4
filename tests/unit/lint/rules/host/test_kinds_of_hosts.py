"""Windows, ECS Anywhere, and launch types beside strategies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import DATA, devices, stack, template
from tests.support.linting import only, task

WINDOWS, ANYWHERE, BOTH = "windows-accelerator", "anywhere-gpu-flag", "launch-type-beside-strategy"
NEEDS = "containerDefinitions[0].resourceRequirements"
SERVER = {"runtimePlatform": {"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE"}}


def test_a_gpu_on_windows() -> None:
    assert only("windows-accelerator", task(**SERVER)) == [("error", NEEDS)]
    assert only(WINDOWS, task({"resourceRequirements": []}, **SERVER)) == []
    assert only(WINDOWS, task(runtimePlatform={"operatingSystemFamily": "LINUX"})) == []


def test_a_windows_constraint() -> None:
    pin = {"type": "memberOf", "expression": "attribute:ecs.os-type == windows"}
    container = {"resourceRequirements": [], **devices("/dev/neuron0")}
    found = only(WINDOWS, task(container, placementConstraints=[pin]))
    assert found == [("error", "containerDefinitions[0].linuxParameters.devices")]


def test_windows_in_terraform() -> None:
    text = """
    variable "family" {}
    resource "aws_ecs_task_definition" "t" {
      runtime_platform { operating_system_family = %s }
      container_definitions = jsonencode([{
        name = "a", resourceRequirements = [{ type = "GPU", value = "1" }]
      }])
    }
    """
    assert len(only(WINDOWS, text % '"WINDOWS_SERVER_2019_FULL"', "m.tf")) == 1
    assert only(WINDOWS, text % "var.family", "m.tf") == []


INSTALL = "#!/bin/bash\nnvidia-smi\nbash ecs-anywhere-install.sh --cluster c --activation-id a"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (" --region us-west-2", [("warning", f"{DATA}.UserData")]),
        (" --region us-west-2 \\\n  --enable-gpu", []),
        (" --enable-gpu", []),
    ],
)
def test_an_install_line(tail: str, expected: list[tuple[str, str]]) -> None:
    assert only("anywhere-gpu-flag", template(UserData=INSTALL + tail + "\n")) == expected


def test_an_external_gpu_task_is_told_about_the_flag() -> None:
    text = task(requiresCompatibilities=["EXTERNAL"])
    assert only(ANYWHERE, text) == [("info", NEEDS)]
    assert only(ANYWHERE, task(requiresCompatibilities=["EC2", "EXTERNAL"])) == []


STRATEGY = [{"capacityProvider": "gpu", "weight": 1}]


@pytest.mark.parametrize(
    ("members", "count"),
    [
        ({"launchType": "EC2", "capacityProviderStrategy": STRATEGY}, 1),
        ({"launchType": "FARGATE", "capacityProviderStrategy": STRATEGY}, 1),
        ({"launchType": "EC2", "capacityProviderStrategy": []}, 0),
        ({"capacityProviderStrategy": STRATEGY}, 0),
        ({"launchType": "EC2"}, 0),
    ],
)
def test_launch_type_beside_strategy(members: dict[str, Any], count: int) -> None:
    run = json.dumps({"cluster": "c", "taskDefinition": "t", **members})
    assert only("launch-type-beside-strategy", run) == [("error", "launchType")] * count


def test_in_templates() -> None:
    properties = {
        "LaunchType": {"Fn::If": ["Pinned", "EC2", {"Ref": "AWS::NoValue"}]},
        "CapacityProviderStrategy": [{"CapacityProvider": "gpu", "Weight": 1}],
    }
    text = stack(Service=("AWS::ECS::Service", properties))
    assert only(BOTH, text) == [("error", "Resources.Service.Properties.LaunchType")]
    hcl = """
    resource "aws_ecs_service" "s" {
      launch_type = var.kind
      capacity_provider_strategy { capacity_provider = "gpu" }
    }
    """
    assert only(BOTH, hcl, "m.tf") == []
    assert len(only(BOTH, hcl.replace("var.kind", '"EC2"'), "m.tf")) == 1
