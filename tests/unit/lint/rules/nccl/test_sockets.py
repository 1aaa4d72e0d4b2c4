"""Socket interfaces, bridges and transports of NCCL."""

from __future__ import annotations

import pytest

from tests.support.lint_inputs import job, stack
from tests.support.linting import environment, only, task

NAMES, BRIDGE, OFF = "nccl-socket-ifname", "nccl-bridge-mode", "nccl-transport-off"
FIRST = "containerDefinitions[0].environment[0]"


@pytest.mark.parametrize(
    ("value", "mode", "nodes", "count"),
    [
        ("lo", "host", "2", 1),
        ("lo", "host", "1", 0),
        ("docker0", "host", "2", 1),
        ("ens5", "awsvpc", "2", 1),
        ("en", "bridge", "2", 1),
        ("en", "host", "2", 0),
        ("eth0", "awsvpc", "2", 0),
        ("^lo,docker", "host", "2", 0),
        ("^docker0", "host", "2", 1),
        ("^docker0", "host", "1", 0),
        ("efa0", "host", "2", 1),
        ("rdmap16s27", "host", "2", 1),
        ("=ens5", "host", "2", 0),
    ],
)
def test_names(value: str, mode: str, nodes: str, count: int) -> None:
    held = environment(NCCL_SOCKET_IFNAME=value, NNODES=nodes)
    found = only("nccl-socket-ifname", task(held, networkMode=mode))
    assert found == [("warning", FIRST)] * count
    gloo = environment(GLOO_SOCKET_IFNAME=value, NNODES=nodes)
    assert len(only(NAMES, task(gloo, networkMode=mode))) == count


def test_names_elsewhere() -> None:
    variables = [{"Name": "NCCL_SOCKET_IFNAME", "Value": {"Ref": "Interface"}}]
    container = {"Name": "a", "Environment": variables}
    properties = {"NetworkMode": "awsvpc", "ContainerDefinitions": [container]}
    assert only(NAMES, stack(T=("AWS::ECS::TaskDefinition", properties))) == []
    variables[0]["Value"] = "ens5"  # type: ignore[assignment]
    assert len(only(NAMES, stack(T=("AWS::ECS::TaskDefinition", properties)))) == 1
    assert only(NAMES, job(environment(NCCL_SOCKET_IFNAME="ens5"))) == []


@pytest.mark.parametrize(
    ("members", "nodes", "severity"),
    [
        ({"networkMode": "bridge"}, "2", "error"),
        ({}, "2", "warning"),
        ({"networkMode": "bridge"}, "1", ""),
        ({"networkMode": "host"}, "2", ""),
        ({"networkMode": "awsvpc"}, "2", ""),
    ],
)
def test_bridges(members: dict[str, str], nodes: str, severity: str) -> None:
    text = task(environment(NNODES=nodes), **members)
    found = only("nccl-bridge-mode", text)
    assert found == ([(severity, "networkMode")] if severity else [])


def test_a_bridge_in_terraform() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      network_mode          = PLACE
      container_definitions = jsonencode([{
        name                 = "a"
        command              = ["torchrun", "--nnodes", "4", "train.py"]
        resourceRequirements = [{ type = "GPU", value = "8" }]
      }])
    }
    """
    where = "aws_ecs_task_definition.t.network_mode"
    assert only(BRIDGE, text.replace("PLACE", '"bridge"'), "m.tf") == [("error", where)]
    assert only(BRIDGE, text.replace("PLACE", "var.mode"), "m.tf") == []


@pytest.mark.parametrize(
    ("variables", "severity"),
    [
        ({"NCCL_NET": "Socket", "FI_PROVIDER": "efa"}, "warning"),
        ({"NCCL_NET_PLUGIN": "none", "FI_PROVIDER": "efa"}, "warning"),
        ({"NCCL_NET": "Socket"}, ""),
        ({"NCCL_NET": "AWS Libfabric", "FI_PROVIDER": "efa"}, ""),
        ({"NCCL_P2P_DISABLE": "1"}, "info"),
        ({"NCCL_P2P_DISABLE": "0"}, ""),
    ],
)
def test_transports(variables: dict[str, str], severity: str) -> None:
    found = only("nccl-transport-off", task(environment(**variables)))
    assert found == ([(severity, FIRST)] if severity else [])
    batch = only(OFF, job(environment(**variables)))
    assert [s for s, _ in batch] == ([severity] if severity else [])
