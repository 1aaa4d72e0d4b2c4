"""EFA devices and locked memory."""

from __future__ import annotations

import pytest

from tests.support.linting import environment, only, report, task

PIN = [{"type": "memberOf", "expression": "attribute:ecs.instance-type == p5.48xlarge"}]
UVERBS = {"devices": [{"hostPath": "/dev/infiniband/uverbs0"}]}
NO_LIMIT = [{"name": "memlock", "softLimit": -1, "hardLimit": -1}]
DEVICES = "containerDefinitions[0].linuxParameters.devices"
ULIMITS = "containerDefinitions[0].ulimits"


def test_a_provider_without_devices() -> None:
    text = task(environment(FI_PROVIDER="efa"), placementConstraints=PIN)
    assert only("efa-device-not-mapped", text) == [("error", DEVICES)]
    messages = [f.message for f in report(("t.json", text)).findings]
    assert any("uverbs31" in message for message in messages)


def test_mapped_devices_are_enough() -> None:
    text = task({**environment(FI_PROVIDER="efa"), "linuxParameters": UVERBS})
    assert only("efa-device-not-mapped", text) == []


def test_a_privileged_container_sees_the_devices() -> None:
    text = task({**environment(FI_PROVIDER="efa"), "privileged": True})
    assert only("efa-device-not-mapped", text) == []
    assert only("efa-memlock", text) == [("warning", ULIMITS)]


def test_no_efa_no_finding() -> None:
    text = task(environment(FI_PROVIDER="tcp", NCCL_DEBUG="INFO"))
    assert only("efa-device-not-mapped", text) == []
    assert only("efa-memlock", text) == []


def test_devices_that_cannot_be_known() -> None:
    text = """
    variable "devices" {}
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name            = "a"
        environment     = [{ name = "FI_PROVIDER", value = "efa" }]
        linuxParameters = { devices = var.devices }
      }])
    }
    """
    assert only("efa-device-not-mapped", text, "m.tf") == []


@pytest.mark.parametrize(
    ("ulimits", "where"),
    [
        (None, ULIMITS),
        ([], ULIMITS),
        ([{"name": "nofile", "softLimit": 1, "hardLimit": 1}], ULIMITS),
        ([{"name": "memlock", "softLimit": 64, "hardLimit": -1}], ULIMITS + "[0].softLimit"),
    ],
)
def test_limited_memory(ulimits: list[dict[str, object]] | None, where: str) -> None:
    container: dict[str, object] = {"linuxParameters": UVERBS}
    if ulimits is not None:
        container["ulimits"] = ulimits
    assert only("efa-memlock", task(container)) == [("error", where)]


def test_unlimited_memory() -> None:
    assert only("efa-memlock", task({"linuxParameters": UVERBS, "ulimits": NO_LIMIT})) == []
