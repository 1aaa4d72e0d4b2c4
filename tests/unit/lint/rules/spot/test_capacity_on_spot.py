"""Services, rebalancing and standalone tasks on Spot."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import found, only, report, task

SERVING = "spot-for-latency-bound-serving"
REBALANCE = "capacity-rebalance-on-training-group"
STANDALONE = "draining-leaves-standalone-task"
POOL = """
resource "aws_launch_template" "t" {{
  instance_type = "g5.xlarge"
  instance_market_options {{ market_type = "{market}" }}
}}
resource "aws_autoscaling_group" "{name}" {{
  capacity_rebalance = {rebalance}
  max_size           = 9
  launch_template {{ id = aws_launch_template.t.id }}
}}
resource "aws_ecs_capacity_provider" "p" {{
  name = "pool"
  auto_scaling_group_provider {{ auto_scaling_group_arn = aws_autoscaling_group.{name}.arn }}
}}
"""
SERVICE = """
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  container_definitions = jsonencode([{{
    name = "a", image = "a:1", command = {command}
    resourceRequirements = [{{ type = "GPU", value = "1" }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  name            = "s"
  task_definition = aws_ecs_task_definition.d.arn
  capacity_provider_strategy {{
    capacity_provider = aws_ecs_capacity_provider.p.name
    weight = 1
  }}
  {more}
}}
"""
BALANCED = 'load_balancer {\n target_group_arn = "arn"\n container_port = 80\n}'


def pool(market: str = "spot", name: str = "g", rebalance: str = "false") -> str:
    return POOL.format(market=market, name=name, rebalance=rebalance)


def service(more: str = BALANCED, command: str = '["serve"]') -> str:
    return SERVICE.format(more=more, command=command)


def test_a_balanced_service_on_spot_alone() -> None:
    where = "aws_ecs_service.s.capacity_provider_strategy"
    assert only(SERVING, pool() + service(), "m.tf") == [("warning", where)]


@pytest.mark.parametrize(
    "text",
    [
        pool("capacity-block") + service(),
        pool() + service(more=""),
        pool().replace('"spot"', "var.market") + service(),
        pool() + service(command='["torchrun", "train.py"]'),
        pool()
        + service(
            more=BALANCED
            + '\ncapacity_provider_strategy {\n capacity_provider = "other"\n weight = 1\n}'
        ),
    ],
)
def test_a_base_elsewhere_or_not_known(text: str) -> None:
    assert only(SERVING, text, "m.tf") == []


def test_managed_instances_on_spot_and_cloudformation() -> None:
    resources = {
        "P": {
            "Type": "AWS::ECS::CapacityProvider",
            "Properties": {
                "ClusterName": "c",
                "ManagedInstancesProvider": {
                    "InstanceLaunchTemplate": {"CapacityOptionType": "SPOT"}
                },
            },
        },
        "D": {
            "Type": "AWS::ECS::TaskDefinition",
            "Properties": {
                "ContainerDefinitions": [
                    {
                        "Name": "a",
                        "Image": "a:1",
                        "ResourceRequirements": [{"Type": "GPU", "Value": "1"}],
                    }
                ]
            },
        },
        "S": {
            "Type": "AWS::ECS::Service",
            "Properties": {
                "TaskDefinition": {"Ref": "D"},
                "LoadBalancers": [{"ContainerPort": 80}],
                "CapacityProviderStrategy": [{"CapacityProvider": {"Ref": "P"}, "Weight": 1}],
            },
        },
    }
    assert [s for s, _ in only(SERVING, json.dumps({"Resources": resources}))] == ["warning"]
    managed = resources["P"]["Properties"]["ManagedInstancesProvider"]  # type: ignore[index]
    managed["InstanceLaunchTemplate"]["CapacityOptionType"] = "ON_DEMAND"
    assert only(SERVING, json.dumps({"Resources": resources})) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (pool(name="train", rebalance="true"), 1),
        (pool(rebalance="true") + service(more="", command='["torchrun", "train.py"]'), 1),
        (pool(name="train", rebalance="false"), 0),
        (pool(name="train", rebalance="var.rebalance"), 0),
        (pool(name="train", market="capacity-block", rebalance="true"), 0),
        (pool(rebalance="true") + service(), 0),
        (pool(name="train", rebalance="true") + service(), 0),
    ],
)
def test_rebalancing(text: str, count: int) -> None:
    assert [s for s, _ in only(REBALANCE, text, "m.tf")] == ["warning"] * count


def test_rebalancing_in_cloudformation() -> None:
    text = """
Resources:
  Group:
    Type: AWS::EC2::PlacementGroup
    Properties: {Strategy: cluster}
  Template:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p4d.24xlarge
        InstanceMarketOptions: {MarketType: spot}
        Placement: {GroupName: !Ref Group}
  Fleet:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      CapacityRebalance: true
      LaunchTemplate: {LaunchTemplateId: !Ref Template, Version: "1"}
"""
    where = "Resources.Fleet.Properties.CapacityRebalance"
    assert only(REBALANCE, text, "t.yaml") == [("warning", where)]
    assert only(REBALANCE, text.replace("Rebalance: true", "Rebalance: false"), "t.yaml") == []


def test_draining_leaves_run_task_alone() -> None:
    run = {
        "taskDefinition": "d",
        "capacityProviderStrategy": [{"capacityProvider": "pool", "weight": 1}],
    }

    def standalone(market: str) -> list[str]:
        files = (("m.tf", pool(market)), ("run.json", json.dumps(run)))
        return [f.where for f in report(*files).findings if f.slug == STANDALONE]

    assert standalone("spot") == ["capacityProviderStrategy[0].capacityProvider"]
    assert standalone("capacity-block") == []
    assert only(STANDALONE, json.dumps(run)) == []


def test_nothing_of_it_for_a_lone_task() -> None:
    slugs = {slug for slug, _, _ in found(task())}
    assert not slugs & {SERVING, REBALANCE, STANDALONE}
