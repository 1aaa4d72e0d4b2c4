"""How Neuron devices are handed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import devices, job, pin, stack
from tests.support.linting import only, report, task

TWICE, VALUE, ONE, MANAGED, COUNT, ELASTIC = (
    "neuron-managed-and-manual",
    "neuron-device-value",
    "neuron-one-container",
    "neuron-device-not-managed",
    "neuron-device-count",
    "elastic-inference-closed",
)
NEEDS = "containerDefinitions[0].resourceRequirements"
DEVICES = "containerDefinitions[0].linuxParameters.devices"
HERE = {"requiresCompatibilities": ["MANAGED_INSTANCES"]}


def neuron(value: str = "ALL") -> dict[str, Any]:
    return {"resourceRequirements": [{"type": "NeuronDevice", "value": value}]}


def test_both_ways() -> None:
    text = task({**neuron(), **devices("/dev/neuron0")}, **HERE)
    assert only("neuron-managed-and-manual", text) == [("error", DEVICES)]
    assert only(TWICE, task(neuron(), **HERE)) == []
    assert only(TWICE, task({**neuron(), **devices("/dev/fuse")}, **HERE)) == []


def test_both_ways_in_two_containers_of_a_template() -> None:
    two = [
        {"Name": "a", "ResourceRequirements": [{"Type": "NeuronDevice", "Value": "ALL"}]},
        {"Name": "b", "LinuxParameters": {"Devices": [{"HostPath": "/dev/neuron0"}]}},
    ]
    text = stack(T=("AWS::ECS::TaskDefinition", {"ContainerDefinitions": two}))
    assert len(only(TWICE, text)) == 1


@pytest.mark.parametrize(
    ("value", "repaired"), [("1", False), ("16", False), ("all", True), ("All", True)]
)
def test_values(value: str, repaired: bool) -> None:
    text = task(neuron(value), **HERE)
    assert only("neuron-device-value", text) == [("error", f"{NEEDS}[0].value")]
    (finding,) = [f for f in report(("t.json", text)).findings if f.slug == VALUE]
    assert (finding.repair is not None) == repaired
    if finding.repair:
        assert json.loads(finding.repair.text) == "ALL"


def test_the_value_all_and_an_unknown_one() -> None:
    assert only(VALUE, task(neuron(), **HERE)) == []
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name = "a", resourceRequirements = [{ type = "NeuronDevice", value = PLACE }]
      }])
    }
    """
    assert only(VALUE, text.replace("PLACE", "var.count"), "m.tf") == []
    assert len(only(VALUE, text.replace("PLACE", "2"), "m.tf")) == 1


def test_two_containers() -> None:
    two = [{"name": "a", **neuron()}, {"name": "b", **neuron()}]
    where = "containerDefinitions[1].resourceRequirements"
    text = task(containerDefinitions=two, **HERE)
    assert only("neuron-one-container", text) == [("error", where)]
    assert only(ONE, task(containerDefinitions=two[:1], **HERE)) == []


def test_one_device_in_two_containers() -> None:
    first, second = devices("/dev/neuron0"), devices("/dev/neuron0", "/dev/neuron1")
    two = [{"name": "a", **first}, {"name": "b", **second}]
    where = "containerDefinitions[1].linuxParameters.devices[0].hostPath"
    assert only(ONE, task(containerDefinitions=two)) == [("warning", where)]
    apart = [{"name": "a", **first}, {"name": "b", **devices("/dev/neuron1")}]
    assert only(ONE, task(containerDefinitions=apart)) == []


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (["EC2"], 1),
        (["EXTERNAL"], 1),
        ([], 1),
        (["MANAGED_INSTANCES"], 0),
        (["EC2", "MANAGED_INSTANCES"], 0),
        (["FARGATE"], 0),
    ],
)
def test_the_launch_type(kinds: list[str], count: int) -> None:
    text = task(neuron(), requiresCompatibilities=kinds)
    assert only("neuron-device-not-managed", text) == [("error", NEEDS)] * count


def test_a_launch_type_that_cannot_be_known() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      requires_compatibilities = PLACE
      container_definitions    = jsonencode([{
        name = "a", resourceRequirements = [{ type = "NeuronDevice", value = "ALL" }]
      }])
    }
    """
    assert only(MANAGED, text.replace("PLACE", "var.kinds"), "m.tf") == []
    assert len(only(MANAGED, text.replace("PLACE", '["EC2"]'), "m.tf")) == 1


@pytest.mark.parametrize(
    ("kind", "number", "count"),
    [
        ("inf2.xlarge", 0, 0),
        ("inf2.xlarge", 1, 1),
        ("inf2.24xlarge", 5, 0),
        ("inf2.24xlarge", 6, 1),
        ("trn1.32xlarge", 16, 1),
        ("g5.xlarge", 0, 1),
        ("trn9.48xlarge", 99, 0),
    ],
)
def test_numbers(kind: str, number: int, count: int) -> None:
    held = {"resourceRequirements": [], **devices(f"/dev/neuron{number}")}
    found = only("neuron-device-count", task(held, **pin(kind)))
    assert found == [("error", f"{DEVICES}[0]")] * count
    batch = job({"instanceType": kind, **devices(f"/dev/neuron{number}")})
    assert len(only(COUNT, batch)) == count


def test_elastic_inference() -> None:
    accelerators = [{"deviceName": "d", "deviceType": "eia2.medium"}]
    text = task({"resourceRequirements": []}, inferenceAccelerators=accelerators)
    assert only("elastic-inference-closed", text) == [("error", "inferenceAccelerators")]
    need = {"resourceRequirements": [{"type": "InferenceAccelerator", "value": "d"}]}
    assert only(ELASTIC, task(need)) == [("error", f"{NEEDS}[0]")]
    assert only(ELASTIC, task()) == []
    properties = {"InferenceAccelerators": [{"DeviceName": "d", "DeviceType": "eia1.large"}]}
    assert len(only(ELASTIC, stack(T=("AWS::ECS::TaskDefinition", properties)))) == 1
