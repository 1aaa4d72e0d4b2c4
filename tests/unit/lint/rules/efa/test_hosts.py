"""Security groups, placement groups, reservations and interfaces of EFA hosts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.lint_inputs import DATA, devices, pin, template
from tests.support.linting import environment, only, task

SELF, APART, RESERVED, COUNT, MANAGED, UNUSED = (
    "efa-security-group-self",
    "efa-nodes-apart",
    "placement-group-against-reservation",
    "efa-interfaces-of-type",
    "efa-on-managed-instances",
    "multi-node-without-efa",
)
FLEET = """
resource "aws_security_group" "g" {{
  {rules}
}}
resource "aws_launch_template" "t" {{
  instance_type = "p4d.24xlarge"
  {template}
  network_interfaces {{
    device_index    = 0
    interface_type  = "{interface}"
    security_groups = [{groups}]
  }}
}}
{more}
"""
IN = 'ingress {\n from_port = 0\n to_port = 0\n protocol = "-1"\n self = true\n}\n'
OUT = IN.replace("ingress", "egress")
OPEN = 'egress {\n from_port = 0\n to_port = 0\n protocol = "-1"\n cidr_blocks = ["0.0.0.0/0"]\n}\n'
GROUP = "aws_security_group.g.id"


def fleet(**parts: str) -> str:
    empty = {"rules": "", "template": "", "interface": "efa", "groups": GROUP, "more": ""}
    return FLEET.format(**{**empty, **parts})


@pytest.mark.parametrize(
    ("rules", "sides"),
    [
        ("", ["ingress", "egress"]),
        (IN, ["egress"]),
        (IN + OPEN, ["egress"]),
        (OUT, ["ingress"]),
        (IN + OUT, []),
        (IN + OPEN + OUT, []),
    ],
)
def test_rules_within_the_group(rules: str, sides: list[str]) -> None:
    found = only("efa-security-group-self", fleet(rules=rules), "m.tf")
    assert sorted(found) == sorted(("error", f"aws_security_group.g.{side}") for side in sides)


def test_rules_of_their_own() -> None:
    one = """
    resource "aws_vpc_security_group_{side}_rule" "{side}" {{
      security_group_id            = aws_security_group.g.id
      referenced_security_group_id = aws_security_group.g.id
      ip_protocol                  = "-1"
    }}
    """
    both = one.format(side="ingress") + one.format(side="egress")
    assert only(SELF, fleet(more=both), "m.tf") == []
    assert len(only(SELF, fleet(more=one.format(side="ingress")), "m.tf")) == 1


def test_no_efa_or_groups_from_elsewhere() -> None:
    assert only(SELF, fleet(interface="interface"), "m.tf") == []
    assert only(SELF, fleet(groups=f"{GROUP}, var.other"), "m.tf") == []
    assert only(SELF, fleet(groups="var.group"), "m.tf") == []


def test_rules_in_cloudformation() -> None:
    text = """
    Resources:
      Sg:
        Type: AWS::EC2::SecurityGroup
        Properties: {GroupDescription: efa}
      In:
        Type: AWS::EC2::SecurityGroupIngress
        Properties: {GroupId: !Ref Sg, IpProtocol: "-1", SourceSecurityGroupId: !Ref Sg}
      T:
        Type: AWS::EC2::LaunchTemplate
        Properties:
          LaunchTemplateData:
            NetworkInterfaces:
              - {InterfaceType: efa, DeviceIndex: 0, Groups: [!GetAtt Sg.GroupId]}
    """
    where = "Resources.Sg.Properties.SecurityGroupEgress"
    assert only(SELF, text, "t.yaml") == [("error", where)]


ASG = """
resource "aws_placement_group" "p" {{ strategy = "{strategy}" }}
resource "aws_autoscaling_group" "a" {{
  max_size = {size}
  {members}
  launch_template {{ id = aws_launch_template.t.id }}
}}
"""
PLACED = "placement_group = aws_placement_group.p.name"


def grouped(size: str = "4", strategy: str = "cluster", members: str = "", **parts: str) -> str:
    more = ASG.format(size=size, strategy=strategy, members=members)
    return fleet(rules=IN + OUT, more=more, **parts)


BLOCK = 'instance_market_options { market_type = "capacity-block" }'


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (grouped(), "aws_autoscaling_group.a.placement_group"),
        (grouped(members=PLACED, strategy="spread"), "aws_placement_group.p.strategy"),
        (
            grouped(members='availability_zones = ["us-west-2a", "us-west-2b"]'),
            "aws_autoscaling_group.a.availability_zones",
        ),
        (grouped(size="1"), ""),
        (grouped(members=PLACED), ""),
        (grouped(members="placement_group = var.group"), ""),
        (grouped(template=BLOCK), ""),
        (grouped(interface="interface"), ""),
    ],
)
def test_nodes_apart(text: str, where: str) -> None:
    found = only("efa-nodes-apart", text, "m.tf")
    assert found == ([("warning", where)] if where else [])


def test_nodes_apart_in_cloudformation() -> None:
    text = """
    Resources:
      T:
        Type: AWS::EC2::LaunchTemplate
        Properties: {LaunchTemplateData: {NetworkInterfaces: [{InterfaceType: efa}]}}
      A:
        Type: AWS::AutoScaling::AutoScalingGroup
        Properties: {MaxSize: "8", LaunchTemplate: {LaunchTemplateId: !Ref T, Version: "1"}}
    """
    assert only(APART, text, "t.yaml") == [("warning", "Resources.A.Properties.PlacementGroup")]


TARGET = """
capacity_reservation_specification {
  capacity_reservation_target { capacity_reservation_id = "cr-0123456789abcdef0" }
}
"""


@pytest.mark.parametrize(
    ("part", "members", "severity"),
    [
        (TARGET, PLACED, "warning"),
        (BLOCK + TARGET, PLACED, "info"),
        (TARGET, "", ""),
        ("", PLACED, ""),
        (
            'capacity_reservation_specification {\n capacity_reservation_preference = "open"\n}',
            PLACED,
            "",
        ),
    ],
)
def test_a_reservation(part: str, members: str, severity: str) -> None:
    text = grouped(template=part, members=members)
    found = only("placement-group-against-reservation", text, "m.tf")
    where = "aws_autoscaling_group.a.placement_group"
    assert found == ([(severity, where)] if severity else [])


def test_a_reservation_in_cloudformation() -> None:
    text = """
    Resources:
      P: {Type: AWS::EC2::PlacementGroup, Properties: {Strategy: cluster}}
      T:
        Type: AWS::EC2::LaunchTemplate
        Properties:
          LaunchTemplateData:
            Placement: {GroupName: !Ref P}
            CapacityReservationSpecification:
              CapacityReservationPreference: capacity-reservations-only
      A:
        Type: AWS::AutoScaling::AutoScalingGroup
        Properties: {MaxSize: "8", LaunchTemplate: {LaunchTemplateId: !Ref T, Version: "1"}}
    """
    assert only(RESERVED, text, "t.yaml") == [("warning", f"{DATA}.Placement.GroupName")]


def cards(count: int, kind: str = "efa") -> list[dict[str, Any]]:
    return [
        {"InterfaceType": kind, "NetworkCardIndex": n, "DeviceIndex": int(n > 0)}
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("kind", "count", "severity"),
    [
        ("p4d.24xlarge", 4, ""),
        ("p4d.24xlarge", 5, "error"),
        ("p4d.24xlarge", 1, "info"),
        ("g5.xlarge", 1, "error"),
        ("p5.48xlarge", 32, ""),
        ("p9.48xlarge", 40, ""),
    ],
)
def test_interfaces(kind: str, count: int, severity: str) -> None:
    text = template(InstanceType=kind, NetworkInterfaces=cards(count))
    found = [(severity, f"{DATA}.NetworkInterfaces")] if severity else []
    assert only("efa-interfaces-of-type", text) == found


def test_the_first_interface_has_an_address() -> None:
    text = template(NetworkInterfaces=cards(2, "efa-only"))
    assert only(COUNT, text) == [("error", f"{DATA}.NetworkInterfaces[0].InterfaceType")]
    unknown = [{"InterfaceType": "efa-only", "DeviceIndex": 0, "NetworkCardIndex": {"Ref": "N"}}]
    assert only(COUNT, template(NetworkInterfaces=unknown)) == []


def test_managed_instances() -> None:
    kinds = {"requiresCompatibilities": ["MANAGED_INSTANCES"]}
    wish = environment(FI_PROVIDER="efa")
    where = "containerDefinitions[0].environment[0]"
    assert only("efa-on-managed-instances", task(wish, **kinds)) == [("warning", where)]
    assert only(MANAGED, task(wish, requiresCompatibilities=["EC2", "MANAGED_INSTANCES"])) == []
    assert only(MANAGED, task(**kinds)) == []
    assert len(only(MANAGED, task(devices("/dev/infiniband/uverbs0"), **kinds))) == 1


@pytest.mark.parametrize(
    ("kind", "nodes", "severity"),
    [
        ("p4d.24xlarge", "4", "warning"),
        ("p5.48xlarge", "2", "warning"),
        ("g5.48xlarge", "2", "info"),
        ("g5.xlarge", "2", ""),
        ("p4d.24xlarge", "1", ""),
        ("p9.48xlarge", "2", ""),
    ],
)
def test_many_nodes_and_no_efa(kind: str, nodes: str, severity: str) -> None:
    text = task(environment(NNODES=nodes), **pin(kind))
    where = "containerDefinitions[0].linuxParameters.devices"
    assert only("multi-node-without-efa", text) == ([(severity, where)] if severity else [])


def test_many_nodes_with_efa_or_with_unknown_parts() -> None:
    wish = environment(NNODES="4", FI_PROVIDER="efa")
    assert only(UNUSED, task(wish, **pin("p4d.24xlarge"))) == []
    text = """
    resource "aws_ecs_task_definition" "t" {
      placement_constraints {
        type       = "memberOf"
        expression = "attribute:ecs.instance-type == p4d.24xlarge"
      }
      container_definitions = jsonencode([{
        name                 = "a"
        resourceRequirements = [{ type = "GPU", value = "8" }]
        environment          = [{ name = "NNODES", value = "2" }]
        linuxParameters      = { devices = PLACE }
      }])
    }
    """
    assert only(UNUSED, text.replace("PLACE", "var.devices"), "m.tf") == []
    assert len(only(UNUSED, text.replace("PLACE", "[]"), "m.tf")) == 1
