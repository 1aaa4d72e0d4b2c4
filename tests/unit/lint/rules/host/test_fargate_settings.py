"""Settings that Fargate refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.lint_inputs import job, stack
from tests.support.linting import only, task

PRIVILEGED, SETTING = "fargate-privileged", "fargate-invalid-parameter"
NO_GPU: dict[str, Any] = {"resourceRequirements": []}
FARGATE = {"requiresCompatibilities": ["FARGATE"]}


def test_privileged() -> None:
    text = task({**NO_GPU, "privileged": True}, **FARGATE)
    assert only("fargate-privileged", text) == [("error", "containerDefinitions[0].privileged")]
    assert only(PRIVILEGED, task({"privileged": True})) == []
    assert only(PRIVILEGED, task({"privileged": False}, **FARGATE)) == []
    batch = job({"privileged": True}, platformCapabilities=["FARGATE"])
    assert only(PRIVILEGED, batch) == [("error", "containerProperties.privileged")]


def test_privileged_that_cannot_be_known() -> None:
    text = """
    variable "privileged" {}
    resource "aws_ecs_task_definition" "t" {
      requires_compatibilities = ["FARGATE"]
      container_definitions    = jsonencode([{ name = "a", privileged = var.privileged }])
    }
    """
    assert only(PRIVILEGED, text, "m.tf") == []


@pytest.mark.parametrize(
    ("container", "where"),
    [
        ({"dnsServers": ["10.0.0.2"]}, "dnsServers"),
        ({"links": ["other"]}, "links"),
        ({"extraHosts": [{"hostname": "a", "ipAddress": "10.0.0.1"}]}, "extraHosts"),
        ({"disableNetworking": True}, "disableNetworking"),
        ({"linuxParameters": {"sharedMemorySize": 64}}, "linuxParameters.sharedMemorySize"),
        ({"linuxParameters": {"swappiness": 60}}, "linuxParameters.swappiness"),
    ],
)
def test_a_setting_of_a_container(container: dict[str, Any], where: str) -> None:
    text = task({**NO_GPU, **container}, **FARGATE)
    expected = [("error", f"containerDefinitions[0].{where}")]
    assert only("fargate-invalid-parameter", text) == expected
    assert only(SETTING, task({**NO_GPU, **container})) == []


@pytest.mark.parametrize(
    "container",
    [
        {"dnsServers": [], "links": [], "disableNetworking": False},
        {"linuxParameters": {"initProcessEnabled": True}},
    ],
)
def test_empty_members_are_fine(container: dict[str, Any]) -> None:
    assert only(SETTING, task({**NO_GPU, **container}, **FARGATE, placementConstraints=[])) == []


def test_members_of_the_task_in_a_template() -> None:
    properties = {
        "RequiresCompatibilities": ["FARGATE"],
        "IpcMode": "host",
        "PlacementConstraints": [{"Type": "memberOf", "Expression": {"Ref": "Where"}}],
        "ContainerDefinitions": [{"Name": "a", "Image": "b"}],
    }
    text = stack(Task=("AWS::ECS::TaskDefinition", properties))
    assert sorted(only(SETTING, text)) == [
        ("error", "Resources.Task.Properties.IpcMode"),
        ("error", "Resources.Task.Properties.PlacementConstraints"),
    ]


def test_a_gpu_on_fargate_is_the_larger_mistake() -> None:
    assert only(SETTING, task({"linuxParameters": {"sharedMemorySize": 64}}, **FARGATE)) == []
