"""Ranks that come back alone, wait for ever, or are killed early; heads behind old names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.lint_inputs import job, stack
from tests.support.linting import environment, only, task

RESTART, DNS, GRACE, TIMEOUT = (
    "restart-policy-on-rank",
    "ray-head-by-stale-dns",
    "launcher-grace-below-stop-timeout",
    "process-group-timeout-missing",
)
COMMAND = "containerDefinitions[0].command"
TRAIN = {"command": ["torchrun", "--nproc-per-node", "8", "train.py"]}
SERVE = {"command": ["vllm", "serve", "m"]}


@pytest.mark.parametrize(
    ("policy", "container", "count"),
    [
        ({"enabled": True}, TRAIN, 1),
        ({"enabled": True, "ignoredExitCodes": [0]}, TRAIN, 0),
        ({"enabled": True, "ignoredExitCodes": [0]}, {**TRAIN, **environment(NNODES="2")}, 1),
        ({"enabled": False}, TRAIN, 0),
        ({"enabled": True}, SERVE, 0),
    ],
)
def test_restart_policies(policy: dict[str, Any], container: dict[str, Any], count: int) -> None:
    found = only("restart-policy-on-rank", task({**container, "restartPolicy": policy}))
    assert found == [("warning", "containerDefinitions[0].restartPolicy")] * count


def test_restart_policies_in_terraform() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name                 = "a"
        command              = ["python", "train.py"]
        resourceRequirements = [{ type = "GPU", value = "1" }]
        restartPolicy        = { enabled = PLACE }
      }])
    }
    """
    assert len(only(RESTART, text.replace("PLACE", "true"), "m.tf")) == 1
    assert only(RESTART, text.replace("PLACE", "var.restart"), "m.tf") == []


RAY = """
resource "aws_service_discovery_service" "head" {{
  name = "ray-head"
  dns_config {{
    namespace_id = var.namespace
    dns_records {{
      ttl  = {ttl}
      type = "A"
    }}
  }}
}}
resource "aws_ecs_task_definition" "t" {{
  container_definitions = jsonencode([{{ name = "a", command = {command} }}])
}}
"""
WORKER = '["ray", "start", "--address=ray-head.ml.local:6379", "--block"]'


@pytest.mark.parametrize(
    ("ttl", "command", "count"),
    [
        ("60", WORKER, 1),
        ("300", '["ray", "start", "--head"]', 1),
        ("10", WORKER, 0),
        ("var.ttl", WORKER, 0),
        ("60", '["python", "web.py"]', 0),
    ],
)
def test_names_of_a_ray_head(ttl: str, command: str, count: int) -> None:
    found = only("ray-head-by-stale-dns", RAY.format(ttl=ttl, command=command), "m.tf")
    assert [severity for severity, _ in found] == ["warning"] * count
    assert all(where.endswith("ttl") for _, where in found)


def test_a_rendezvous_by_name_in_a_template() -> None:
    records = [{"Type": "A", "TTL": 60}]
    names = {"Name": "main", "DnsConfig": {"DnsRecords": records}}
    pairs = {"NNODES": "2", "MASTER_ADDR": "main.train.local"}
    held = [{"Name": key, "Value": value} for key, value in pairs.items()]
    inner = {"ContainerDefinitions": [{"Name": "a", "Environment": held}]}
    kinds: dict[str, Any] = {
        "Names": ("AWS::ServiceDiscovery::Service", names),
        "Task": ("AWS::ECS::TaskDefinition", inner),
    }
    where = "Resources.Names.Properties.DnsConfig.DnsRecords[0].TTL"
    assert only(DNS, stack(**kinds)) == [("warning", where)]
    held[1]["Value"] = "10.0.0.1"
    assert only(DNS, stack(**kinds)) == []


def test_a_worker_alone() -> None:
    worker = {"command": ["ray", "start", "--address=head.ml.local:6379", "--block"]}
    assert only(DNS, task(worker)) == [("info", COMMAND)]
    by_address = {"command": ["ray", "start", "--address=10.0.0.7:6379"]}
    assert only(DNS, task(by_address)) == []


SPOT = [{"key": "capacity", "value": "spot"}]


@pytest.mark.parametrize(
    ("command", "limit", "members", "severity"),
    [
        (["torchrun", "train.py"], 110, {"tags": SPOT}, "warning"),
        (["python", "-m", "torch.distributed.run", "t.py"], 110, {"tags": SPOT}, "warning"),
        (["torchrun", "train.py"], 110, {}, "info"),
        (["torchrun", "--shutdown-timeout=20", "t.py"], 110, {}, "warning"),
        (["torchrun", "--shutdown-timeout", "100", "t.py"], 110, {"tags": SPOT}, ""),
        (["torchrun", "train.py"], 30, {"tags": SPOT}, ""),
        (["python", "train.py"], 110, {"tags": SPOT}, ""),
    ],
)
def test_launchers(command: list[str], limit: int, members: dict[str, Any], severity: str) -> None:
    text = task({"command": command, "stopTimeout": limit}, **members)
    found = [(severity, COMMAND)] if severity else []
    assert only("launcher-grace-below-stop-timeout", text) == found


def test_launchers_in_terraform() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      tags                  = { market = "spot" }
      container_definitions = jsonencode([{
        name = "a", stopTimeout = PLACE, command = ["sh", "-c", "exec torchrun train.py"]
      }])
    }
    """
    assert len(only(GRACE, text.replace("PLACE", "110"), "m.tf")) == 1
    assert only(GRACE, text.replace("PLACE", "var.stop"), "m.tf") == []


MANY = ["torchrun", "--nnodes", "4", "train.py"]


@pytest.mark.parametrize(
    ("command", "variables", "severity"),
    [
        (MANY, {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}, "warning"),
        (MANY, {"NCCL_ASYNC_ERROR_HANDLING": "0"}, "warning"),
        (MANY, {}, "info"),
        ([*MANY, "--ddp_timeout", "900"], {}, ""),
        (MANY, {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "300"}, ""),
        (["torchrun", "--nnodes", "1", "train.py"], {}, ""),
    ],
)
def test_time_outs(command: list[str], variables: dict[str, str], severity: str) -> None:
    text = task({"command": command, **environment(**variables)})
    found = only("process-group-timeout-missing", text)
    assert [s for s, _ in found] == ([severity] if severity else [])


def test_a_time_out_that_cannot_be_known() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name                 = "a"
        command              = ["torchrun", "--nnodes", "4", "train.py"]
        resourceRequirements = [{ type = "GPU", value = "1" }]
        environment          = var.environment
      }])
    }
    """
    assert only(TIMEOUT, text, "m.tf") == []
    off = environment(NCCL_ASYNC_ERROR_HANDLING="0", NNODES="2")
    need = [{"type": "GPU", "value": "1"}]
    batch = job({**off, "resourceRequirements": need})
    assert [severity for severity, _ in only(TIMEOUT, batch)] == ["warning"]
