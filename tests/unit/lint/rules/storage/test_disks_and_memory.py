"""Shared memory, local disks, ephemeral storage, buckets of models."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, report, task

CEILING = "shm-as-large-as-memory"
FARGATE = "shm-size-on-fargate"
NVME = "local-nvme-unused"
BUCKET = "model-bucket-without-versioning"
EPHEMERAL = "ephemeral-storage-on-ec2"
SHM = "containerDefinitions[0].linuxParameters.sharedMemorySize"


def shm(size: object, memory: object = 8000, **members: object) -> str:
    container = {"memory": memory, "linuxParameters": {"sharedMemorySize": size}}
    return task(container, **members)


def test_the_ceiling_of_shared_memory() -> None:
    assert only(CEILING, shm(8000)) == [("warning", SHM)]
    assert only(CEILING, shm(16384)) == [("warning", SHM)]
    assert only(CEILING, shm(4096)) == []
    whole = {"memory": None, "linuxParameters": {"sharedMemorySize": 16384}}
    assert only(CEILING, task(whole, memory="16 GB")) == [("warning", SHM)]
    assert only(CEILING, shm(16384, None)) == []


def test_the_ceiling_in_a_compose_file_and_in_terraform() -> None:
    text = """
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "a:1", memory = 4096
        linuxParameters = { sharedMemorySize = 8192 }
      }])
    }
    """
    assert len(only(CEILING, text, "m.tf")) == 1
    assert only(CEILING, text.replace("= 8192", "= var.shm"), "m.tf") == []


def test_fargate_has_none() -> None:
    only_fargate = {"requiresCompatibilities": ["FARGATE"]}
    assert only(FARGATE, shm(1024, **only_fargate)) == [("error", SHM)]
    both = {"requiresCompatibilities": ["FARGATE", "EC2"]}
    assert only(FARGATE, shm(1024, **both)) == [("warning", SHM)]
    assert only(FARGATE, shm(1024)) == []
    tmpfs = {"linuxParameters": {"tmpfs": [{"containerPath": "/t", "size": 64}]}}
    assert only(FARGATE, task(tmpfs, **only_fargate)) == []
    assert only(FARGATE, task(tmpfs, **both)) == []
    batch = {"type": "container", "platformCapabilities": ["FARGATE"], "jobDefinitionName": "j"}
    held = {**batch, "containerProperties": {"image": "a:1", **tmpfs}}
    where = "containerProperties.linuxParameters.tmpfs"
    assert only(FARGATE, json.dumps(held)) == [("error", where)]
    held["platformCapabilities"] = ["EC2"]
    assert only(FARGATE, json.dumps(held)) == []


HOST = """
resource "aws_launch_template" "t" {{
  instance_type = "{type}"
  user_data     = base64encode(<<-EOT
    #!/bin/bash
    echo ECS_CLUSTER=a >> /etc/ecs/ecs.config
    {line}
  EOT
  )
}}
"""


@pytest.mark.parametrize(
    ("kind", "line", "count"),
    [
        ("p4d.24xlarge", "", 1),
        ("g5.xlarge", "yum update -y", 1),
        ("g5.xlarge", "mkfs.xfs /dev/nvme1n1 && mount /dev/nvme1n1 /scratch", 0),
        ("p3.2xlarge", "", 0),
        ("m5d.large", "", 0),
        ("g5.xlarge", "${var.more}", 0),
    ],
)
def test_local_disks(kind: str, line: str, count: int) -> None:
    text = HOST.format(type=kind, line=line)
    assert only(NVME, text, "m.tf") == [("info", "aws_launch_template.t.user_data")] * count


def managed(**template: object) -> list[tuple[str, str]]:
    inner = {"instanceRequirements": {"allowedInstanceTypes": ["g5.xlarge"]}, **template}
    provider = {"name": "p", "cluster": "c"}
    return only(
        NVME,
        json.dumps({**provider, "managedInstancesProvider": {"instanceLaunchTemplate": inner}}),
    )


def test_local_disks_of_managed_instances() -> None:
    assert [severity for severity, _ in managed()] == ["info"]
    assert managed(localStorageConfiguration={"useLocalStorage": True}) == []
    assert managed(instanceRequirements={"allowedInstanceTypes": ["g5.*"]}) == []


def test_ephemeral_storage_is_of_fargate() -> None:
    size = {"ephemeralStorage": {"sizeInGiB": 100}}
    assert only(EPHEMERAL, task(**size)) == [("warning", "ephemeralStorage")]
    assert only(EPHEMERAL, task(requiresCompatibilities=["FARGATE"], **size)) == []
    assert only(EPHEMERAL, task({"resourceRequirements": []}, **size)) == []
    terraform = """
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "a:1", resourceRequirements = [{ type = "GPU", value = "1" }]
      }])
      ephemeral_storage { size_in_gib = 100 }
    }
    """
    assert [s for s, _ in only(EPHEMERAL, terraform, "m.tf")] == ["warning"]


VERSIONING = """
resource "aws_s3_bucket" "models" {{ bucket = "acme-models" }}
resource "aws_s3_bucket_versioning" "v" {{
  bucket = aws_s3_bucket.models.id
  versioning_configuration {{ status = {status} }}
}}
"""


def test_buckets_of_models_in_terraform() -> None:
    where = "aws_s3_bucket.models"
    alone = VERSIONING.partition('resource "aws_s3_bucket_v')[0].format()
    assert only(BUCKET, alone, "m.tf") == [("info", where)]
    assert only(BUCKET, alone.replace("models", "logs"), "m.tf") == []
    assert only(BUCKET, VERSIONING.format(status='"Enabled"'), "m.tf") == []
    assert only(BUCKET, VERSIONING.format(status="var.status"), "m.tf") == []


def test_buckets_of_models_in_cloudformation() -> None:
    text = """
Resources:
  ModelBucket:
    Type: AWS::S3::Bucket
    Properties:
      VersioningConfiguration: {Status: Suspended}
"""
    where = "Resources.ModelBucket.Properties.VersioningConfiguration"
    assert only(BUCKET, text, "t.yaml") == [("warning", where)]
    assert only(BUCKET, text.replace("Suspended", "Enabled"), "t.yaml") == []


def test_disks_of_every_instance_of_a_block() -> None:
    text = HOST.format(type="g5.xlarge", line="").replace(
        'instance_type = "g5.xlarge"',
        'for_each = { a = "g5.xlarge", b = "g6.xlarge" }\n instance_type = each.value',
    )
    (finding,) = [f for f in report(("m.tf", text)).findings if f.slug == NVME]
    assert "g5.xlarge has" in finding.message
    assert "g6.xlarge has" in finding.message
