"""Training on Spot that does not resume."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import environment, only, task

SLUG = "spot-training-without-resume"
SPOT = [{"key": "capacity", "value": "spot"}]


def spot(command: list[str], tags: object = SPOT, **container: object) -> str:
    return task({"command": command, **container}, tags=tags)


@pytest.mark.parametrize(
    "words",
    [
        ["python", "train.py", "--no-resume"],
        ["torchrun", "train.py", "--save_strategy", "no"],
        ["torchrun", "train.py", "--save-strategy=no"],
        ["python", "train.py", "--auto-resume=false"],
    ],
)
def test_switched_off_in_the_command(words: list[str]) -> None:
    assert only(SLUG, spot(words)) == [("warning", "containerDefinitions[0].command")]


def test_switched_off_by_a_variable() -> None:
    found = only(SLUG, spot(["python", "train.py"], **environment(RESUME="false")))
    assert found == [("warning", "containerDefinitions[0].environment[0]")]


def test_no_sign_of_it_is_an_info() -> None:
    found = only(SLUG, spot(["python", "train.py", "--epochs", "3"]))
    assert found == [("info", "containerDefinitions[0].command")]


@pytest.mark.parametrize(
    "text",
    [
        spot(["python", "train.py", "--resume", "auto"]),
        spot(["python", "train.py", "--output_dir", "/fsx/run"]),
        spot(["python", "train.py"], **environment(CHECKPOINT_URI="s3://b/run")),
        spot(["python", "train.py", "$MORE"]),
        spot(["python", "train.py", "--no-resume"], tags=[]),
        spot(["python", "serve.py", "--port", "80"]),
    ],
)
def test_it_resumes_or_nobody_knows(text: str) -> None:
    assert only(SLUG, text) == []


def test_batch() -> None:
    job = {
        "jobDefinitionName": "j",
        "type": "container",
        "parameters": {"queue": "spot"},
        "retryStrategy": {"attempts": 3},
        "containerProperties": {
            "image": "a:1",
            "command": ["python", "train.py", "--no-checkpoint"],
            "resourceRequirements": [{"type": "GPU", "value": "1"}],
        },
    }
    assert [s for s, _ in only(SLUG, json.dumps(job))] == ["warning"]


def test_a_job_file_that_fails_on_an_interruption() -> None:
    text = """
kind: train
name: a
command: [python, train.py]
target: {capacity: {market: spot}}
restart:
  - {on: [SpotInterruption], do: fail}
"""
    assert only(SLUG, text, "job.yaml") == [("warning", "restart[0].do")]
    assert only(SLUG, text.replace("do: fail", "do: restart"), "job.yaml") == []
    assert only(SLUG, text.replace("market: spot", "market: on_demand"), "job.yaml") == []
