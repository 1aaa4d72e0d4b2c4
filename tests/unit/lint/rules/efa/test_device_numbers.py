"""How many devices, in which letters, by which way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.lint.fixes import repaired
from tests.support.lint_inputs import devices, job, pin, stack
from tests.support.linting import environment, only, report, task

COUNT, CASE, FOLDER = "efa-device-count", "device-permission-case", "whole-rdma-directory"
DEVICES = "containerDefinitions[0].linuxParameters.devices"


def uverbs(count: int) -> dict[str, Any]:
    return devices(*(f"/dev/infiniband/uverbs{n}" for n in range(count)))


@pytest.mark.parametrize(
    ("kind", "count", "found"),
    [
        ("p4d.24xlarge", 4, []),
        ("p4d.24xlarge", 1, [("warning", DEVICES)]),
        ("p4d.24xlarge", 5, [("error", DEVICES + "[4]")]),
        ("p5.48xlarge", 32, []),
        ("p5en.48xlarge", 32, [("error", DEVICES + "[16]")]),
        ("g5.xlarge", 1, [("error", DEVICES + "[0]")]),
        ("trn1.32xlarge", 8, []),
        ("p9.48xlarge", 99, []),
    ],
)
def test_devices_of_a_type(kind: str, count: int, found: list[tuple[str, str]]) -> None:
    assert only("efa-device-count", task(uverbs(count), **pin(kind))) == found


def test_the_second_container_and_batch() -> None:
    two = [{"name": "a"}, {"name": "b", **uverbs(5)}]
    text = task(containerDefinitions=two, **pin("p4d.24xlarge"))
    assert only(COUNT, text) == [("error", DEVICES.replace("[0]", "[1]") + "[4]")]
    batch = job({"instanceType": "p4d.24xlarge", **uverbs(1)})
    assert only(COUNT, batch) == [("warning", "containerProperties.linuxParameters.devices")]


def test_devices_that_cannot_be_known() -> None:
    held = {"Devices": [{"HostPath": {"Ref": "Path"}}, {"HostPath": "/dev/infiniband/uverbs9"}]}
    properties = {
        "ContainerDefinitions": [{"Name": "a", "LinuxParameters": held}],
        "PlacementConstraints": [
            {"Type": "memberOf", "Expression": "attribute:ecs.instance-type == p4d.24xlarge"}
        ],
    }
    assert only(COUNT, stack(T=("AWS::ECS::TaskDefinition", properties))) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["READ", "WRITE", "MKNOD"], [0]),
        (["read", "write", "mknod"], []),
        (["read", "Write"], [1]),
        (["rwm"], [0]),
    ],
)
def test_letters_of_ecs(words: list[str], found: list[int]) -> None:
    device = {"hostPath": "/dev/infiniband/uverbs0", "permissions": words}
    text = task({"linuxParameters": {"devices": [device]}})
    expected = [("error", f"{DEVICES}[0].permissions[{n}]") for n in found]
    assert only("device-permission-case", text) == expected


def test_letters_of_batch_and_the_repair() -> None:
    device = {"hostPath": "/dev/neuron0", "permissions": ["READ", "write"]}
    text = job({"linuxParameters": {"devices": [device]}})
    where = "containerProperties.linuxParameters.devices[0].permissions[1]"
    assert only(CASE, text) == [("error", where)]
    (finding,) = [f for f in report(("t.json", text)).findings if f.slug == CASE]
    assert finding.repair is not None
    assert json.loads(finding.repair.text) == "WRITE"
    assert text[finding.repair.start : finding.repair.end] in ('"write"', "write")


def test_letters_in_terraform_and_in_a_template() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name = "a"
        linuxParameters = { devices = [{
          hostPath = "/dev/infiniband/uverbs0", permissions = [PLACE]
        }] }
      }])
    }
    """
    assert len(only(CASE, text.replace("PLACE", '"READ"'), "m.tf")) == 1
    assert only(CASE, text.replace("PLACE", "var.permission"), "m.tf") == []
    held = {"Devices": [{"HostPath": "/dev/fuse", "Permissions": ["READ"]}]}
    inner = {"ContainerDefinitions": [{"Name": "a", "LinuxParameters": held}]}
    assert len(only(CASE, stack(T=("AWS::ECS::TaskDefinition", inner)))) == 1


def test_the_whole_folder() -> None:
    volume = [{"name": "rdma", "host": {"sourcePath": "/dev/infiniband/"}}]
    mount = {"mountPoints": [{"sourceVolume": "rdma", "containerPath": "/dev/infiniband"}]}
    where = [("warning", "volumes[0].host.sourcePath")]
    assert only("whole-rdma-directory", task(mount, volumes=volume)) == where
    assert only(FOLDER, task(volumes=volume)) == []
    assert only(FOLDER, task(devices("/dev/infiniband"))) == [("warning", f"{DEVICES}[0].hostPath")]
    assert only(FOLDER, task(uverbs(4))) == []
    batch = only(FOLDER, job({**mount, "volumes": volume}))
    assert batch == [("warning", "containerProperties.volumes[0].host.sourcePath")]


def test_the_whole_folder_in_terraform() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      volume {
        name      = "rdma"
        host_path = "%s"
      }
      container_definitions = jsonencode([{
        name = "a", mountPoints = [{ sourceVolume = "rdma", containerPath = "/dev/infiniband" }]
      }])
    }
    """
    assert len(only(FOLDER, text % "/dev/infiniband", "m.tf")) == 1
    assert only(FOLDER, text % "${var.path}", "m.tf") == []


VALUES = "fi-values"


@pytest.mark.parametrize(
    ("variables", "severity"),
    [
        ({"FI_PROVIDER": "tcp"}, "warning"),
        ({"FI_PROVIDER": "sockets"}, "warning"),
        ({"FI_PROVIDER": "efa"}, ""),
        ({"FI_PROVIDER": "EFA"}, ""),
        ({"FI_EFA_USE_DEVICE_RDMA": "0"}, "warning"),
        ({"FI_EFA_USE_DEVICE_RDMA": "1"}, ""),
        ({"RDMAV_FORK_SAFE": "1"}, "info"),
        ({"FI_EFA_USE_HUGE_PAGE": "0"}, ""),
    ],
)
def test_values_of_libfabric(variables: dict[str, str], severity: str) -> None:
    text = task({**uverbs(4), **environment(**variables)})
    where = "containerDefinitions[0].environment[0]"
    assert only("fi-values", text) == ([(severity, where)] if severity else [])


def test_values_without_devices_or_in_a_local() -> None:
    assert only(VALUES, task(environment(FI_PROVIDER="tcp"))) == []
    text = """
    locals {
      env = [
        { name = "FI_PROVIDER", value = "^efa" },
        { name = "NCCL_DEBUG", value = var.debug },
      ]
    }
    """
    assert only(VALUES, text, "m.tf") == [("warning", "local.env")]


def test_one_finding_for_a_container_and_one_repair_of_all_devices() -> None:
    devices = [
        {"hostPath": f"/dev/infiniband/uverbs{n}", "permissions": ["read", "write", "mknod"]}
        for n in range(4)
    ]
    text = json.dumps(json.loads(job({"linuxParameters": {"devices": devices}})))
    held = report(("t.json", text))
    (finding,) = [f for f in held.findings if f.slug == CASE]
    assert "11 more" in finding.message
    fixed = repaired(held)["t.json"]
    assert '"read"' not in fixed
    assert fixed.count('"MKNOD"') == 4
    assert only(CASE, fixed) == []
