"""The address of the main node, on the main node."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only

SLUG = "main-node-address-missing-on-main"
NAME = "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"


def job(command: list[str], target: str = "0:") -> str:
    group = {"targetNodes": target, "container": {"image": "a", "command": command}}
    nodes = {"numNodes": 4, "mainNode": 0, "nodeRangeProperties": [group]}
    return json.dumps({"jobDefinitionName": "j", "type": "multinode", "nodeProperties": nodes})


@pytest.mark.parametrize(
    ("command", "target", "index"),
    [
        (["torchrun", f"${NAME}"], "0:", 1),
        (["sh", "-c", f"exec torchrun --master-addr ${NAME}"], "0:3", 2),
        (["sh", "-c", f"exec torchrun --master-addr ${{{NAME}:-$(hostname -i)}}"], "0:", None),
        (["sh", "-c", f'if [ -z "${NAME}" ]; then A=x; fi; exec t'], "0:", None),
        (["torchrun", f"${NAME}"], "1:", None),
        (["torchrun", "--standalone"], "0:", None),
    ],
)
def test_commands(command: list[str], target: str, index: int | None) -> None:
    where = f"nodeProperties.nodeRangeProperties[0].container.command[{index}]"
    expected = [] if index is None else [("warning", where)]
    assert only(SLUG, job(command, target)) == expected
