"""Batch jobs on Spot that meet a lost host."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only

SLUG = "spot-no-host-retry"
LOST = {"onStatusReason": "Host EC2*", "action": "RETRY"}
REST = {"onReason": "*", "action": "EXIT"}


def job(retry: dict[str, object] | None, **members: object) -> str:
    whole: dict[str, object] = {
        "jobDefinitionName": "j",
        "type": "container",
        "containerProperties": {"image": "a"},
        "tags": {"capacity": "spot"},
        **members,
    }
    if retry is not None:
        whole["retryStrategy"] = retry
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("retry", "count"),
    [
        (None, 1),
        ({"attempts": 1}, 1),
        ({"attempts": 1, "evaluateOnExit": [LOST]}, 1),
        ({"attempts": 3, "evaluateOnExit": [{"onExitCode": "137", "action": "RETRY"}, REST]}, 1),
        ({"attempts": 3, "evaluateOnExit": [REST, LOST]}, 1),
        ({"attempts": 3, "evaluateOnExit": [LOST, REST]}, 0),
        ({"attempts": 3}, 0),
    ],
)
def test_retries(retry: dict[str, object] | None, count: int) -> None:
    assert only(SLUG, job(retry)) == [("warning", "retryStrategy")] * count


@pytest.mark.parametrize(
    ("queue", "count"),
    [("gpu-spot", 1), ("SPOT_p5", 1), ("gpu-non-spot", 0), ("hotspots", 0), ("spotless", 0)],
)
def test_spot_as_a_word_of_a_queue(queue: str, count: int) -> None:
    assert len(only(SLUG, job({"attempts": 1}, tags={"queue": queue}))) == count
    text = f"""
    resource "aws_batch_job_queue" "q" {{ name = "{queue}" }}
    resource "aws_batch_job_definition" "j" {{
      name                 = "j"
      type                 = "container"
      container_properties = jsonencode({{ image = "a" }})
    }}
    """
    assert len(only(SLUG, text, "m.tf")) == count


def test_not_on_spot() -> None:
    assert only(SLUG, job({"attempts": 1}, tags={"team": "spot-on"})) == []
    assert only(SLUG, job({"attempts": 1}, tags={"capacity": "ondemand"})) == []


def test_a_spot_environment_beside_it() -> None:
    text = """
    resource "aws_batch_compute_environment" "e" {
      compute_resources { type = "SPOT" }
    }
    resource "aws_batch_job_definition" "j" {
      name                 = "j"
      type                 = "container"
      container_properties = jsonencode({ image = "a" })
    }
    """
    assert only(SLUG, text, "m.tf") == [("warning", "aws_batch_job_definition.j.retry_strategy")]
    assert only(SLUG, text.replace('"SPOT"', '"EC2"'), "m.tf") == []
