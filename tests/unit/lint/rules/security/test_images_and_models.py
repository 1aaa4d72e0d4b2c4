"""Images, repositories, models of a hub, runtime monitoring, trails."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import environment, only, task

PIN = "image-not-pinned"
SCAN = "repository-not-scanned"
MODEL = "model-revision-not-pinned"
MONITOR = "runtime-monitoring-does-not-cover"
TRAIL = "trail-off"
DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "count"),
    [
        ("vllm/vllm-openai:latest", 1),
        ("pytorch/pytorch", 1),
        ("111122223333.dkr.ecr.eu-west-1.amazonaws.com/train:nightly", 1),
        ("host:5000/train", 1),
        ("pytorch/pytorch:2.7.0-cuda12.8-cudnn9-runtime", 0),
        (f"train@{DIGEST}", 0),
        (f"train:latest@{DIGEST}", 0),
        ("$IMAGE", 0),
    ],
)
def test_images(image: str, count: int) -> None:
    where = "containerDefinitions[0].image"
    assert only(PIN, task({"image": image})) == [("warning", where)] * count


def test_images_in_terraform_and_compose() -> None:
    text = """
    variable "tag" {}
    resource "aws_ecr_repository" "r" { name = "r" }
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "${aws_ecr_repository.r.repository_url}:latest"
        resourceRequirements = [{ type = "GPU", value = "1" }]
      }])
    }
    """
    assert [s for s, _ in only(PIN, text, "m.tf")] == ["warning"]
    assert only(PIN, text.replace(":latest", ":${var.tag}"), "m.tf") == []
    assert only(PIN, text.replace(":latest", ""), "m.tf") == []
    compose = """
services:
  a:
    image: pytorch/pytorch:latest
    deploy:
      resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}
"""
    assert [s for s, _ in only(PIN, compose, "compose.yaml")] == ["info"]
    plain = task({"image": "nginx:latest", "resourceRequirements": []})
    assert only(PIN, plain) == []


def repository(lines: str) -> list[str]:
    text = f'variable "x" {{}}\nresource "aws_ecr_repository" "r" {{\n name = "r"\n {lines}\n}}'
    return [severity for severity, _ in only(SCAN, text, "m.tf")]


def test_repositories() -> None:
    immutable = 'image_tag_mutability = "IMMUTABLE"\n'
    assert repository(immutable + "image_scanning_configuration {\n scan_on_push = false\n}") == [
        "warning"
    ]
    assert repository(immutable + "image_scanning_configuration {\n scan_on_push = true\n}") == []
    assert repository(immutable + "image_scanning_configuration {\n scan_on_push = var.x\n}") == []
    assert repository("") == ["info", "info"]
    template = {
        "Resources": {
            "R": {
                "Type": "AWS::ECR::Repository",
                "Properties": {
                    "ImageTagMutability": "IMMUTABLE",
                    "ImageScanningConfiguration": {"ScanOnPush": False},
                },
            }
        }
    }
    assert [s for s, _ in only(SCAN, json.dumps(template))] == ["warning"]


COMMIT = "0e9e39f249a16976918f6564b8830bc894c89659"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["vllm", "serve", "org/model-8B", "--trust-remote-code"], ["warning"]),
        (
            ["vllm", "serve", "org/model-8B", "--trust-remote-code", "--revision", "main"],
            ["warning"],
        ),
        (["vllm", "serve", "org/model-8B"], ["info"]),
        (["python", "a.py", "--model", "org/model-8B"], ["info"]),
        (["vllm", "serve", "org/model-8B", "--trust-remote-code", "--revision", COMMIT], []),
        (["vllm", "serve", "org/model-8B", f"--revision={COMMIT}"], []),
        (["vllm", "serve", "/models/m8b", "--trust-remote-code"], []),
        (["vllm", "serve", "s3://bucket/model"], []),
    ],
)
def test_models(words: list[str], found: list[str]) -> None:
    assert [s for s, _ in only(MODEL, task({"command": words}))] == found


def test_models_by_variables() -> None:
    model = environment(MODEL_ID="org/model-8B")
    assert [s for s, _ in only(MODEL, task(model))] == ["info"]
    pinned = environment(MODEL_ID="org/model-8B", REVISION=COMMIT)
    assert only(MODEL, task(pinned)) == []


MANAGED = """
resource "aws_ecs_capacity_provider" "p" {
  name    = "p"
  cluster = "c"
  managed_instances_provider { infrastructure_role_arn = "arn" }
}
"""
FEATURE = """
resource "aws_guardduty_detector_feature" "f" {{
  detector_id = "d"
  name        = "RUNTIME_MONITORING"
  status      = {status}
}}
"""


def test_runtime_monitoring() -> None:
    on = FEATURE.format(status='"ENABLED"')
    assert [s for s, _ in only(MONITOR, on + MANAGED, "m.tf")] == ["warning"]
    assert only(MONITOR, on, "m.tf") == []
    assert only(MONITOR, FEATURE.format(status="var.x") + MANAGED, "m.tf") == []
    other = on.replace("RUNTIME_MONITORING", "EBS_MALWARE_PROTECTION")
    assert only(MONITOR, other + MANAGED, "m.tf") == []


def test_runtime_monitoring_in_cloudformation() -> None:
    text = """
Resources:
  D:
    Type: AWS::GuardDuty::Detector
    Properties:
      Enable: true
      Features: [{Name: RUNTIME_MONITORING, Status: ENABLED}]
  T:
    Type: AWS::ECS::TaskDefinition
    Properties:
      Family: edge
      RequiresCompatibilities: [EXTERNAL]
      ContainerDefinitions:
        - {Name: a, Image: "a:1", ResourceRequirements: [{Type: GPU, Value: "1"}]}
"""
    assert [s for s, _ in only(MONITOR, text, "t.yaml")] == ["warning"]
    assert only(MONITOR, text.replace("EXTERNAL", "EC2"), "t.yaml") == []
    windows = text.replace(
        "[EXTERNAL]",
        "[EC2]\n      RuntimePlatform: {OperatingSystemFamily: WINDOWS_SERVER_2022_CORE}",
    )
    assert [s for s, _ in only(MONITOR, windows, "t.yaml")] == ["warning"]
    off = text.replace("EXTERNAL", "EC2").replace("ENABLED", "DISABLED")
    assert [s for s, _ in only(MONITOR, off, "t.yaml")] == ["info"]


def test_trails() -> None:
    text = 'variable "x" {}\nresource "aws_cloudtrail" "t" {\n name = "t"\n LINE\n}'
    off = text.replace("LINE", "enable_logging = false")
    assert only(TRAIL, off, "m.tf") == [("warning", "aws_cloudtrail.t.enable_logging")]
    assert only(TRAIL, text.replace("LINE", "enable_logging = var.x"), "m.tf") == []
    assert only(TRAIL, text.replace("LINE", ""), "m.tf") == []
    template = """
Resources:
  T: {Type: "AWS::CloudTrail::Trail", Properties: {IsLogging: false}}
"""
    assert [s for s, _ in only(TRAIL, template, "t.yaml")] == ["warning"]
