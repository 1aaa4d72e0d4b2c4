"""Modules of the public registry, by their inputs."""

from __future__ import annotations

import pytest

from tests.support.linting import found, only

GROUP = """
resource "aws_subnet" "a" { availability_zone = "us-west-2a" }
resource "aws_subnet" "b" { availability_zone = "us-west-2b" }
resource "aws_placement_group" "p" {
  name     = "p"
  strategy = "cluster"
}
module "asg" {
  source              = "terraform-aws-modules/autoscaling/aws"
  version             = "~> 6.5"
  for_each            = { gpu = "p4d.24xlarge" }
  instance_type       = each.value
  user_data           = base64encode("ECS_CLUSTER=a")
  placement_group     = aws_placement_group.p.name
  vpc_zone_identifier = [aws_subnet.a.id, aws_subnet.b.id]
  instance_market_options = {
    market_type = "spot"
  }
  mixed_instances_policy = {
    override = [
      { instance_type = "g5.xlarge", weighted_capacity = "1" },
      { instance_type = "p4d.24xlarge", weighted_capacity = "8" },
    ]
  }
}
module "cluster" {
  source = "terraform-aws-modules/ecs/aws//modules/cluster"
  autoscaling_capacity_providers = {
    gpu = {
      auto_scaling_group_arn         = module.asg["gpu"].autoscaling_group_arn
      managed_termination_protection = "DISABLED"
    }
  }
}
"""


def test_a_group_and_its_provider() -> None:
    triples = found(GROUP, "m.tf")
    assert ("cluster-pg-multi-az", "error", "module.asg.vpc_zone_identifier") in triples
    weights = ("asg-weights-with-capacity-provider", "error", "module.asg.mixed_instances_policy")
    assert weights in triples
    path = "module.cluster.autoscaling_capacity_providers.gpu.managed_termination_protection"
    assert ("termination-protection-off", "warning", path) in triples
    assert ("spot-draining-off", "warning", "module.asg.user_data") in triples


SERVICE = """
module "llm" {
  source                   = "terraform-aws-modules/ecs/aws//modules/service"
  name                     = "llm"
  requires_compatibilities = ["EC2"]
  container_definitions = {
    server = {
      image                 = "a"
      resource_requirements = [{ type = "GPU", value = "1" }]
      environment           = [{ name = "HF_TOKEN", value = "hf_abcdefghijklmnopqrst" }]
    }
  }
  load_balancer = {
    service = { target_group_arn = "arn", container_port = 8000 }
  }
}
"""


def test_a_service_with_its_task() -> None:
    triples = found(SERVICE, "m.tf")
    where = "module.llm.health_check_grace_period_seconds"
    assert ("lb-no-grace-period", "error", where) in triples
    where = "module.llm.container_definitions.server.environment[0]"
    assert ("secret-in-env", "error", where) in triples
    assert only("fargate-gpu", SERVICE, "m.tf") == []


def test_the_module_is_fargate_unless_it_says_otherwise() -> None:
    text = SERVICE.replace('  requires_compatibilities = ["EC2"]\n', "")
    where = "module.llm.container_definitions.server.resource_requirements"
    assert only("fargate-gpu", text, "m.tf") == [("error", where)]


def test_another_module_is_not_guessed() -> None:
    assert found(SERVICE.replace("terraform-aws-modules/ecs/aws", "example/ecs/aws"), "m.tf") == []


NETWORK = """
module "vpc" {{
  source          = "terraform-aws-modules/vpc/aws"
  azs             = {zones}
  private_subnets = ["10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"]
}}
resource "aws_placement_group" "p" {{
  name     = "p"
  strategy = "cluster"
}}
resource "aws_autoscaling_group" "g" {{
  placement_group     = aws_placement_group.p.name
  vpc_zone_identifier = {subnets}
}}
"""
ZONES = '["us-east-1a", "us-east-1b", "us-east-1c"]'


@pytest.mark.parametrize(
    ("zones", "subnets", "count"),
    [
        (ZONES, "module.vpc.private_subnets", 1),
        (ZONES, "slice(module.vpc.private_subnets, 0, 2)", 1),
        (ZONES, "[module.vpc.private_subnets[0]]", 0),
        (ZONES, "slice(module.vpc.private_subnets, 1, 2)", 0),
        (ZONES, "[element(module.vpc.private_subnets, 1)]", 0),
        (ZONES, "module.vpc.database_subnets", 0),
        ('["us-east-1a"]', "module.vpc.private_subnets", 0),
        ("var.zones", "module.vpc.private_subnets", 0),
        ("[module.vpc.private_subnets[0]]", "module.vpc.private_subnets", 0),
    ],
)
def test_the_zones_of_a_network(zones: str, subnets: str, count: int) -> None:
    got = only("cluster-pg-multi-az", NETWORK.format(zones=zones, subnets=subnets), "m.tf")
    assert got == [("error", "aws_autoscaling_group.g.vpc_zone_identifier")] * count
