"""Managed Instances: requirements, association, long runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.linting import environment, only, report, task

SHAPE = "mi-requirements-shape"
TIED = "mi-association"
LONG = "long-run-on-managed-instances"
PATH = "managedInstancesProvider.instanceLaunchTemplate.instanceRequirements"
GOOD: dict[str, Any] = {"vCpuCount": {"min": 4}, "memoryMiB": {"min": 16384}}
MANAGED = {"requiresCompatibilities": ["MANAGED_INSTANCES"]}


def provider(needs: dict[str, Any], **members: object) -> str:
    inner = {"instanceLaunchTemplate": {"instanceRequirements": needs}}
    whole = {"name": "mi", "cluster": "c", "managedInstancesProvider": inner, **members}
    return json.dumps({k: v for k, v in whole.items() if v is not None})


@pytest.mark.parametrize(
    ("needs", "found"),
    [
        ({"memoryMiB": {"min": 1}}, [("error", "")]),
        ({"vCpuCount": {"min": 1}}, [("error", "")]),
        ({**GOOD, "acceleratorTypes": "gpu"}, [("error", "acceleratorTypes")]),
        ({**GOOD, "acceleratorCount": 1}, [("error", "acceleratorCount")]),
        ({**GOOD, "acceleratorNames": ["l40s"]}, [("error", "acceleratorNames[0]")]),
        ({**GOOD, "acceleratorTypes": ["neuron"]}, [("error", "acceleratorTypes[0]")]),
        (
            {**GOOD, "allowedInstanceTypes": ["p5e.48xlarge"]},
            [("warning", "allowedInstanceTypes[0]")],
        ),
        ({**GOOD, "allowedInstanceTypes": ["g6.xlarge", "p5.*"]}, []),
        (
            {
                **GOOD,
                "acceleratorTypes": ["gpu"],
                "acceleratorNames": ["t4"],
                "acceleratorCount": {"min": 1},
            },
            [],
        ),
        ({}, []),
    ],
)
def test_requirements(needs: dict[str, Any], found: list[tuple[str, str]]) -> None:
    wanted = [(severity, f"{PATH}.{path}".rstrip(".")) for severity, path in found]
    assert only(SHAPE, provider(needs)) == wanted


def test_requirements_in_terraform() -> None:
    text = """
    variable "needs" {}
    resource "aws_ecs_capacity_provider" "p" {
      name    = "p"
      cluster = "c"
      managed_instances_provider {
        instance_launch_template {
          instance_requirements {
            memory_mib { min = 16384 }
            accelerator_names = ["l4"]
          }
        }
      }
    }
    """
    assert [s for s, _ in only(SHAPE, text, "m.tf")] == ["error", "error"]
    good = text.replace('accelerator_names = ["l4"]', "vcpu_count { min = 4 }")
    assert only(SHAPE, good, "m.tf") == []


def test_a_provider_names_its_cluster() -> None:
    assert only(TIED, provider(GOOD, cluster=None)) == [("error", "cluster")]
    assert only(TIED, provider(GOOD)) == []
    template = {
        "Parameters": {"C": {"Type": "String"}},
        "Resources": {
            "P": {
                "Type": "AWS::ECS::CapacityProvider",
                "Properties": {"ClusterName": {"Ref": "C"}, "ManagedInstancesProvider": {"A": 1}},
            }
        },
    }
    assert only(TIED, json.dumps(template)) == []


def tied(definition: str) -> list[str]:
    run = {
        "taskDefinition": "t",
        "capacityProviderStrategy": [{"capacityProvider": "mi", "weight": 1}],
    }
    files = (("t.json", definition), ("run.json", json.dumps(run)), ("p.json", provider(GOOD)))
    return [f.where for f in report(*files).findings if f.slug == TIED]


def test_the_task_is_made_for_them() -> None:
    assert tied(task()) == ["requiresCompatibilities"]
    assert tied(task(**MANAGED)) == []
    assert tied(task(requiresCompatibilities=["EC2", "MANAGED_INSTANCES"])) == []
    assert tied(task(requiresCompatibilities=None)) == []


def test_long_runs() -> None:
    where = "containerDefinitions[0].environment[0]"
    for name, value in (("MAX_RUNTIME_HOURS", "840"), ("RUN_DURATION_DAYS", "21")):
        text = task(environment(**{name: value}), **MANAGED)
        assert only(LONG, text) == [("warning", where)]
    assert only(LONG, task(environment(MAX_RUNTIME_HOURS="72"), **MANAGED)) == []
    assert only(LONG, task(environment(MAX_RUNTIME_HOURS="long"), **MANAGED)) == []
    assert only(LONG, task(environment(MAX_RUNTIME_HOURS="840"))) == []


def test_long_runs_of_batch() -> None:
    text = """
    resource "aws_batch_compute_environment" "e" {
      compute_resources { type = "MANAGED_INSTANCES" }
    }
    resource "aws_batch_job_definition" "j" {
      name                 = "j"
      type                 = "container"
      container_properties = jsonencode({ image = "a:1" })
      timeout { attempt_duration_seconds = 2000000 }
    }
    """
    assert [s for s, _ in only(LONG, text, "m.tf")] == ["warning"]
    assert only(LONG, text.replace('"MANAGED_INSTANCES"', '"EC2"'), "m.tf") == []
