"""GPUs and devices on Fargate."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, report, task

WHERE = "containerDefinitions[0].resourceRequirements"
DEVICE = {"linuxParameters": {"devices": [{"hostPath": "/dev/nvidia0"}]}}


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["FARGATE"], [("error", WHERE)]),
        (["EC2", "FARGATE"], [("error", WHERE)]),
        (["EC2"], []),
        (["MANAGED_INSTANCES"], []),
        (["EXTERNAL"], []),
        ([], []),
    ],
)
def test_a_gpu(kinds: list[str], expected: list[tuple[str, str]]) -> None:
    assert only("fargate-gpu", task(requiresCompatibilities=kinds)) == expected


def test_a_neuron_device() -> None:
    need = {"resourceRequirements": [{"type": "NeuronDevice", "value": "ALL"}]}
    assert len(only("fargate-gpu", task(need, requiresCompatibilities=["FARGATE"]))) == 1


def test_a_batch_gpu_job_on_fargate() -> None:
    job = {
        "jobDefinitionName": "j",
        "type": "container",
        "platformCapabilities": ["FARGATE"],
        "containerProperties": {"resourceRequirements": [{"type": "GPU", "value": "1"}]},
    }
    found = only("fargate-gpu", json.dumps(job))
    assert found == [("error", "containerProperties.resourceRequirements")]


def test_a_service_that_starts_it_on_fargate() -> None:
    definition = task(requiresCompatibilities=[])
    service = {"serviceName": "s", "taskDefinition": "t", "launchType": "FARGATE"}
    findings = report(("t.json", definition), ("s.json", json.dumps(service))).findings
    assert "fargate-gpu" in [f.slug for f in findings]


def test_a_cpu_task_on_fargate_is_fine() -> None:
    text = task({"resourceRequirements": []}, requiresCompatibilities=["FARGATE"])
    assert only("fargate-gpu", text) == []


def test_devices() -> None:
    where = "containerDefinitions[0].linuxParameters.devices"
    assert only("fargate-devices", task(DEVICE, requiresCompatibilities=["FARGATE"])) == [
        ("error", where)
    ]
    assert only("fargate-devices", task(DEVICE)) == []


def test_a_gpu_of_an_override() -> None:
    override = {"name": "m", "resourceRequirements": [{"type": "GPU", "value": "1"}]}
    run = {"taskDefinition": "a:3", "overrides": {"containerOverrides": [{"name": "n"}, override]}}
    where = "overrides.containerOverrides[1].resourceRequirements"
    assert only("fargate-gpu", json.dumps({**run, "launchType": "FARGATE"})) == [("error", where)]
    assert only("fargate-gpu", json.dumps({**run, "launchType": "EC2"})) == []
    assert only("fargate-gpu", json.dumps(run)) == []
