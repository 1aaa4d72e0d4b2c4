"""Shells as the first process."""

from __future__ import annotations

import pytest

from tests.support.linting import only, task

SLUG = "shell-swallows-sigterm"
WHERE = "containerDefinitions[0].command"


@pytest.mark.parametrize(
    "script",
    [
        "python feeder.py & python train.py & wait",
        "python prepare.py && python train.py",
        "python train.py | tee log",
        "python prepare.py; python train.py; echo done",
        "nvidia-smi\npython train.py",
        "python feeder.py & exec python train.py",
    ],
)
def test_the_program_does_not_hear(script: str) -> None:
    for words in (["sh", "-c", script], ["/bin/bash", "-ec", script]):
        assert only(SLUG, task({"command": words})) == [("warning", WHERE)]


@pytest.mark.parametrize(
    "script",
    [
        "exec python train.py",
        "cd /app && exec python train.py",
        "A=$(cat x; cat y); exec python train.py --a $A",
        "python train.py",
        "python train.py > log 2>&1",
        "trap 'kill -TERM $P' TERM; python train.py & P=$!; wait $P",
        "exec python train.py --note 'a & b; c'",
    ],
)
def test_the_program_hears(script: str) -> None:
    assert only(SLUG, task({"command": ["sh", "-c", script]})) == []


def test_no_shell_and_no_accelerator() -> None:
    assert only(SLUG, task({"command": ["python", "a & b"]})) == []
    cpu = {"command": ["sh", "-c", "a & b & wait"], "resourceRequirements": []}
    assert only(SLUG, task(cpu)) == []


def test_the_init_process_is_no_cure() -> None:
    container = {
        "command": ["sh", "-c", "a & b & wait"],
        "linuxParameters": {"initProcessEnabled": True},
    }
    assert only(SLUG, task(container)) == [("warning", WHERE)]


def test_a_script_in_the_entry_point() -> None:
    text = task({"entryPoint": ["sh", "-c", "a & b & wait"]})
    assert only(SLUG, text) == [("warning", "containerDefinitions[0].entryPoint")]
