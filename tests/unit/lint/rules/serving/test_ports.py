"""Target types, ports of load balancers, host ports."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, report, task

TYPE = "target-type-does-not-fit-network-mode"
PORT = "load-balancer-port-not-mapped"
HOST = "host-port-mapping"
TEXT = """
variable "x" {{}}
resource "aws_lb_target_group" "g" {{ {target} }}
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  network_mode          = {mode}
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", portMappings = [{{ containerPort = {mapped} }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  name            = "s"
  task_definition = aws_ecs_task_definition.d.arn
  load_balancer {{
    target_group_arn = aws_lb_target_group.g.arn
    container_name   = {name}
    container_port   = 8000
  }}
}}
"""


def text(
    target: str = 'target_type = "ip"',
    mode: str = '"awsvpc"',
    mapped: str = "8000",
    name: str = '"a"',
) -> str:
    return TEXT.format(target=target, mode=mode, mapped=mapped, name=name)


@pytest.mark.parametrize(
    ("target", "mode", "count"),
    [
        ("", '"awsvpc"', 1),
        ('target_type = "instance"', '"awsvpc"', 1),
        ('target_type = "ip"', '"bridge"', 1),
        ('target_type = "ip"', '"host"', 1),
        ('target_type = "ip"', '"awsvpc"', 0),
        ("", '"bridge"', 0),
        ("target_type = var.x", '"awsvpc"', 0),
        ("", "var.x", 0),
    ],
)
def test_target_types(target: str, mode: str, count: int) -> None:
    where = "aws_lb_target_group.g.target_type"
    assert only(TYPE, text(target, mode), "m.tf") == [("error", where)] * count


def test_target_types_in_cloudformation() -> None:
    template = """
Resources:
  G: {Type: "AWS::ElasticLoadBalancingV2::TargetGroup", Properties: {Port: 80}}
  D:
    Type: AWS::ECS::TaskDefinition
    Properties: {NetworkMode: awsvpc, ContainerDefinitions: [{Name: a, Image: "a:1"}]}
  S:
    Type: AWS::ECS::Service
    Properties:
      TaskDefinition: !Ref D
      LoadBalancers: [{TargetGroupArn: !Ref G, ContainerName: a, ContainerPort: 80}]
"""
    assert only(TYPE, template, "t.yaml") == [("error", "Resources.G.Properties.TargetType")]
    assert [s for s, _ in only(PORT, template, "t.yaml")] == ["error"]
    good = template.replace("Port: 80}}", "Port: 80, TargetType: ip}}")
    assert only(TYPE, good, "t.yaml") == []


def test_ports_of_load_balancers() -> None:
    where = "aws_ecs_service.s.load_balancer"
    assert only(PORT, text(mapped="9000"), "m.tf") == [("error", f"{where}.container_port")]
    assert only(PORT, text(name='"b"'), "m.tf") == [("error", f"{where}.container_name")]
    assert only(PORT, text(), "m.tf") == []
    assert only(PORT, text(mapped="var.x"), "m.tf") == []
    assert only(PORT, text(name="var.x"), "m.tf") == []


def hosts(mode: str, host: object, **members: object) -> list[tuple[str, str]]:
    mapping = {"containerPort": 8000, "hostPort": host}
    return only(HOST, task({"portMappings": [mapping]}, networkMode=mode, **members))


def test_host_ports_that_differ() -> None:
    where = "containerDefinitions[0].portMappings[0].hostPort"
    assert hosts("awsvpc", 80) == [("error", where)]
    assert hosts("host", 80) == [("error", where)]
    assert hosts("awsvpc", 8000) == []
    assert hosts("awsvpc", 0) == []
    assert hosts("bridge", 80) == []
    assert hosts("awsvpc", None) == []


def test_a_fixed_host_port_in_a_balanced_service() -> None:
    pinned = {
        "networkMode": "bridge",
        "placementConstraints": [
            {"type": "memberOf", "expression": "attribute:ecs.instance-type == g5.12xlarge"}
        ],
    }
    service = {
        "serviceName": "s",
        "taskDefinition": "t",
        "loadBalancers": [
            {"targetGroupArn": "arn", "containerName": "main", "containerPort": 8000}
        ],
    }

    def found(host: int, gpus: str) -> list[str]:
        container = {
            "portMappings": [{"containerPort": 8000, "hostPort": host}],
            "resourceRequirements": [{"type": "GPU", "value": gpus}],
        }
        files = (("t.json", task(container, **pinned)), ("s.json", json.dumps(service)))
        return [f.severity.value for f in report(*files).findings if f.slug == HOST]

    assert found(8000, "1") == ["warning"]
    assert found(8000, "4") == ["info"]
    assert found(0, "1") == []
