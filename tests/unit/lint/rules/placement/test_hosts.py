"""Quotas, unknown types, hosts without their GPUs."""

from __future__ import annotations

import pytest

from tests.support.lint_inputs import DATA, pin, stack, template
from tests.support.linting import only, report, task

QUOTA, UNKNOWN, REGISTERS = (
    "accelerated-quota",
    "type-without-figures",
    "host-registers-without-gpu",
)
GROUP = """
resource "aws_launch_template" "t" {{
  instance_type = "{kind}"
  {market}
}}
resource "aws_autoscaling_group" "g" {{
  max_size = {size}
  launch_template {{ id = aws_launch_template.t.id }}
}}
"""
SPOT = 'instance_market_options { market_type = "spot" }'
BLOCK = 'instance_market_options { market_type = "capacity-block" }'


@pytest.mark.parametrize(
    ("kind", "market", "size", "words"),
    [
        ("g5.xlarge", SPOT, "4", "16 vCPU of the Spot quota for G and VT (L-3819A6DF)"),
        ("g5.xlarge", "", "4", "16 vCPU of the On-Demand quota for G and VT (L-DB2E81BA)"),
        ("p4d.24xlarge", SPOT, "2", "192 vCPU of the Spot quota for P (L-7212CCBC)"),
        ("p5.48xlarge", SPOT, "1", "192 vCPU of the Spot quota for P5 (L-C4BD4855)"),
        ("trn1.32xlarge", "", "var.n", "each trn1.32xlarge needs 128 vCPU of the On-Demand quota"),
        ("inf2.xlarge", SPOT, "1", "4 vCPU of the Spot quota for Inf (look up its code)"),
    ],
)
def test_the_quota_is_named(kind: str, market: str, size: str, words: str) -> None:
    text = GROUP.format(kind=kind, market=market, size=size)
    (found,) = [f for f in report(("m.tf", text)).findings if f.slug == "accelerated-quota"]
    assert words in found.message
    assert found.severity.value == "info"


@pytest.mark.parametrize(("kind", "market"), [("m6i.large", ""), ("p5.48xlarge", BLOCK)])
def test_no_such_quota(kind: str, market: str) -> None:
    assert only(QUOTA, GROUP.format(kind=kind, market=market, size="1"), "m.tf") == []


@pytest.mark.parametrize(
    ("kind", "count"), [("p9.48xlarge", 1), ("g5.xlarge", 0), ("m9.large", 0), ("g5.*", 0)]
)
def test_types_of_which_nothing_is_known(kind: str, count: int) -> None:
    found = [("info", "placementConstraints")] * count
    assert only("type-without-figures", task(**pin(kind))) == found
    assert len(only(UNKNOWN, template(InstanceType=kind))) == count


def test_an_unknown_type_of_batch() -> None:
    inner = {"Type": "EC2", "InstanceTypes": ["trn9.32xlarge", "optimal", "g5"]}
    properties = {"Type": "MANAGED", "ComputeResources": inner}
    text = stack(Env=("AWS::Batch::ComputeEnvironment", properties))
    (found,) = only(UNKNOWN, text)
    assert found[1].endswith("ComputeResources.InstanceTypes")


PLAIN = "{{resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id}}"
GPU = PLAIN.replace("2023/", "2023/gpu/")
NEURON = PLAIN.replace("2023/", "2023/neuron/")
JOIN = "#!/bin/bash\necho ECS_CLUSTER=c >> /etc/ecs/ecs.config\n"


@pytest.mark.parametrize(
    ("kind", "image", "data", "where"),
    [
        ("g5.xlarge", PLAIN, JOIN, "ImageId"),
        ("p4d.24xlarge", NEURON, JOIN, "ImageId"),
        ("g5.xlarge", "amzn2-ami-ecs-hvm-2.0.20240101-x86_64-ebs", JOIN, "ImageId"),
        ("g5.xlarge", GPU, JOIN + "echo ECS_ENABLE_GPU_SUPPORT=false >> x", "UserData"),
        ("g5.xlarge", GPU, JOIN, ""),
        ("g5.xlarge", PLAIN, JOIN + "dnf install -y nvidia-driver\n", ""),
        ("g5.xlarge", "ami-0123456789abcdef0", JOIN, ""),
        ("m6i.large", PLAIN, JOIN, ""),
        ("inf2.xlarge", NEURON, JOIN, ""),
    ],
)
def test_hosts_without_a_driver(kind: str, image: str, data: str, where: str) -> None:
    found = only(REGISTERS, template(InstanceType=kind, ImageId=image, UserData=data))
    assert found == ([("error", f"{DATA}.{where}")] if where else [])


@pytest.mark.parametrize(("name", "count"), [("", 1), ("gpu/", 0)])
def test_the_image_of_a_public_parameter(name: str, count: int) -> None:
    path = f"/aws/service/ecs/optimized-ami/amazon-linux-2023/{name}recommended"
    hcl = f"""
    data "aws_ssm_parameter" "a" {{ name = "{path}" }}
    resource "aws_launch_template" "t" {{
      instance_type = "g5.xlarge"
      image_id      = jsondecode(data.aws_ssm_parameter.a.value)["image_id"]
    }}
    """
    assert len(only("host-registers-without-gpu", hcl, "m.tf")) == count
    cfn = f"""
    Parameters:
      Image:
        Type: AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>
        Default: {path}/image_id
    Resources:
      T:
        Type: AWS::EC2::LaunchTemplate
        Properties: {{LaunchTemplateData: {{InstanceType: g5.xlarge, ImageId: !Ref Image}}}}
    """
    assert len(only(REGISTERS, cfn, "t.yaml")) == count


def test_an_image_or_data_that_cannot_be_known() -> None:
    unknown = {"Ref": "Image"}
    assert only(REGISTERS, template(InstanceType="g5.xlarge", ImageId=unknown)) == []
    data = {"Ref": "Data"}
    text = template(InstanceType="g5.xlarge", ImageId=PLAIN, UserData=data)
    assert only(REGISTERS, text) == []


@pytest.mark.parametrize(
    ("kind", "image", "count"),
    [
        ("g5.xlarge", {"ImageType": "ECS_AL2023"}, 1),
        ("g5.xlarge", {"ImageType": "ECS_AL2023_NVIDIA"}, 0),
        ("g5.xlarge", {"ImageType": "ECS_AL2023", "ImageIdOverride": "ami-1"}, 0),
        ("g5.xlarge", {"ImageType": {"Ref": "Kind"}}, 0),
        ("m6i.large", {"ImageType": "ECS_AL2023"}, 0),
    ],
)
def test_hosts_of_batch(kind: str, image: dict[str, object], count: int) -> None:
    inner = {"Type": "EC2", "InstanceTypes": [kind], "Ec2Configuration": [image]}
    text = stack(E=("AWS::Batch::ComputeEnvironment", {"ComputeResources": inner}))
    assert [severity for severity, _ in only(REGISTERS, text)] == ["warning"] * count


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("al2023-ami-ecs-hvm-2023.0.*-kernel-6.1-x86_64", 1),
        ("amzn2-ami-ecs-hvm-*-x86_64-ebs", 1),
        ("bottlerocket-aws-ecs-2-x86_64-*", 1),
        ("bottlerocket-aws-ecs-2-nvidia-x86_64-*", 0),
        ("al2023-ami-ecs-gpu-hvm-*", 0),
        ("al2023-ami-ecs-*", 0),
        ("${var.name}", 0),
    ],
)
def test_an_image_that_is_looked_up_by_name(name: str, count: int) -> None:
    text = f"""
    data "aws_ami" "ecs" {{
      most_recent = true
      owners      = ["amazon"]
      filter {{
        name   = "name"
        values = ["{name}"]
      }}
    }}
    resource "aws_launch_template" "t" {{
      instance_type = "g5.xlarge"
      image_id      = data.aws_ami.ecs.id
    }}
    """
    assert len(only(REGISTERS, text, "m.tf")) == count


POOLS = """
resource "aws_launch_template" "t" {
  for_each      = { a = "g6.xlarge", b = "g5.xlarge", c = "p5.48xlarge" }
  instance_type = each.value
}
resource "aws_autoscaling_group" "t" {
  for_each = { a = 4, b = 8, c = MOST }
  max_size = each.value
  launch_template { id = aws_launch_template.t[each.key].id }
}
"""


def test_the_quota_of_every_instance_of_a_block() -> None:
    for most, last in (("1", "1 x p5.48xlarge need 192"), ("var.n", "each p5.48xlarge needs 192")):
        held = report(("m.tf", POOLS.replace("MOST", most))).findings
        (finding,) = [f for f in held if f.rule == "PLC008"]
        assert "4 x g6.xlarge + 8 x g5.xlarge need 48 vCPU" in finding.message
        assert last in finding.message


def test_the_quota_of_a_counted_group() -> None:
    text = """
    resource "aws_launch_template" "t" { instance_type = "g6.xlarge" }
    resource "aws_autoscaling_group" "t" {
      count    = 3
      max_size = 2
      launch_template { id = aws_launch_template.t.id }
    }
    """
    (finding,) = [f for f in report(("m.tf", text)).findings if f.rule == "PLC008"]
    assert "6 x g6.xlarge need 24 vCPU" in finding.message
