"""Checkpoints that die with the host."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import environment, only, task

SLUG = "checkpoint-only-on-instance"
TRAIN = ["torchrun", "train.py"]
COMMAND = "containerDefinitions[0].command"


def train(*more: str, **members: object) -> str:
    return task({"command": [*TRAIN, *more]}, **members)


def mounted(path: str, volume: dict[str, object], target: str = "/ckpt") -> str:
    container = {
        "command": [*TRAIN, "--checkpoint-dir", path],
        "mountPoints": [{"sourceVolume": "v", "containerPath": target}],
    }
    return task(container, volumes=[{"name": "v", **volume}])


@pytest.mark.parametrize(
    "more",
    [
        ["--checkpoint-dir", "/workspace/ckpt"],
        ["--output_dir=/tmp/out"],
        ["--save-path", "./checkpoints/run"],
        ["--ckpt_path", "/opt/ml/checkpoints"],
    ],
)
def test_inside_the_container(more: list[str]) -> None:
    assert only(SLUG, train(*more)) == [("warning", COMMAND)]


def test_by_a_variable() -> None:
    text = task({"command": TRAIN, **environment(CHECKPOINT_DIR="/data/ckpt")})
    assert only(SLUG, text) == [("warning", "containerDefinitions[0].environment[0]")]


@pytest.mark.parametrize(
    ("volume", "severity"),
    [
        ({"host": {}}, "warning"),
        ({}, "warning"),
        ({"host": {"sourcePath": "/mnt/nvme"}}, "info"),
    ],
)
def test_on_the_host(volume: dict[str, object], severity: str) -> None:
    assert only(SLUG, mounted("/ckpt/run", volume)) == [(severity, COMMAND)]


@pytest.mark.parametrize(
    "text",
    [
        mounted("/ckpt/run", {"efsVolumeConfiguration": {"fileSystemId": "fs-1"}}),
        mounted("/ckpt/run", {"host": {"sourcePath": "/fsx/run"}}),
        mounted("/ckpt/run", {"configuredAtLaunch": True}),
        mounted("/ckpt/run", {"host": {"sourcePath": "/x"}}).replace('"v"', '"w"', 1),
        train("--checkpoint-dir", "s3://bucket/run"),
        train("--output_dir", "/tmp/out", "--upload", "s3://bucket/run"),
        train("--output_dir", "$OUT/run"),
        train("--save-interval", "100"),
        train("--log-dir", "/tmp/logs"),
        train("--resume-from-checkpoint", "/models/base"),
        train("--pretrained_ckpt", "/models/base/model.ckpt"),
        train(),
        task({"command": ["python", "serve.py", "--output-dir", "/tmp/out", "--port", "1"]}),
        task({"command": TRAIN, **environment(OUTPUT_DIR="/tmp/o", BACKUP="s3://b/run")}),
    ],
)
def test_elsewhere_or_not_known(text: str) -> None:
    assert only(SLUG, text) == []


def test_terraform() -> None:
    text = """
    variable "dir" {}
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "a:1", command = ["torchrun", "train.py", "--output_dir", "/tmp/a"]
        resourceRequirements = [{ type = "GPU", value = "1" }]
      }])
    }
    """
    where = "aws_ecs_task_definition.d.container_definitions[0].command"
    assert only(SLUG, text, "m.tf") == [("warning", where)]
    assert only(SLUG, text.replace('"/tmp/a"', "var.dir"), "m.tf") == []


def test_batch() -> None:
    properties = {
        "image": "a:1",
        "command": [*TRAIN, "--output_dir", "/out/run"],
        "resourceRequirements": [{"type": "GPU", "value": "1"}],
    }
    job = {"jobDefinitionName": "j", "type": "container", "containerProperties": properties}
    assert [s for s, _ in only(SLUG, json.dumps(job))] == ["warning"]
    properties["mountPoints"] = [{"sourceVolume": "v", "containerPath": "/out"}]
    properties["volumes"] = [{"name": "v", "efsVolumeConfiguration": {"fileSystemId": "f"}}]
    assert only(SLUG, json.dumps(job)) == []
