"""Where Neuron runs, from which image, and when models are compiled."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.lint_inputs import DATA, devices, job, pin, template
from tests.support.linting import environment, only, task

SCOPE, AMI, COMPILE, PACKAGE = (
    "neuron-type-out-of-scope",
    "neuron-ami",
    "neuron-compile-at-start",
    "neuron-package-for-other-generation",
)
PROVIDER = """
Resources:
  P:
    Type: AWS::ECS::CapacityProvider
    Properties:
      ManagedInstancesProvider:
        InstanceLaunchTemplate:
          InstanceRequirements:
            AllowedInstanceTypes: [{types}]
"""


@pytest.mark.parametrize(
    ("types", "count"),
    [
        ('"trn2.*"', 1),
        ("trn2.48xlarge", 1),
        ("inf1.xlarge", 1),
        ("trn1n.32xlarge", 1),
        ("inf2.xlarge, trn1.2xlarge", 0),
        ('"trn1.*", "inf1.*"', 1),
        ("!Ref Types", 0),
    ],
)
def test_types_of_managed_instances(types: str, count: int) -> None:
    found = only("neuron-type-out-of-scope", PROVIDER.format(types=types), "t.yaml")
    assert [severity for severity, _ in found] == ["warning"] * count


def test_types_in_terraform() -> None:
    text = """
    resource "aws_launch_template" "t" { instance_type = "trn1n.32xlarge" }
    resource "aws_autoscaling_group" "g" {
      launch_template { id = aws_launch_template.t.id }
    }
    resource "aws_ecs_capacity_provider" "p" {
      name = "p"
      auto_scaling_group_provider { auto_scaling_group_arn = aws_autoscaling_group.g.arn }
    }
    """
    assert [severity for severity, _ in only(SCOPE, text, "m.tf")] == ["info"]
    assert only(SCOPE, text.replace("trn1n", "trn1"), "m.tf") == []


AL2023 = "{{{{resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/{}image_id}}}}"


@pytest.mark.parametrize(
    ("kind", "image", "severity"),
    [
        ("inf2.xlarge", AL2023.format("recommended/"), "error"),
        ("trn1.32xlarge", AL2023.format("gpu/recommended/"), "error"),
        ("inf2.xlarge", AL2023.format("neuron/recommended/"), ""),
        ("inf1.xlarge", "amzn2-ami-ecs-inf-hvm-2.0.20230109-x86_64-ebs", "warning"),
        ("g5.xlarge", AL2023.format("recommended/"), ""),
        ("inf2.xlarge", "ami-0123456789abcdef0", ""),
    ],
)
def test_images_of_hosts(kind: str, image: str, severity: str) -> None:
    text = template(InstanceType=kind, ImageId=image)
    assert only("neuron-ami", text) == ([(severity, f"{DATA}.ImageId")] if severity else [])


def test_an_image_of_a_host_in_terraform() -> None:
    text = """
    data "aws_ssm_parameter" "ami" {
      name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/PLACErecommended/image_id"
    }
    resource "aws_launch_template" "t" {
      instance_type = "trn1.2xlarge"
      image_id      = data.aws_ssm_parameter.ami.value
    }
    """
    assert len(only(AMI, text.replace("PLACE", "gpu/"), "m.tf")) == 1
    assert only(AMI, text.replace("PLACE", "neuron/"), "m.tf") == []


def served(command: list[str], **variables: str) -> dict[str, Any]:
    port = {"portMappings": [{"containerPort": 8080}], "resourceRequirements": []}
    held = {"image": "example/vllm-neuronx:1", "command": command, **environment(**variables)}
    return {**held, **port, **devices("/dev/neuron0")}


@pytest.mark.parametrize(
    ("command", "variables", "severity"),
    [
        (["sh", "-c", "optimum-cli export neuron --model m /m && exec serve"], {}, "warning"),
        (["sh", "-c", "neuronx-cc compile g.pb && exec server"], {}, "warning"),
        (["python", "compile_model.py"], {}, "warning"),
        (["vllm", "serve", "m"], {}, "info"),
        (["vllm", "serve", "example/model-8b"], {}, "warning"),
        (["python", "-m", "vllm.entrypoints", "--model", "example/model-8b"], {}, "warning"),
        (["vllm", "serve", "/models/m8b"], {}, "info"),
        (["vllm", "serve", "e/m"], {"NEURON_COMPILE_CACHE_URL": "s3://b/cache"}, ""),
        (["vllm", "serve", "m"], {"NEURON_COMPILED_ARTIFACTS": "/m"}, ""),
        (["vllm", "serve", "s3://b/m/neuron/v3"], {}, ""),
        (["serve", "--precompiled", "/m"], {}, ""),
    ],
)
def test_compiling(command: list[str], variables: dict[str, str], severity: str) -> None:
    found = only("neuron-compile-at-start", task(served(command, **variables)))
    assert found == ([(severity, "containerDefinitions[0].command")] if severity else [])


def test_compiling_elsewhere() -> None:
    command = ["sh", "-c", "neuronx-cc compile g.pb"]
    builder = {"command": command, "resourceRequirements": [], **devices("/dev/neuron0")}
    assert only(COMPILE, task(builder)) == []
    assert only(COMPILE, task({"command": command})) == []
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name            = "a"
        portMappings    = [{ containerPort = 80 }]
        command         = ["sh", "-c", PLACE]
        linuxParameters = { devices = [{ hostPath = "/dev/neuron0" }] }
      }])
    }
    """
    assert len(only(COMPILE, text.replace("PLACE", '"neuronx-cc x && exec s"'), "m.tf")) == 1
    assert only(COMPILE, text.replace("PLACE", "var.script"), "m.tf") == []


@pytest.mark.parametrize(
    ("kind", "image", "count"),
    [
        ("inf1.xlarge", "example/pytorch-inference-neuronx:2.1", 1),
        ("inf2.xlarge", "example/pytorch-inference-neuron:1.13", 1),
        ("inf2.xlarge", "example/pytorch-inference-neuronx:2.1", 0),
        ("inf1.xlarge", "example/pytorch-inference-neuron:1.13", 0),
        ("inf2.xlarge", "example/server:1", 0),
        ("g5.xlarge", "example/pytorch-inference-neuronx:2.1", 0),
    ],
)
def test_packages(kind: str, image: str, count: int) -> None:
    found = only("neuron-package-for-other-generation", task({"image": image}, **pin(kind)))
    assert found == [("warning", "containerDefinitions[0].image")] * count
    assert len(only(PACKAGE, job({"image": image, "instanceType": kind}))) == count
