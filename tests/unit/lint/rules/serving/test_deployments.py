"""Deployments and the cards that they need; autoscaling; stickiness."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import only, report, task

DOUBLE = "blue-green-needs-twice-the-gpus"
ROLLING = "rolling-deployment-without-spare-gpu"
METRIC = "gpu-service-scales-on-wrong-metric"
STICKY = "sticky-sessions-on-model-server"
TEXT = """
variable "x" {{}}
resource "aws_launch_template" "t" {{ instance_type = "g5.xlarge" }}
resource "aws_autoscaling_group" "g" {{
  max_size = {most}
  launch_template {{ id = aws_launch_template.t.id }}
}}
resource "aws_ecs_capacity_provider" "p" {{
  name = "p"
  auto_scaling_group_provider {{ auto_scaling_group_arn = aws_autoscaling_group.g.arn }}
}}
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", resourceRequirements = [{{ type = "GPU", value = "1" }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  name            = "s"
  task_definition = aws_ecs_task_definition.d.arn
  desired_count   = 2
  capacity_provider_strategy {{
    capacity_provider = aws_ecs_capacity_provider.p.name
    weight            = 1
  }}
  {service}
}}
{more}
"""
BLUE = 'deployment_configuration { strategy = "BLUE_GREEN" }'


def text(service: str = "", most: str = "2", more: str = "") -> str:
    return TEXT.format(service=service, most=most, more=more)


@pytest.mark.parametrize("kind", ["BLUE_GREEN", "LINEAR", "CANARY"])
def test_twice_the_cards(kind: str) -> None:
    service = BLUE.replace("BLUE_GREEN", kind)
    where = "aws_ecs_service.s.deployment_configuration.strategy"
    assert only(DOUBLE, text(service), "m.tf") == [("warning", where)]
    assert only(DOUBLE, text(service, most="3"), "m.tf") == [("warning", where)]
    assert only(DOUBLE, text(service, most="4"), "m.tf") == []
    assert only(DOUBLE, text(service, most="var.x"), "m.tf") == [("info", where)]


def test_other_deployments() -> None:
    code = 'deployment_controller { type = "CODE_DEPLOY" }'
    assert [s for s, _ in only(DOUBLE, text(code), "m.tf")] == ["warning"]
    assert only(DOUBLE, text(BLUE.replace('"BLUE_GREEN"', "var.x")), "m.tf") == []
    assert only(DOUBLE, text(), "m.tf") == []


LEAST = "aws_ecs_service.s.deployment_minimum_healthy_percent"


@pytest.mark.parametrize(
    ("service", "most", "found"),
    [
        ("", "2", [("warning", LEAST)]),
        ("deployment_minimum_healthy_percent = 100", "1", [("warning", LEAST)]),
        (
            "deployment_minimum_healthy_percent = 100\n deployment_maximum_percent = 100",
            "9",
            [("warning", "aws_ecs_service.s.deployment_maximum_percent")],
        ),
        ("", "3", []),
        ("", "var.x", []),
        ("deployment_minimum_healthy_percent = 50", "2", []),
        ("deployment_minimum_healthy_percent = var.x", "2", []),
        (BLUE, "2", []),
    ],
)
def test_rolling(service: str, most: str, found: list[tuple[str, str]]) -> None:
    assert only(ROLLING, text(service, most), "m.tf") == found


def test_rolling_as_api_input() -> None:
    percent = {"minimumHealthyPercent": 100, "maximumPercent": 100}
    service = {"serviceName": "s", "taskDefinition": "t", "deploymentConfiguration": percent}

    def found(definition: str) -> list[str]:
        files = (("t.json", definition), ("s.json", json.dumps(service)))
        return [f.where for f in report(*files).findings if f.slug == ROLLING]

    assert found(task()) == ["deploymentConfiguration.maximumPercent"]
    assert found(task({"resourceRequirements": []})) == []


POLICY = """
resource "aws_appautoscaling_target" "t" {{
  resource_id        = "service/main/${{aws_ecs_service.s.name}}"
  scalable_dimension = "ecs:service:DesiredCount"
  service_namespace  = "ecs"
}}
resource "aws_appautoscaling_policy" "p" {{
  name        = "p"
  resource_id = aws_appautoscaling_target.t.resource_id
  target_tracking_scaling_policy_configuration {{
    {metric}
    target_value = 50
  }}
}}
"""


def policy(metric: str) -> str:
    return POLICY.format(
        metric=f"predefined_metric_specification {{ predefined_metric_type = {metric} }}"
    )


CPU = policy('"ECSServiceAverageCPUUtilization"')


def test_cpu_says_nothing_about_gpus() -> None:
    assert [s for s, _ in only(METRIC, text(more=CPU), "m.tf")] == ["warning"]
    memory = policy('"ECSServiceAverageMemoryUtilization"')
    assert [s for s, _ in only(METRIC, text(more=memory), "m.tf")] == ["warning"]
    cpu_service = text(more=CPU).replace("resourceRequirements", "nothing")
    assert only(METRIC, cpu_service, "m.tf") == []
    assert only(METRIC, text(more=policy("var.x")), "m.tf") == []
    custom = POLICY.format(metric='customized_metric_specification { metric_name = "waiting" }')
    assert only(METRIC, text(more=custom), "m.tf") == []


def test_requests_of_a_target_with_blue_green() -> None:
    requests = policy('"ALBRequestCountPerTarget"')
    assert [s for s, _ in only(METRIC, text(BLUE, more=requests), "m.tf")] == ["warning"]
    assert only(METRIC, text(more=requests), "m.tf") == []


def test_scaling_in_cloudformation() -> None:
    template = """
Resources:
  D:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - {Name: a, Image: "a:1", ResourceRequirements: [{Type: GPU, Value: "1"}]}
  S:
    Type: AWS::ECS::Service
    Properties: {TaskDefinition: !Ref D, ServiceName: s}
  T:
    Type: AWS::ApplicationAutoScaling::ScalableTarget
    Properties:
      ResourceId: !Sub "service/${Cluster}/s"
      ScalableDimension: ecs:service:DesiredCount
  P:
    Type: AWS::ApplicationAutoScaling::ScalingPolicy
    Properties:
      ScalingTargetId: !Ref T
      TargetTrackingScalingPolicyConfiguration:
        PredefinedMetricSpecification:
          PredefinedMetricType: ECSServiceAverageCPUUtilization
"""
    assert [s for s, _ in only(METRIC, template, "t.yaml")] == ["warning"]
    assert only(METRIC, template.replace("Type: GPU", "Type: VCPU"), "t.yaml") == []


STICKING = """
resource "aws_lb_target_group" "g" {{
  stickiness {{
    type    = "lb_cookie"
    enabled = {enabled}
  }}
}}
"""
BALANCED = "load_balancer {\n target_group_arn = aws_lb_target_group.g.arn\n}"


@pytest.mark.parametrize(("enabled", "count"), [("true", 1), ("false", 0)])
def test_stickiness(enabled: str, count: int) -> None:
    found = only(STICKY, text(BALANCED, more=STICKING.format(enabled=enabled)), "m.tf")
    assert [severity for severity, _ in found] == ["info"] * count


def test_stickiness_in_cloudformation() -> None:
    template = """
Resources:
  G:
    Type: AWS::ElasticLoadBalancingV2::TargetGroup
    Properties:
      TargetGroupAttributes: [{Key: stickiness.enabled, Value: "true"}]
  D:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - {Name: a, Image: "a:1", ResourceRequirements: [{Type: GPU, Value: "1"}]}
  S:
    Type: AWS::ECS::Service
    Properties:
      TaskDefinition: !Ref D
      LoadBalancers: [{TargetGroupArn: !Ref G, ContainerPort: 80}]
"""
    assert [s for s, _ in only(STICKY, template, "t.yaml")] == ["info"]
    assert only(STICKY, template.replace('"true"', '"false"'), "t.yaml") == []
