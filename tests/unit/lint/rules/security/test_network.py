"""Public addresses, endpoints, listeners, open ports, notebooks."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, report, task

PUBLIC = "public-address-on-accelerated-host"
ENDPOINTS = "incomplete-vpc-endpoints"
AUTH = "inference-endpoint-without-authentication"
PORTS = "ml-port-open-to-world"
NOTEBOOK = "notebook-without-password"


def public(definition: str, assign: object) -> list[str]:
    network = {"awsvpcConfiguration": {"subnets": ["s"], "assignPublicIp": assign}}
    run = {"taskDefinition": "t", "networkConfiguration": network}
    files = (("t.json", definition), ("run.json", json.dumps(run)))
    return [f.severity.value for f in report(*files).findings if f.slug == PUBLIC]


def test_tasks_with_public_addresses() -> None:
    assert public(task(), "ENABLED") == ["warning"]
    assert public(task(), "DISABLED") == []
    assert public(task({"resourceRequirements": []}), "ENABLED") == []


HOST = """
variable "public" {{}}
resource "aws_subnet" "a" {{ map_public_ip_on_launch = {subnet} }}
resource "aws_launch_template" "t" {{
  instance_type = "{type}"
  network_interfaces {{ associate_public_ip_address = {interface} }}
}}
resource "aws_autoscaling_group" "g" {{
  vpc_zone_identifier = [aws_subnet.a.id]
  launch_template {{ id = aws_launch_template.t.id }}
}}
"""


@pytest.mark.parametrize(
    ("subnet", "interface", "kind", "count"),
    [
        ("true", "true", "g5.xlarge", 2),
        ("true", "false", "g5.xlarge", 0),
        ("false", "true", "g5.xlarge", 1),
        ("false", "false", "g5.xlarge", 0),
        ("var.public", "var.public", "g5.xlarge", 0),
        ("true", "true", "m5.large", 0),
    ],
)
def test_hosts_with_public_addresses(subnet: str, interface: str, kind: str, count: int) -> None:
    text = HOST.format(subnet=subnet, interface=interface, type=kind)
    assert [s for s, _ in only(PUBLIC, text, "m.tf")] == ["warning"] * count


def test_hosts_with_public_addresses_in_cloudformation() -> None:
    text = """
Resources:
  T:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: g5.xlarge
        NetworkInterfaces: [{DeviceIndex: 0, AssociatePublicIpAddress: true}]
"""
    assert [s for s, _ in only(PUBLIC, text, "t.yaml")] == ["warning"]
    assert only(PUBLIC, text.replace("Address: true", "Address: false"), "t.yaml") == []


def endpoints(*names: str) -> list[str]:
    blocks = [
        f'resource "aws_vpc_endpoint" "e{n}" {{ service_name = "com.amazonaws.${{var.r}}.{name}" }}'
        for n, name in enumerate(names)
    ]
    text = 'variable "r" {}\n' + "\n".join(blocks)
    return [f.message for f in report(("m.tf", text)).findings if f.slug == ENDPOINTS]


def test_sets_of_endpoints() -> None:
    assert "s3" in endpoints("ecr.api", "ecr.dkr")[0]
    assert "ecs-telemetry" in endpoints("ecs", "ecs-agent")[0]
    assert endpoints("ecr.api", "ecr.dkr", "s3") == []
    assert endpoints("ecs", "ecs-agent", "ecs-telemetry") == []
    assert endpoints("sqs") == []
    assert endpoints("ecr.api", "${var.more}") == []


WEB = """
variable "x" {{}}
resource "aws_security_group" "lb" {{
  ingress {{
    from_port   = 80
    to_port     = 80
    protocol    = "tcp"
    cidr_blocks = ["{cidr}"]
  }}
}}
resource "aws_lb" "l" {{
  {scheme}
  security_groups = [aws_security_group.lb.id]
}}
resource "aws_lb_target_group" "g" {{ target_type = "ip" }}
resource "aws_lb_listener" "h" {{
  load_balancer_arn = aws_lb.l.arn
  protocol          = {protocol}
  {actions}
  default_action {{
    type             = "forward"
    target_group_arn = aws_lb_target_group.g.arn
  }}
}}
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", resourceRequirements = [{{ type = "{kind}", value = "1" }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  task_definition = aws_ecs_task_definition.d.arn
  load_balancer {{ target_group_arn = aws_lb_target_group.g.arn }}
}}
"""
OIDC = 'default_action { type = "authenticate-oidc" }'


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ["error"]),
        ({"protocol": '"HTTPS"'}, ["info"]),
        ({"scheme": ""}, ["info"]),
        ({"scheme": "internal = true"}, []),
        ({"scheme": "internal = var.x"}, []),
        ({"cidr": "10.0.0.0/8"}, []),
        ({"actions": OIDC}, []),
        ({"protocol": "var.x"}, []),
        ({"kind": "VCPU"}, []),
    ],
)
def test_listeners(changes: dict[str, str], found: list[str]) -> None:
    given = {
        "scheme": "internal = false",
        "protocol": '"HTTP"',
        "cidr": "0.0.0.0/0",
        "actions": "",
        "kind": "GPU",
        **changes,
    }
    assert [s for s, _ in only(AUTH, WEB.format(**given), "m.tf")] == found


def test_a_listener_in_cloudformation() -> None:
    text = """
Resources:
  L:
    Type: AWS::ElasticLoadBalancingV2::LoadBalancer
    Properties: {Scheme: internet-facing}
  G: {Type: "AWS::ElasticLoadBalancingV2::TargetGroup", Properties: {Port: 80}}
  H:
    Type: AWS::ElasticLoadBalancingV2::Listener
    Properties:
      LoadBalancerArn: !Ref L
      Protocol: HTTP
      DefaultActions: [{Type: forward, TargetGroupArn: !Ref G}]
  D:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - {Name: a, Image: "a:1", ResourceRequirements: [{Type: GPU, Value: "1"}]}
  S:
    Type: AWS::ECS::Service
    Properties:
      TaskDefinition: !Ref D
      LoadBalancers: [{TargetGroupArn: !Ref G, ContainerName: a, ContainerPort: 80}]
"""
    assert [s for s, _ in only(AUTH, text, "t.yaml")] == ["warning"]
    assert only(AUTH, text.replace("internet-facing", "internal"), "t.yaml") == []


GROUP = """
variable "cidr" {{}}
resource "aws_security_group" "g" {{
  ingress {{
    from_port   = {first}
    to_port     = {last}
    protocol    = "{protocol}"
    cidr_blocks = [{cidr}]
  }}
}}
"""
RAY = {"first": 8265, "last": 8265, "protocol": "tcp", "cidr": '"0.0.0.0/0"'}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ["error"]),
        ({"first": 8888, "last": 8888}, ["error"]),
        ({"first": 6379, "last": 6379, "cidr": '"::/0"'}, ["error"]),
        ({"first": 10000, "last": 10100}, ["error"]),
        ({"first": 9400, "last": 9400}, ["warning"]),
        ({"first": 443, "last": 443}, []),
        ({"cidr": '"10.0.0.0/16"'}, []),
        ({"cidr": "var.cidr"}, []),
        ({"protocol": "udp"}, []),
        ({"first": 0, "last": 65535}, []),
    ],
)
def test_open_ports(changes: dict[str, object], found: list[str]) -> None:
    assert [s for s, _ in only(PORTS, GROUP.format(**{**RAY, **changes}), "m.tf")] == found


def test_everything_open_beside_accelerators() -> None:
    text = GROUP.format(first=0, last=0, protocol="-1", cidr='"0.0.0.0/0"')
    assert only(PORTS, text, "m.tf") == []
    host = 'resource "aws_launch_template" "t" { instance_type = "p4d.24xlarge" }'
    assert [s for s, _ in only(PORTS, text + host, "m.tf")] == ["error"]


def test_open_ports_as_rules_of_their_own() -> None:
    text = """
    resource "aws_vpc_security_group_ingress_rule" "r" {
      security_group_id = "sg-1"
      cidr_ipv4         = "0.0.0.0/0"
      from_port         = 8888
      to_port           = 8888
      ip_protocol       = "tcp"
    }
    """
    assert [s for s, _ in only(PORTS, text, "m.tf")] == ["error"]
    assert only(PORTS, text.replace("ingress", "egress"), "m.tf") == []
    template = """
Resources:
  R:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {GroupId: sg-1, IpProtocol: tcp, FromPort: 8265, ToPort: 8265, CidrIp: 0.0.0.0/0}
"""
    assert [s for s, _ in only(PORTS, template, "t.yaml")] == ["error"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["jupyter", "lab", "--ip=0.0.0.0", "--NotebookApp.token=''"], ["error"]),
        (["jupyter", "lab", "--ServerApp.token=", "--no-browser"], ["error"]),
        (["code-server", "--auth", "none"], ["error"]),
        (["ray", "start", "--head", "--dashboard-host=0.0.0.0", "--block"], ["info"]),
        (["jupyter", "lab", "--ip=0.0.0.0"], []),
        (["jupyter", "lab", "--NotebookApp.token=$TOKEN"], []),
        (["ray", "start", "--head", "--block"], []),
    ],
)
def test_notebooks(words: list[str], found: list[str]) -> None:
    assert [s for s, _ in only(NOTEBOOK, task({"command": words}))] == found


def test_a_notebook_in_a_compose_file_is_local() -> None:
    text = """
services:
  lab:
    image: example/lab:1
    command: jupyter lab --NotebookApp.token=''
    deploy:
      resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}
"""
    assert [s for s, _ in only(NOTEBOOK, text, "compose.yaml")] == ["info"]
