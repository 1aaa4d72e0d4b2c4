"""Socket interfaces, bridges and transports of NCCL."""

from __future__ import annotations

import pytest

from phalanx.lint.readers.detect import read_world
from phalanx.lint.source import SourceFile
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World
from tests.support.lint_inputs import job, stack
from tests.support.linting import environment, only, report, task

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


@pytest.mark.parametrize(
    ("command", "variables", "nodes"),
    [
        ("torchrun --nnodes=2 t.py", {}, (2, 2)),
        ("torchrun --nnodes 4 t.py", {}, (4, 4)),
        ("torchrun --nnodes=1:4 t.py", {}, (1, 4)),
        ("torchrun --nnodes=1 t.py", {"NNODES": "8"}, (1, 1)),
        ("torchrun --nnodes=$N t.py", {"N": "3"}, (3, 3)),
        ("torchrun --nnodes=${N:-2} t.py", {}, (2, 2)),
        ("torchrun --nnodes=${N:-2} t.py", {"N": "5"}, (5, 5)),
        ("export N=6; torchrun --nnodes=$N t.py", {}, (6, 6)),
        ("torchrun --nnodes=$N t.py", {}, None),
        ("accelerate launch --num_machines 2 t.py", {}, (2, 2)),
        ("deepspeed --num_nodes=2 t.py", {}, (2, 2)),
        ("python t.py trainer.num_nodes=2", {}, (2, 2)),
        ("python gnn.py --num-nodes 10000", {}, None),
        ("python t.py", {"PET_NNODES": "2:4"}, (2, 4)),
        ("python t.py", {}, None),
    ],
)
def test_one_notion_of_nodes(
    command: str, variables: dict[str, str], nodes: tuple[int, int] | None
) -> None:
    words = ["sh", "-c", command] if "$" in command else command.split()
    held = {"command": words, **environment(NCCL_SOCKET_IFNAME="lo", **variables)}
    entities, _, _ = read_world([SourceFile("t.json", task(held, networkMode="bridge"))])
    (made,) = World(entities).all(TaskDefinition)
    assert (made.least_nodes, made.nodes) == (nodes or (None, None))
    assert made.is_multi_node is bool(nodes and nodes[1] > 1)
    several = made.is_multi_node
    assert len(only(NAMES, task(held, networkMode="awsvpc"))) == several
    assert len(only(BRIDGE, task(held, networkMode="bridge"))) == several


def test_a_restart_policy_is_judged_by_the_command_too() -> None:
    held = {
        "command": ["torchrun", "--nnodes=4", "t.py"],
        "restartPolicy": {"enabled": True},
    }
    said = [f.message for f in report(("t.json", task(held))).findings if f.rule == "GNG008"]
    assert said == ["A rank of several nodes is restarted alone"]
