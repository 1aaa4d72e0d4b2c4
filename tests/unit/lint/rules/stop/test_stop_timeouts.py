"""Stop time-outs: their maximum, the time of a save, the default."""

from __future__ import annotations

import pytest

from tests.support.linting import environment, only, task

MAXIMUM = "stop-timeout-over-maximum"
SAVE = "stop-timeout-shorter-than-save"
DEFAULT = "default-stop-timeout-for-training"
WHERE = "containerDefinitions[0].stopTimeout"
FARGATE = {"requiresCompatibilities": ["FARGATE"]}


def test_over_the_maximum_of_fargate() -> None:
    assert only(MAXIMUM, task({"stopTimeout": 300}, **FARGATE)) == [("error", WHERE)]
    both = {"requiresCompatibilities": ["EC2", "FARGATE"]}
    assert only(MAXIMUM, task({"stopTimeout": 300}, **both)) == [("warning", WHERE)]
    assert only(MAXIMUM, task({"stopTimeout": 120}, **FARGATE)) == []
    assert only(MAXIMUM, task({"stopTimeout": 300})) == []


def test_over_the_maximum_in_terraform() -> None:
    text = """
    variable "t" {}
    resource "aws_ecs_task_definition" "d" {
      family                   = "d"
      requires_compatibilities = ["FARGATE"]
      container_definitions    = jsonencode([{ name = "a", image = "a:1", stopTimeout = 121 }])
    }
    """
    where = "aws_ecs_task_definition.d.container_definitions[0].stopTimeout"
    assert only(MAXIMUM, text, "m.tf") == [("error", where)]
    assert only(MAXIMUM, text.replace("= 121", "= var.t"), "m.tf") == []


@pytest.mark.parametrize(
    ("container", "count"),
    [
        ({"stopTimeout": 60, **environment(CHECKPOINT_SAVE_SECONDS="95")}, 1),
        ({**environment(CHECKPOINT_SAVE_SECONDS="95")}, 1),
        ({"stopTimeout": 110, **environment(CKPT_SAVE_MINUTES="2")}, 1),
        ({"stopTimeout": 60, "command": ["python", "a.py", "--save-timeout", "90"]}, 1),
        ({"stopTimeout": 110, **environment(CHECKPOINT_SAVE_SECONDS="95")}, 0),
        ({"stopTimeout": 60, **environment(CHECKPOINT_INTERVAL_SECONDS="900")}, 0),
        ({"stopTimeout": 60, **environment(SAVE_EVERY_SECONDS="900")}, 0),
        ({"stopTimeout": 60, **environment(SAVE_SECONDS="auto")}, 0),
        ({"resourceRequirements": [], **environment(CHECKPOINT_SAVE_SECONDS="95")}, 0),
    ],
)
def test_shorter_than_a_save(container: dict[str, object], count: int) -> None:
    assert only(SAVE, task(container)) == [("warning", WHERE)] * count


def test_the_agent_may_say_more() -> None:
    text = """
    resource "aws_launch_template" "t" {
      instance_type = "g5.xlarge"
      user_data     = base64encode("echo ECS_CONTAINER_STOP_TIMEOUT=110s >> /etc/ecs/ecs.config")
    }
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "a:1", command = ["torchrun", "train.py"]
        resourceRequirements = [{ type = "GPU", value = "1" }]
        environment = [{ name = "SAVE_SECONDS", value = "95" }]
      }])
    }
    """
    assert only(SAVE, text, "m.tf") == []
    assert only(DEFAULT, text, "m.tf") == []
    other = text.replace("CONTAINER_STOP_TIMEOUT=110s", "CLUSTER=a")
    assert len(only(SAVE, other, "m.tf")) == 1
    assert len(only(DEFAULT, other, "m.tf")) == 1


def test_the_default_for_training() -> None:
    command = {"command": ["torchrun", "train.py"]}
    assert only(DEFAULT, task(command)) == [("info", WHERE)]
    assert only(DEFAULT, task({**command, "stopTimeout": 90})) == []
    assert only(DEFAULT, task({"command": ["python", "serve.py"]})) == []


def test_the_grace_of_a_job_file_on_spot() -> None:
    slug = "stop-timeout-longer-than-spot-notice"
    text = """
kind: train
name: a
command: [python, train.py]
stop: {grace: 5m}
target: {capacity: {market: spot}}
"""
    assert only(slug, text, "job.yaml") == [("warning", "stop.grace")]
    assert only(slug, text.replace("5m", "90s"), "job.yaml") == []
    assert only(slug, text.replace("spot}", "on_demand}"), "job.yaml") == []
