"""Rendezvous addresses that fall back to localhost."""

from __future__ import annotations

import pytest

from tests.support.linting import environment, only, task

SLUG = "rendezvous-localhost-fallback"


def shell(script: str, **variables: str) -> str:
    return task({"command": ["bash", "-c", script], **environment(**variables)})


@pytest.mark.parametrize(
    "script",
    [
        "exec torchrun --nnodes $NNODES --rdzv-endpoint ${HEAD:-localhost}:29400",
        "A=${HEAD:-127.0.0.1}; exec torchrun --master-addr $A",
        'H=$(getent hosts head || echo localhost); exec torchrun --rdzv-endpoint "$H:1"',
        'H=$(dig head); if [ -z "$H" ]; then H=localhost; fi; exec torchrun --master-addr $H',
    ],
)
def test_a_fallback_in_a_script(script: str) -> None:
    assert only(SLUG, shell(script, NNODES="4")) == [
        ("error", "containerDefinitions[0].command[2]")
    ]
    assert only(SLUG, shell(script, NNODES="1")) == []
    assert only(SLUG, shell(script)) == []


def test_the_number_of_nodes_may_stand_in_the_command() -> None:
    script = "exec torchrun --nnodes=4 --rdzv-endpoint ${HEAD:-localhost}:29400"
    assert len(only(SLUG, shell(script))) == 1
    assert only(SLUG, shell(script.replace("=4", "=1"))) == []


def test_a_fixed_address_in_a_list() -> None:
    words = ["torchrun", "--nnodes", "2", "--master-addr", "127.0.0.1", "train.py"]
    assert only(SLUG, task({"command": words})) == [("error", "containerDefinitions[0].command[4]")]


def test_a_fixed_address_in_the_environment() -> None:
    text = task(environment(NNODES="2", MASTER_ADDR="localhost"))
    assert only(SLUG, text) == [("error", "containerDefinitions[0].environment[1]")]
    assert only(SLUG, task(environment(NNODES="2", MASTER_ADDR="head.internal"))) == []


def test_a_name_without_a_fallback_is_fine() -> None:
    script = "exec torchrun --nnodes $NNODES --rdzv-endpoint ${HEAD:?no head}:29400"
    assert only(SLUG, shell(script, NNODES="4")) == []


def test_a_fallback_in_python() -> None:
    script = "exec python -c \"import os; h = os.environ.get('MASTER_ADDR', 'localhost')\""
    text = task({"command": ["sh", "-c", script], **environment(NNODES="2")})
    assert len(only("rendezvous-localhost-fallback", text)) == 1
    text = task({"command": ["sh", "-c", script], **environment(NNODES="1")})
    assert only("rendezvous-localhost-fallback", text) == []
