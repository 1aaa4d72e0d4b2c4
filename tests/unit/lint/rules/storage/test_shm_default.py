"""Shared memory and loader workers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.linting import environment, only, task

SLUG = "shm-default-with-loader"
WHERE = "containerDefinitions[0].linuxParameters.sharedMemorySize"
WORDS = {"command": ["python", "train.py", "--num-workers", "8"]}


@pytest.mark.parametrize(
    "container",
    [
        WORDS,
        {"command": ["python", "train.py", "--dataloader_num_workers=4"]},
        {"command": ["sh", "-c", "exec python train.py --num_workers 2"]},
        environment(NUM_WORKERS="8"),
        {**WORDS, "linuxParameters": {"sharedMemorySize": 64}},
        {**WORDS, "linuxParameters": {"initProcessEnabled": True}},
    ],
)
def test_the_default_is_small(container: dict[str, Any]) -> None:
    assert only(SLUG, task(container)) == [("warning", WHERE)]


@pytest.mark.parametrize(
    ("container", "members"),
    [
        ({**WORDS, "linuxParameters": {"sharedMemorySize": 8192}}, {}),
        (WORDS, {"ipcMode": "host"}),
        ({**WORDS, "linuxParameters": {"tmpfs": [{"containerPath": "/dev/shm"}]}}, {}),
        ({**WORDS, "mountPoints": [{"containerPath": "/dev/shm"}]}, {}),
        ({**WORDS, "resourceRequirements": []}, {}),
        ({"command": ["python", "train.py", "--num-workers", "0"]}, {}),
        (environment(NUM_WORKERS="0"), {}),
        ({"command": ["python", "train.py"]}, {}),
        ({"command": ["uvicorn", "--workers", "4"], "portMappings": [{"containerPort": 1}]}, {}),
    ],
)
def test_enough_or_not_needed(container: dict[str, Any], members: dict[str, Any]) -> None:
    assert only(SLUG, task(container, **members)) == []


def test_a_size_that_is_not_known() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name                 = "a"
        command              = ["train", "--num-workers", "8"]
        resourceRequirements = [{ type = "GPU", value = "1" }]
        linuxParameters      = { sharedMemorySize = var.size }
      }])
    }
    """
    assert only(SLUG, text, "m.tf") == []
