"""GPUs and CPU against the type."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lint_inputs import gpu, job, pin, stack
from tests.support.linting import only, report, task

COUNT, CARD, CPU = "gpu-count-above-type", "containers-want-one-card", "cpu-above-type"
VALUE = "containerDefinitions[0].resourceRequirements[0].value"


@pytest.mark.parametrize(
    ("kind", "value", "count"),
    [
        ("g5.xlarge", "2", 1),
        ("g5.12xlarge", "8", 1),
        ("g5.12xlarge", "4", 0),
        ("p4d.24xlarge", "16", 1),
        ("c6i.4xlarge", "1", 1),
        ("g6.*", "16", 1),
        ("g6.*", "8", 0),
        ("g4ad.xlarge", "2", 0),
        ("g6f.xlarge", "1", 0),
        ("p9.48xlarge", "99", 0),
        ("g5.xlarge", "ALL", 0),
    ],
)
def test_gpus(kind: str, value: str, count: int) -> None:
    text = task(gpu(value), **pin(kind))
    assert only("gpu-count-above-type", text) == [("error", VALUE)] * count


def test_gpus_of_the_second_container_and_of_a_list_of_types() -> None:
    two = [{"name": "a"}, {"name": "b", **gpu("4")}]
    types = "attribute:ecs.instance-type in [g5.xlarge, g5.2xlarge]"
    expression = {"type": "memberOf", "expression": types}
    text = task(containerDefinitions=two, placementConstraints=[expression])
    assert only(COUNT, text) == [("error", VALUE.replace("[0]", "[1]", 1))]


def test_gpus_of_a_batch_node_and_of_an_unknown_number() -> None:
    node = {"container": {"instanceType": "g5.12xlarge", **gpu("8")}}
    batch = {
        "jobDefinitionName": "j",
        "type": "multinode",
        "nodeProperties": {"numNodes": 2, "nodeRangeProperties": [{"targetNodes": "0:", **node}]},
    }
    assert len(only(COUNT, json.dumps(batch))) == 1
    need = {"Type": "GPU", "Value": {"Ref": "Gpus"}}
    properties = {
        "ContainerDefinitions": [{"Name": "a", "ResourceRequirements": [need]}],
        "PlacementConstraints": [
            {"Type": "memberOf", "Expression": "attribute:ecs.instance-type == g5.xlarge"}
        ],
    }
    text = stack(Task=("AWS::ECS::TaskDefinition", properties))
    assert only(COUNT, text) == []
    need["Value"] = "2"
    assert len(only(COUNT, stack(Task=("AWS::ECS::TaskDefinition", properties)))) == 1


def test_a_figure_comes_with_its_source() -> None:
    found = report(("t.json", task(gpu("2"), **pin("g5.xlarge")))).findings
    (finding,) = [f for f in found if f.slug == COUNT]
    assert "g5.xlarge has 1" in finding.message
    assert "API_DescribeInstanceTypes" in finding.sources[0].url


@pytest.mark.parametrize(
    ("kind", "values", "count"),
    [
        ("g5.xlarge", ["1", "1"], 1),
        ("g5.12xlarge", ["2", "2"], 0),
        ("g5.12xlarge", ["4", "1"], 1),
        ("g5.xlarge", ["2", "1"], 0),
        ("p9.48xlarge", ["1", "1"], 0),
    ],
)
def test_containers_of_one_task(kind: str, values: list[str], count: int) -> None:
    two = [{"name": f"c{n}", **gpu(value)} for n, value in enumerate(values)]
    where = "containerDefinitions[1].resourceRequirements"
    found = only("containers-want-one-card", task(containerDefinitions=two, **pin(kind)))
    assert found == [("error", where)] * count


def test_all_and_one_more() -> None:
    two = [{"name": "a", **gpu("ALL")}, {"name": "b", **gpu("1")}]
    assert len(only(CARD, task(containerDefinitions=two))) == 1
    assert only(CARD, task(containerDefinitions=two[:1])) == []


def test_one_card_in_terraform() -> None:
    text = """
    locals { need = [{ type = "GPU", value = "1" }] }
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([
        { name = "server", resourceRequirements = local.need },
        { name = "metrics", resourceRequirements = local.need },
      ])
      placement_constraints {
        type       = "memberOf"
        expression = "attribute:ecs.instance-type == g6e.xlarge"
      }
    }
    """
    assert len(only(CARD, text, "m.tf")) == 1


@pytest.mark.parametrize(
    ("kind", "cpu", "count"),
    [
        ("g5.xlarge", "4096", 0),
        ("g5.xlarge", "4 vCPU", 0),
        ("g5.xlarge", "8192", 1),
        ("g5.xlarge", "8 vCPU", 1),
        ("unheard.large", "99999", 0),
    ],
)
def test_cpu_of_the_task(kind: str, cpu: str, count: int) -> None:
    assert only("cpu-above-type", task(cpu=cpu, **pin(kind))) == [("error", "cpu")] * count


def test_cpu_of_containers_and_of_batch() -> None:
    two: list[dict[str, Any]] = [{"name": "a", "cpu": 1024}, {"name": "b", "cpu": 4096}]
    text = task(containerDefinitions=two, **pin("g5.xlarge"))
    assert only(CPU, text) == [("error", "containerDefinitions[1].cpu")]
    need = [{"type": "VCPU", "value": "16"}]
    batch = job({"instanceType": "g5.2xlarge", "resourceRequirements": need})
    where = "containerProperties.resourceRequirements[0].value"
    assert only(CPU, batch) == [("error", where)]
    need[0]["value"] = "8"
    assert only(CPU, job({"instanceType": "g5.2xlarge", "resourceRequirements": need})) == []
