"""Sharing a GPU: forms, shapes, places."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import gpu, pin, stack
from tests.support.linting import environment, only, report, task

MIXED, SHAPE, HOST, PRODUCTION, MANUAL = (
    "gpu-sharing-mixed",
    "mps-shape",
    "mps-not-on-this-host",
    "gpu-shared-in-production",
    "manual-sharing-incomplete",
)
NEED = "containerDefinitions[0].resourceRequirements[0]"
STRATEGY = f"{NEED}.sharingStrategy"


def mps(**inner: Any) -> dict[str, Any]:
    return {"type": "GPU", "sharingStrategy": {"nvidiaMps": inner}}


GOOD = mps(memory=8192, maxComputePercent=40)


def test_a_count_and_a_strategy_in_one_requirement() -> None:
    text = task({"resourceRequirements": [{**GOOD, "value": "1"}]})
    assert only("gpu-sharing-mixed", text) == [("warning", f"{NEED}.value")]


def test_two_forms_in_one_task() -> None:
    two = [{"name": "a", "resourceRequirements": [GOOD]}, {"name": "b", **gpu()}]
    where = "containerDefinitions[1].resourceRequirements[0].value"
    assert only(MIXED, task(containerDefinitions=two)) == [("warning", where)]
    assert only(MIXED, task(containerDefinitions=two[:1] * 2)) == []
    assert only(MIXED, task(containerDefinitions=two[1:])) == []


def test_two_forms_in_a_template() -> None:
    need = {"Type": "GPU", "Value": "1", "SharingStrategy": {"NvidiaMps": {"Memory": 1024}}}
    container = {"Name": "a", "ResourceRequirements": [need]}
    text = stack(T=("AWS::ECS::TaskDefinition", {"ContainerDefinitions": [container]}))
    assert [severity for severity, _ in only(MIXED, text)] == ["warning"]


def test_a_container_that_helps_itself() -> None:
    two = [{"name": "a", **gpu()}, {"name": "b", **environment(NVIDIA_VISIBLE_DEVICES="0")}]
    where = "containerDefinitions[1].environment[0]"
    assert only(MIXED, task(containerDefinitions=two)) == [("info", where)]
    two[1] = {"name": "b", **environment(NVIDIA_VISIBLE_DEVICES="void")}
    assert only(MIXED, task(containerDefinitions=two)) == []


@pytest.mark.parametrize(
    ("strategy", "where"),
    [
        ({"nvidiaMps": {"memory": 0}}, ".nvidiaMps.memory"),
        ({"nvidiaMps": {"memory": 1.5}}, ".nvidiaMps.memory"),
        ({"nvidiaMps": {"memory": 99999}}, ".nvidiaMps.memory"),
        ({"nvidiaMps": {"maxComputePercent": 40}}, ".nvidiaMps.memory"),
        ({"nvidiaMps": {"memory": 64, "maxComputePercent": 140}}, ".nvidiaMps.maxComputePercent"),
        ({"timeSlicing": {}}, ""),
        ({"nvidiaMps": {"memory": 8192, "maxComputePercent": 100}}, None),
        ({"nvidiaMps": {"memory": 22888}}, None),
    ],
)
def test_the_shape(strategy: dict[str, Any], where: str | None) -> None:
    need = [{"type": "GPU", "sharingStrategy": strategy}]
    found = only("mps-shape", task({"resourceRequirements": need}, **pin("g5.xlarge")))
    assert found == ([] if where is None else [("warning", STRATEGY + where)])


def test_a_memory_that_cannot_be_known() -> None:
    text = """
    variable "memory" {}
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name = "a"
        resourceRequirements = [{
          type = "GPU", sharingStrategy = { nvidiaMps = { memory = var.memory } }
        }]
      }])
    }
    """
    assert only(SHAPE, text, "m.tf") == []
    assert len(only(SHAPE, text.replace("var.memory", "-1"), "m.tf")) == 1


def test_mps_where_it_is_not() -> None:
    shared = {"resourceRequirements": [GOOD]}
    outside = task(shared, requiresCompatibilities=["EXTERNAL"])
    assert only("mps-not-on-this-host", outside) == [("error", STRATEGY)]
    assert only(HOST, task(shared, **pin("g6f.xlarge"))) == [("error", STRATEGY)]
    assert only(HOST, task(shared, **pin("g6.xlarge"))) == []
    assert only(HOST, task(gpu(), requiresCompatibilities=["EXTERNAL"])) == []


def served(definition: str, **members: Any) -> list[tuple[str, str]]:
    balancers = [{"targetGroupArn": "arn:tg", "containerName": "main", "containerPort": 80}]
    service = {"serviceName": "s", "taskDefinition": "t", "loadBalancers": balancers, **members}
    findings = report(("t.json", definition), ("s.json", json.dumps(service))).findings
    return [(f.severity.value, f.where) for f in findings if f.slug == PRODUCTION]


BY_HAND = {"resourceRequirements": [], **environment(NVIDIA_VISIBLE_DEVICES="0")}


def test_sharing_in_production() -> None:
    shared = {"resourceRequirements": [GOOD]}
    tags = [{"key": "Environment", "value": "production"}]
    assert only(PRODUCTION, task(shared, tags=tags)) == [("warning", STRATEGY)]
    assert only("gpu-shared-in-production", task(shared, family="llm-prod")) == [
        ("warning", STRATEGY)
    ]
    assert served(task(shared)) == [("info", STRATEGY)]
    assert served(task(BY_HAND)) == [("warning", "containerDefinitions[0].environment[0]")]


@pytest.mark.parametrize("family", ["llm-dev", "product-search", "reproduce"])
def test_sharing_elsewhere(family: str) -> None:
    assert only(PRODUCTION, task({"resourceRequirements": [GOOD]}, family=family)) == []
    assert only(PRODUCTION, task(gpu(), family="llm-prod")) == []


@pytest.mark.parametrize(
    ("value", "severity"), [("all", "warning"), ("0", "info"), ("none", ""), ("void", "")]
)
def test_sharing_by_hand(value: str, severity: str) -> None:
    text = task({"resourceRequirements": [], **environment(NVIDIA_VISIBLE_DEVICES=value)})
    where = "containerDefinitions[0].environment[0]"
    assert only("manual-sharing-incomplete", text) == ([(severity, where)] if severity else [])


def test_a_gpu_that_is_asked_for() -> None:
    assert only(MANUAL, task(environment(NVIDIA_VISIBLE_DEVICES="all"))) == []
    unknown = """
    variable "needs" {}
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name                 = "a"
        resourceRequirements = var.needs
        environment          = [{ name = "NVIDIA_VISIBLE_DEVICES", value = "all" }]
      }])
    }
    """
    assert only(MANUAL, unknown, "m.tf") == []


@pytest.mark.parametrize(
    ("line", "count"), [('OPTIONS="--default-runtime nvidia"', 0), ("echo ready", 1)]
)
def test_the_host_side_of_sharing_by_hand(line: str, count: int) -> None:
    text = f"""
    resource "aws_launch_template" "t" {{
      instance_type = "g5.xlarge"
      user_data     = base64encode("#!/bin/bash\\n{line.replace('"', chr(92) + '"')}\\n")
    }}
    resource "aws_ecs_task_definition" "t" {{
      container_definitions = jsonencode([{{
        name = "a", environment = [{{ name = "NVIDIA_VISIBLE_DEVICES", value = "0" }}]
      }}])
    }}
    """
    assert len(only(MANUAL, text, "m.tf")) == count
