"""Training as a service."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only

SLUG = "finite-work-as-service"


def both(command: list[str], container: dict[str, object] | None = None, **service: object) -> str:
    one = {
        "Name": "a",
        "Command": command,
        "ResourceRequirements": [{"Type": "GPU", "Value": "1"}],
        **(container or {}),
    }
    task = {"Type": "AWS::ECS::TaskDefinition", "Properties": {"ContainerDefinitions": [one]}}
    members = {"TaskDefinition": {"Ref": "T"}, "DesiredCount": 4, **service}
    return json.dumps(
        {"Resources": {"T": task, "S": {"Type": "AWS::ECS::Service", "Properties": members}}}
    )


@pytest.mark.parametrize(
    "command",
    [
        ["python", "-m", "trainer.run", "--epochs", "3"],
        ["torchrun", "--nnodes", "4", "main.py"],
        ["python", "finetune.py"],
        ["accelerate", "launch", "train.py", "--max_steps", "100"],
    ],
)
def test_finite_work(command: list[str]) -> None:
    assert only(SLUG, both(command)) == [("warning", "Resources.S")]


def test_what_serves_or_waits_is_fine() -> None:
    train = ["python", "train.py"]
    assert only(SLUG, both(["vllm", "serve", "m"])) == []
    assert only(SLUG, both(["ray", "start", "--address=head:6379", "--block"])) == []
    assert only(SLUG, both(["python", "consume_queue.py"])) == []
    assert only(SLUG, both(train, {"PortMappings": [{"ContainerPort": 80}]})) == []
    assert only(SLUG, both(train, LoadBalancers=[{"ContainerPort": 80}])) == []
    assert only(SLUG, both(train, DesiredCount=0)) == []
    assert only(SLUG, both(train, {"ResourceRequirements": []})) == []
