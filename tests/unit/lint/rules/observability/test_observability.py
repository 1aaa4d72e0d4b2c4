"""Container Insights, GPU metrics, logs, alarms, exporters."""

from __future__ import annotations

import pytest

from tests.support.linting import only, task

INSIGHTS = "container-insights-off"
METRIC = "gpu-metric-does-not-exist-here"
RETENTION = "logs-without-retention"
LOGS = "container-without-logs"
MEMORY = "no-alarm-on-gpu-memory"
RANKS = "no-alarm-on-stopped-ranks"
EXPORTER = "exporter-reserves-a-gpu"
GPU_TASK = """
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", command = {command}
    resourceRequirements = [{{ type = "GPU", value = "1" }}]
  }}])
}}
"""
CLUSTER = 'resource "aws_ecs_cluster" "c" {{\n name = "c"\n {setting}\n}}'


def gpu_task(command: str = '["vllm", "serve"]') -> str:
    return GPU_TASK.format(command=command)


def cluster(value: str) -> str:
    setting = f'setting {{\n name = "containerInsights"\n value = {value}\n}}' if value else ""
    return CLUSTER.format(setting=setting)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('"disabled"', ["warning"]),
        ('"enhance"', ["warning"]),
        ("", ["info"]),
        ('"enhanced"', []),
        ('"enabled"', []),
        ("var.x", []),
    ],
)
def test_container_insights(value: str, found: list[str]) -> None:
    text = cluster(value) + gpu_task()
    assert [s for s, _ in only(INSIGHTS, text, "m.tf")] == found


def test_container_insights_without_accelerators_and_in_cloudformation() -> None:
    assert only(INSIGHTS, cluster('"disabled"'), "m.tf") == []
    text = """
Resources:
  C:
    Type: AWS::ECS::Cluster
    Properties: {ClusterSettings: [{Name: containerInsights, Value: "on"}]}
"""
    where = "Resources.C.Properties.ClusterSettings[0].Value"
    assert only(INSIGHTS, text, "t.yaml") == [("warning", where)]
    assert only(INSIGHTS, text.replace('"on"', "enhanced"), "t.yaml") == []


ALARM = """
variable "x" {{}}
resource "aws_cloudwatch_metric_alarm" "a" {{
  alarm_name  = "a"
  namespace   = "{space}"
  metric_name = {metric}
}}
"""
GROUP = """
resource "aws_ecs_capacity_provider" "p" {
  name = "p"
  auto_scaling_group_provider { auto_scaling_group_arn = "arn" }
}
"""
MANAGED = """
resource "aws_ecs_capacity_provider" "p" {
  name    = "p"
  cluster = "c"
  managed_instances_provider { infrastructure_role_arn = "arn" }
}
"""
SPACE = "ECS/ContainerInsights"


def alarm(metric: str, space: str = SPACE) -> str:
    return ALARM.format(metric=metric, space=space)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (alarm('"TaskGPUUtilization"') + GROUP, 1),
        (alarm('"ContainerGPUMemoryUtilization"') + GROUP, 1),
        (alarm('"container_gpu_utilization"') + GROUP, 1),
        (alarm('"TaskGPUUtilization"') + MANAGED + cluster('"enabled"'), 1),
        (alarm('"TaskGPUUtilization"') + MANAGED + cluster('"enhanced"'), 0),
        (alarm('"TaskGPUUtilization"') + MANAGED, 0),
        (alarm('"TaskGPUUtilization"'), 0),
        (alarm("var.x") + GROUP, 0),
        (alarm('"nvidia_smi_utilization_gpu"', "CWAgent") + GROUP, 0),
        (alarm('"GPUReservation"', "AWS/ECS") + GROUP, 0),
    ],
)
def test_gpu_metrics(text: str, count: int) -> None:
    where = "aws_cloudwatch_metric_alarm.a.metric_name"
    assert only(METRIC, text, "m.tf") == [("warning", where)] * count


def test_retention() -> None:
    text = 'variable "x" {}\nresource "aws_cloudwatch_log_group" "l" {\n name = "l"\n LINE\n}'
    assert [s for s, _ in only(RETENTION, text.replace("LINE", ""), "m.tf")] == ["info"]
    zero = text.replace("LINE", "retention_in_days = 0")
    assert [s for s, _ in only(RETENTION, zero, "m.tf")] == ["info"]
    assert only(RETENTION, text.replace("LINE", "retention_in_days = 30"), "m.tf") == []
    assert only(RETENTION, text.replace("LINE", "retention_in_days = var.x"), "m.tf") == []
    template = "Resources:\n  L: {Type: 'AWS::Logs::LogGroup', Properties: {LogGroupName: l}}\n"
    assert [s for s, _ in only(RETENTION, template, "t.yaml")] == ["info"]


def test_logs() -> None:
    managed = {"requiresCompatibilities": ["MANAGED_INSTANCES"]}
    assert [s for s, _ in only(LOGS, task(**managed))] == ["info"]
    assert only(LOGS, task({"logConfiguration": {"logDriver": "awslogs"}}, **managed)) == []
    assert only(LOGS, task({"resourceRequirements": []}, **managed)) == []
    assert only(LOGS, task()) == []
    service = """
    resource "aws_ecs_service" "s" {
      task_definition = aws_ecs_task_definition.d.arn
      capacity_provider_strategy { capacity_provider = aws_ecs_capacity_provider.p.name }
    }
    """
    assert len(only(LOGS, gpu_task() + MANAGED + service, "m.tf")) == 1
    assert only(LOGS, gpu_task() + GROUP + service, "m.tf") == []


def test_alarms_of_servers() -> None:
    cpu = alarm('"CPUUtilization"', "AWS/ECS")
    assert [s for s, _ in only(MEMORY, cpu + gpu_task(), "m.tf")] == ["info"]
    for metric in ("TaskGPUMemoryUtilization", "DCGM_FI_DEV_FB_USED", "nvidia_smi_memory_used"):
        assert only(MEMORY, alarm(f'"{metric}"') + gpu_task(), "m.tf") == []
    assert only(MEMORY, alarm("var.x") + gpu_task(), "m.tf") == []
    assert only(MEMORY, gpu_task(), "m.tf") == []


def test_alarms_of_training() -> None:
    cpu = alarm('"CPUUtilization"', "AWS/ECS")
    train = gpu_task('["torchrun", "train.py"]')
    assert [s for s, _ in only(RANKS, cpu + train, "m.tf")] == ["info"]
    assert only(RANKS, alarm('"LastStepAge"') + train, "m.tf") == []
    assert only(RANKS, train, "m.tf") == []
    event = """
    resource "aws_cloudwatch_event_rule" "r" {
      event_pattern = jsonencode({ "detail-type" = ["ECS Task State Change"] })
    }
    """
    assert only(RANKS, cpu + train + event, "m.tf") == []


def test_exporters() -> None:
    where = "containerDefinitions[0].resourceRequirements"
    image = "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04"
    assert only(EXPORTER, task({"image": image})) == [("warning", where)]
    assert only(EXPORTER, task({"image": image, "resourceRequirements": []})) == []
    assert only(EXPORTER, task()) == []
    terraform = gpu_task('["dcgm-exporter", "-a", ":9400"]')
    assert [s for s, _ in only(EXPORTER, terraform, "m.tf")] == ["warning"]


HOSTS = """
resource "aws_launch_template" "t" {{ instance_type = "{type}" }}
resource "aws_autoscaling_group" "t" {{
  max_size = 2
  launch_template {{ id = aws_launch_template.t.id }}
}}
resource "aws_ecs_capacity_provider" "t" {{
  name = "t"
  auto_scaling_group_provider {{ auto_scaling_group_arn = aws_autoscaling_group.t.arn }}
}}
resource "aws_ecs_cluster_capacity_providers" "t" {{
  cluster_name       = aws_ecs_cluster.{cluster}.name
  capacity_providers = [aws_ecs_capacity_provider.t.name]
}}
"""
OTHER = """
resource "aws_ecs_cluster" "web" {
  name = "web"
  setting {
    name  = "containerInsights"
    value = "disabled"
  }
}
"""


def test_container_insights_by_the_hosts_of_the_cluster() -> None:
    gpu, plain = (HOSTS.format(type=t, cluster="c") for t in ("g5.xlarge", "m7i.large"))
    off = cluster('"disabled"')
    assert [s for s, _ in only(INSIGHTS, off + gpu, "m.tf")] == ["warning"]
    assert [s for s, _ in only(INSIGHTS, cluster("") + gpu, "m.tf")] == ["info"]
    assert only(INSIGHTS, off + plain, "m.tf") == []
    assert only(INSIGHTS, cluster('"enabled"') + gpu, "m.tf") == []
    beside = only(INSIGHTS, off + gpu + OTHER, "m.tf")
    assert [where.startswith("aws_ecs_cluster.c") for _, where in beside] == [True]
