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
        "python train.py | tee log",
        "python feeder.py &\npython train.py",
    ],
)
def test_background_processes_and_pipelines(script: str) -> None:
    for shell in ("sh", "/bin/bash"):
        assert only(SLUG, task({"command": [shell, "-c", script]})) == [("warning", WHERE)]


@pytest.mark.parametrize(
    "script",
    [
        "python prepare.py && python train.py",
        "python prepare.py; python train.py; echo done",
        "nvidia-smi\npython train.py",
        "ulimit -n 65536; python train.py",
    ],
)
def test_lists_of_commands(script: str) -> None:
    assert only(SLUG, task({"command": ["sh", "-c", script]})) == [("warning", WHERE)]
    assert only(SLUG, task({"command": ["bash", "-ec", script]})) == [("info", WHERE)]


def test_one_command() -> None:
    assert only(SLUG, task({"command": ["sh", "-c", "python a.py > l 2>&1"]})) == [("info", WHERE)]
    assert only(SLUG, task({"command": ["bash", "-c", "python a.py > l 2>&1"]})) == []


@pytest.mark.parametrize(
    "script",
    [
        "exec python train.py",
        "cd /app && exec python train.py",
        "A=$(cat x; cat y); exec python train.py --a $A",
        "python feeder.py & exec python train.py",
        "trap 'kill -TERM $P' TERM; python train.py & P=$!; wait $P",
        "exec python train.py --note 'a & b; c'",
    ],
)
def test_the_program_hears(script: str) -> None:
    for shell in ("sh", "bash"):
        assert only(SLUG, task({"command": [shell, "-c", script]})) == []


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
