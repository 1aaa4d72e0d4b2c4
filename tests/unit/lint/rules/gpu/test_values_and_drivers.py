"""GPU counts, fractional types, CUDA, drivers and slices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.lint_inputs import DATA, gpu, job, pin, stack, template
from tests.support.linting import environment, only, task

VALUE, FRACTION, CUDA, NEWER, CAPABILITIES, MIG, RELOAD, IN_PLACE = (
    "gpu-value",
    "fractional-gpu-driver",
    "image-cuda-below-type",
    "image-newer-than-host-driver",
    "driver-capabilities-missing",
    "mig-without-scheduler",
    "gpu-lost-after-daemon-reload",
    "driver-updated-in-place",
)
NEED = "containerDefinitions[0].resourceRequirements[0].value"
GPU_AMI = (
    "{{resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id}}"
)


@pytest.mark.parametrize(
    ("value", "kind", "severity"),
    [
        ("one", "g5.xlarge", "error"),
        ("-1", "g5.xlarge", "error"),
        ("0", "g5.xlarge", "info"),
        ("0.5", "g5.xlarge", "warning"),
        ("1.5", "p9.xlarge", "warning"),
        ("0.25", "g6f.2xlarge", ""),
        ("0.5", "g6f.2xlarge", "warning"),
        ("0.5", "p9.xlarge", ""),
        ("0.5", "", "info"),
        ("1", "g5.xlarge", ""),
        ("all", "g5.xlarge", ""),
        ("ALL", "g5.xlarge", ""),
    ],
)
def test_values(value: str, kind: str, severity: str) -> None:
    found = only("gpu-value", task(gpu(value), **(pin(kind) if kind else {})))
    assert found == ([(severity, NEED)] if severity else [])


def test_values_elsewhere() -> None:
    where = "containerProperties.resourceRequirements[0].value"
    assert only(VALUE, job(gpu("many"))) == [("error", where)]
    need = {"Type": "GPU", "Value": {"Ref": "Gpus"}}
    inner = {"ContainerDefinitions": [{"Name": "a", "ResourceRequirements": [need]}]}
    assert only(VALUE, stack(T=("AWS::ECS::TaskDefinition", inner))) == []


@pytest.mark.parametrize(
    ("kind", "image", "data", "severity"),
    [
        ("g6f.xlarge", GPU_AMI, "#!/bin/bash", "warning"),
        ("gr6f.4xlarge", "ami-0123456789abcdef0", "#!/bin/bash", "info"),
        ("g6f.xlarge", GPU_AMI, "bash NVIDIA-GRID-install.sh", ""),
        ("g6.xlarge", GPU_AMI, "#!/bin/bash", ""),
    ],
)
def test_fractional_types(kind: str, image: str, data: str, severity: str) -> None:
    text = template(InstanceType=kind, ImageId=image, UserData=data)
    found = only("fractional-gpu-driver", text)
    assert found == ([(severity, f"{DATA}.InstanceType")] if severity else [])


def test_a_fractional_override() -> None:
    text = """
    resource "aws_autoscaling_group" "g" {
      mixed_instances_policy {
        launch_template {
          launch_template_specification { launch_template_id = var.id }
          override { instance_type = "g6f.large" }
          override { instance_type = var.other }
        }
      }
    }
    """
    (found,) = only(FRACTION, text, "m.tf")
    assert found[0] == "warning"
    assert "override[0].instance_type" in found[1]


@pytest.mark.parametrize(
    ("image", "kind", "severity"),
    [
        ("nvidia/cuda:10.2-base-ubuntu18.04", "p4d.24xlarge", "error"),
        ("example/train:cu102-v3", "p4de.24xlarge", "error"),
        ("nvidia/cuda:11.8.0-runtime", "p4d.24xlarge", ""),
        ("nvidia/cuda:11.8.0-runtime", "p5.48xlarge", "warning"),
        ("example/pytorch:2.4-cuda12.4", "p5en.48xlarge", ""),
        ("nvidia/cuda:10.2-base", "g4dn.xlarge", ""),
        ("example/focus102:1", "p4d.24xlarge", ""),
        ("example/train:3", "p4d.24xlarge", ""),
    ],
)
def test_cuda_of_the_image(image: str, kind: str, severity: str) -> None:
    found = only("image-cuda-below-type", task({"image": image}, **pin(kind)))
    assert found == ([(severity, "containerDefinitions[0].image")] if severity else [])
    batch = job({"image": image, "instanceType": kind, **gpu()})
    assert len(only(CUDA, batch)) == bool(severity)


FLEET = """
data "aws_ssm_parameter" "ami" {{ name = "/aws/service/ecs/optimized-ami/{ami}/image_id" }}
resource "aws_launch_template" "t" {{
  instance_type = "{kind}"
  image_id      = data.aws_ssm_parameter.ami.value
}}
resource "aws_autoscaling_group" "g" {{
  launch_template {{ id = aws_launch_template.t.id }}
}}
resource "aws_ecs_capacity_provider" "p" {{
  name = "p"
  auto_scaling_group_provider {{ auto_scaling_group_arn = aws_autoscaling_group.g.arn }}
}}
resource "aws_ecs_task_definition" "d" {{
  container_definitions = jsonencode([{{
    name = "a", image = "{image}", resourceRequirements = [{{ type = "GPU", value = "1" }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  task_definition = aws_ecs_task_definition.d.arn
  capacity_provider_strategy {{ capacity_provider = aws_ecs_capacity_provider.p.name }}
}}
"""
OLD = "amazon-linux-2/gpu/amzn2-ami-ecs-gpu-hvm-2.0.20220921-x86_64-ebs"
NEWEST = "amazon-linux-2023/gpu/recommended"


@pytest.mark.parametrize(
    ("ami", "kind", "image", "count"),
    [
        (OLD, "g5.xlarge", "nvidia/cuda:12.4.1-runtime", 1),
        (OLD, "g5.xlarge", "nvidia/cuda:11.4.3-runtime", 0),
        (OLD, "p5.48xlarge", "example/train:1", 1),
        (NEWEST, "g5.xlarge", "nvidia/cuda:12.4.1-runtime", 0),
        (NEWEST, "p5.48xlarge", "nvidia/cuda:13.0.0-runtime", 0),
        ("amazon-linux-2/gpu/recommended", "g5.xlarge", "nvidia/cuda:13.0.0-runtime", 1),
        ("amazon-linux-2/gpu/recommended", "g5.xlarge", "nvidia/cuda:12.4.1-runtime", 0),
        (OLD, "g5.xlarge", "${var.image}", 0),
    ],
)
def test_the_image_against_the_ami(ami: str, kind: str, image: str, count: int) -> None:
    found = only(
        "image-newer-than-host-driver", FLEET.format(ami=ami, kind=kind, image=image), "m.tf"
    )
    assert found == [("warning", "aws_launch_template.t.image_id")] * count


def test_an_old_ami_under_p5_in_a_template() -> None:
    name = "amzn2-ami-ecs-gpu-hvm-2.0.20230530-x86_64-ebs"
    assert len(only(NEWER, template(InstanceType="p5.48xlarge", ImageId=name))) == 1
    assert only(NEWER, template(InstanceType="p5.48xlarge", ImageId={"Ref": "Ami"})) == []


@pytest.mark.parametrize(
    ("image", "variables", "where"),
    [
        ("python:3.12-slim", {}, "environment"),
        ("public.ecr.aws/docker/library/ubuntu:24.04", {}, "environment"),
        ("python:3.12-slim", {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}, ""),
        ("nvidia/cuda:12.4", {"NVIDIA_DRIVER_CAPABILITIES": "video"}, "environment[0]"),
        ("nvidia/cuda:12.4", {"NVIDIA_DRIVER_CAPABILITIES": "all"}, ""),
        ("example/python-service:3", {}, ""),
    ],
)
def test_driver_capabilities(image: str, variables: dict[str, str], where: str) -> None:
    text = task({"image": image, **environment(**variables)})
    found = [("warning", f"containerDefinitions[0].{where}")] if where else []
    assert only("driver-capabilities-missing", text) == found


def test_driver_capabilities_only_matter_with_a_gpu() -> None:
    assert only(CAPABILITIES, task({"image": "python:3", "resourceRequirements": []})) == []
    assert len(only(CAPABILITIES, job({"image": "python:3", **gpu()}))) == 1


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("nvidia-smi -i 0 -mig 1", 1),
        ("nvidia-smi mig -cgi 9,9 -C", 1),
        ("nvidia-smi -pm 1", 0),
        ("nvidia-smi -i 0 -q", 0),
    ],
)
def test_mig_on_the_host(line: str, count: int) -> None:
    found = only("mig-without-scheduler", template(UserData=f"#!/bin/bash\n{line}\n"))
    assert found == [("warning", f"{DATA}.UserData")] * count


@pytest.mark.parametrize(
    ("value", "count"), [("MIG-7b1e9c2a", 1), ("0:1", 1), ("0,1", 0), ("all", 0), ("GPU-1a2b", 0)]
)
def test_mig_in_the_environment(value: str, count: int) -> None:
    assert len(only(MIG, task(environment(CUDA_VISIBLE_DEVICES=value)))) == count


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("echo '0 3 * * * root systemctl daemon-reload' > /etc/cron.d/r", 1),
        ("dnf install -y dnf-automatic", 1),
        ("systemctl enable --now ecs\nsystemctl daemon-reload", 1),
        ("systemctl daemon-reload\nsystemctl enable --now ecs", 0),
        ("nvidia-ctk system create-dev-char-symlinks\nyum install -y yum-cron", 0),
        ("# systemctl daemon-reload later by cron.daily", 0),
    ],
)
def test_daemon_reload(lines: str, count: int) -> None:
    data = f"#!/bin/bash\n{lines}\n"
    found = only("gpu-lost-after-daemon-reload", template(InstanceType="g5.xlarge", UserData=data))
    assert found == [("warning", f"{DATA}.UserData")] * count
    assert only(RELOAD, template(InstanceType="m6i.large", UserData=data)) == []


@pytest.mark.parametrize(
    ("image", "line", "count"),
    [
        (GPU_AMI, "yum install -y nvidia-driver-latest-dkms", 1),
        (GPU_AMI, "bash NVIDIA-Linux-x86_64-550.54.run --silent", 1),
        (GPU_AMI, "dnf install -y amazon-efs-utils", 0),
        ("ami-0123456789abcdef0", "apt-get install -y cuda-drivers", 0),
    ],
)
def test_a_driver_in_place(image: str, line: str, count: int) -> None:
    members: dict[str, Any] = {"InstanceType": "g5.xlarge", "ImageId": image}
    found = only("driver-updated-in-place", template(**members, UserData=f"#!/bin/bash\n{line}\n"))
    assert found == [("warning", f"{DATA}.UserData")] * count
    assert only(IN_PLACE, template(**members, UserData={"Ref": "Data"})) == []
