"""Zones of file systems, Lustre as a volume, EFS authorization."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, task

ZONE = "file-system-in-another-zone"
LUSTRE = "lustre-is-no-volume-type"
EFS = "efs-authorization-without-encryption"
TEXT = """
resource "aws_subnet" "a" {{ availability_zone = "eu-west-1a" }}
resource "aws_subnet" "b" {{ availability_zone = "{zone}" }}
resource "aws_launch_template" "t" {{ instance_type = "p4d.24xlarge" }}
resource "aws_autoscaling_group" "g" {{
  vpc_zone_identifier = [aws_subnet.a.id]
  launch_template {{ id = aws_launch_template.t.id }}
}}
{system}
"""
FSX = 'resource "aws_fsx_lustre_file_system" "f" {\n subnet_ids = [aws_subnet.b.id]\n}'
TARGET = """
resource "aws_efs_file_system" "f" {}
resource "aws_efs_mount_target" "m" {
  file_system_id = aws_efs_file_system.f.id
  subnet_id      = aws_subnet.b.id
}
"""


def test_lustre_in_another_zone() -> None:
    text = TEXT.format(zone="eu-west-1b", system=FSX)
    where = "aws_fsx_lustre_file_system.f.subnet_ids"
    assert only(ZONE, text, "m.tf") == [("warning", where)]
    assert only(ZONE, TEXT.format(zone="eu-west-1a", system=FSX), "m.tf") == []
    assert only(ZONE, text.replace('"eu-west-1b"', "var.zone"), "m.tf") == []
    assert only(ZONE, text.replace("p4d.24xlarge", "m5.large"), "m.tf") == []


def test_efs_without_a_mount_target_there() -> None:
    text = TEXT.format(zone="eu-west-1b", system=TARGET)
    assert only(ZONE, text, "m.tf") == [("warning", "aws_efs_file_system.f")]
    assert only(ZONE, TEXT.format(zone="eu-west-1a", system=TARGET), "m.tf") == []


def test_cloudformation() -> None:
    text = """
Resources:
  A: {Type: "AWS::EC2::Subnet", Properties: {AvailabilityZone: eu-west-1a}}
  B: {Type: "AWS::EC2::Subnet", Properties: {AvailabilityZone: eu-west-1b}}
  T:
    Type: AWS::EC2::LaunchTemplate
    Properties: {LaunchTemplateData: {InstanceType: g5.48xlarge}}
  G:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      VPCZoneIdentifier: [!Ref A]
      LaunchTemplate: {LaunchTemplateId: !Ref T, Version: "1"}
  F:
    Type: AWS::FSx::FileSystem
    Properties: {FileSystemType: LUSTRE, SubnetIds: [!Ref B]}
"""
    where = "Resources.F.Properties.SubnetIds"
    assert only(ZONE, text, "t.yaml") == [("warning", where)]
    assert only(ZONE, text.replace("SubnetIds: [!Ref B]", "SubnetIds: [!Ref A]"), "t.yaml") == []


@pytest.mark.parametrize(
    ("volume", "found"),
    [
        ({"fsxLustreVolumeConfiguration": {}}, [("error", "fsxLustreVolumeConfiguration")]),
        (
            {"dockerVolumeConfiguration": {"driver": "lustre"}},
            [("warning", "dockerVolumeConfiguration.driver")],
        ),
        (
            {"fsxWindowsFileServerVolumeConfiguration": {"fileSystemId": "fs-1"}},
            [("warning", "fsxWindowsFileServerVolumeConfiguration")],
        ),
        ({"host": {"sourcePath": "/fsx"}}, []),
        ({"efsVolumeConfiguration": {"fileSystemId": "fs-1"}}, []),
    ],
)
def test_lustre_volumes(volume: dict[str, object], found: list[tuple[str, str]]) -> None:
    text = task(volumes=[{"name": "v", **volume}])
    assert only(LUSTRE, text) == [(severity, f"volumes[0].{path}") for severity, path in found]


def test_a_lustre_file_system_given_to_efs() -> None:
    text = """
    resource "aws_fsx_lustre_file_system" "f" { subnet_ids = [] }
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{ name = "a", image = "a:1" }])
      volume {
        name = "v"
        efs_volume_configuration { file_system_id = aws_fsx_lustre_file_system.f.id }
      }
    }
    """
    assert [severity for severity, _ in only(LUSTRE, text, "m.tf")] == ["error"]
    other = text.replace("aws_fsx_lustre_file_system.f.id", "var.efs")
    assert only(LUSTRE, other, "m.tf") == []


def efs(**members: object) -> list[tuple[str, str]]:
    volume = {"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-1", **members}}
    return only(EFS, task(volumes=[volume]))


def test_efs_authorization() -> None:
    base = "volumes[0].efsVolumeConfiguration"
    point = {"authorizationConfig": {"accessPointId": "fsap-1"}}
    assert efs(**point) == [("error", f"{base}.transitEncryption")]
    assert efs(authorizationConfig={"iam": "ENABLED"}, transitEncryption="DISABLED") == [
        ("error", f"{base}.transitEncryption")
    ]
    assert efs(**point, transitEncryption="ENABLED", rootDirectory="/a") == [
        ("error", f"{base}.rootDirectory")
    ]
    assert efs(**point, transitEncryption="ENABLED", rootDirectory="/") == []
    assert efs(authorizationConfig={"iam": "DISABLED"}) == []
    assert efs() == []


def test_efs_in_cloudformation_with_a_parameter() -> None:
    configuration = {
        "FilesystemId": "fs-1",
        "AuthorizationConfig": {"AccessPointId": "p"},
        "TransitEncryption": {"Ref": "Mode"},
    }
    resource = {
        "Type": "AWS::ECS::TaskDefinition",
        "Properties": {
            "ContainerDefinitions": [{"Name": "a", "Image": "a:1"}],
            "Volumes": [{"Name": "v", "EFSVolumeConfiguration": configuration}],
        },
    }
    template = {"Parameters": {"Mode": {"Type": "String"}}, "Resources": {"D": resource}}
    assert only(EFS, json.dumps(template)) == []
    del configuration["TransitEncryption"]
    assert [s for s, _ in only(EFS, json.dumps(template))] == ["error"]
