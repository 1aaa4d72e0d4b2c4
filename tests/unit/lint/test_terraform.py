"""Terraform: variables, locals, repetition, modules, places."""

from __future__ import annotations

import textwrap
from pathlib import Path

from phalanx.lint.collect import collect
from phalanx.lint.engine import lint
from tests.support.linting import only, report


def tf(text: str) -> str:
    return textwrap.dedent(text)


GROUP = """
resource "aws_placement_group" "p" {
  name     = "p"
  strategy = "cluster"
}
resource "aws_autoscaling_group" "g" {
  placement_group     = aws_placement_group.p.id
  vpc_zone_identifier = %s
}
"""


def test_counted_subnets_with_their_own_zone() -> None:
    text = """
        resource "aws_subnet" "s" {
          count             = 2
          availability_zone = data.aws_availability_zones.here.names[count.index]
        }
        """
    where = "aws_autoscaling_group.g.vpc_zone_identifier"
    found = only("cluster-pg-multi-az", tf(text) + GROUP % "aws_subnet.s[*].id", "m.tf")
    assert found == [("error", where)]
    one = only("cluster-pg-multi-az", tf(text) + GROUP % "[aws_subnet.s[0].id]", "m.tf")
    assert one == []


def test_subnets_of_a_map_in_a_for_expression() -> None:
    text = """
        resource "aws_subnet" "s" {
          for_each          = { a = "us-west-2a", b = "us-west-2b" }
          availability_zone = each.value
        }
        """
    expression = "[for s in aws_subnet.s : s.id]"
    assert len(only("cluster-pg-multi-az", tf(text) + GROUP % expression, "m.tf")) == 1


def test_subnets_from_a_variable_stay_unknown() -> None:
    text = 'variable "subnets" { type = list(string) }\n'
    assert only("cluster-pg-multi-az", text + GROUP % "var.subnets", "m.tf") == []


def test_conditionals_and_defaults_are_worked_out() -> None:
    text = tf("""
        variable "spot" {
          type    = bool
          default = true
        }
        resource "aws_launch_template" "t" {
          instance_market_options {
            market_type = var.spot ? "spot" : null
          }
          user_data = base64encode("echo ECS_CLUSTER=x >> /etc/ecs/ecs.config")
        }
        """)
    assert len(only("spot-draining-off", text, "m.tf")) == 1
    assert only("spot-draining-off", text.replace("= true", "= false"), "m.tf") == []
    unknown = text.replace("  default = true\n", "")
    assert only("spot-draining-off", unknown, "m.tf") == []


def test_containers_in_a_local_are_found_where_they_are_written() -> None:
    text = tf("""
        locals {
          containers = [{
            name        = "a"
            image       = "a"
            environment = [{ name = "HF_TOKEN", value = "hf_abcdefghijklmnopqrst" }]
          }]
        }
        resource "aws_ecs_task_definition" "t" {
          family                = "t"
          container_definitions = jsonencode(local.containers)
        }
        """)
    (finding,) = report(("m.tf", text)).findings
    assert finding.slug == "secret-in-env"
    assert finding.line == 6
    assert finding.where.startswith("local.containers")


def test_container_definitions_as_a_heredoc() -> None:
    text = tf("""
        variable "image" {}
        resource "aws_ecs_task_definition" "t" {
          requires_compatibilities = ["FARGATE"]
          container_definitions    = <<EOF
        [{"name": "a", "image": "${var.image}",
          "resourceRequirements": [{"type": "GPU", "value": "1"}]}]
        EOF
        }
        """)
    where = "aws_ecs_task_definition.t.container_definitions[0].resourceRequirements"
    assert only("fargate-gpu", text, "m.tf") == [("error", where)]


def test_holes_in_a_heredoc_leave_the_rest_known() -> None:
    text = tf("""
        variable "cpu" {}
        resource "aws_ecs_task_definition" "t" {
          requires_compatibilities = ["FARGATE"]
          container_definitions    = <<EOF
        [{"name": "a", "cpu": ${var.cpu}, "secrets": [${var.cpu}], "image": "${var.cpu}",
          "resourceRequirements": [{"type": "GPU", "value": "${var.cpu}"}]}]
        EOF
        }
        """)
    assert [severity for severity, _ in only("fargate-gpu", text, "m.tf")] == ["error"]


def test_a_template_file_gets_its_values(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        tf("""
        resource "aws_ecs_task_definition" "t" {
          requires_compatibilities = ["EC2"]
          container_definitions = templatefile("${path.module}/c.json.tpl", { proto = "simple" })
        }
        """)
    )
    (tmp_path / "c.json.tpl").write_text(
        '[{"name": "a", "environment": [{"name": "NCCL_PROTO", "value": "${proto}"}]}]'
    )
    slugs = [f.slug for f in lint(collect([str(tmp_path)])).findings]
    assert slugs == ["nccl-proto-legacy"]


def test_a_dynamic_block_is_unrolled_or_unknown() -> None:
    text = tf("""
        variable "balanced" { default = ["arn"] }
        resource "aws_ecs_task_definition" "t" {
          container_definitions = jsonencode([{
            name                 = "a"
            resourceRequirements = [{ type = "GPU", value = "1" }]
          }])
        }
        resource "aws_ecs_service" "s" {
          task_definition = aws_ecs_task_definition.t.arn
          dynamic "load_balancer" {
            for_each = var.balanced
            content {
              target_group_arn = load_balancer.value
            }
          }
        }
        """)
    where = "aws_ecs_service.s.health_check_grace_period_seconds"
    assert only("lb-no-grace-period", text, "m.tf") == [("error", where)]
    assert only("lb-no-grace-period", text.replace('["arn"]', "[]"), "m.tf") == []
    unknown = text.replace('{ default = ["arn"] }', "{}")
    assert only("lb-no-grace-period", unknown, "m.tf") == []


def test_modules_of_the_tree_get_their_inputs(tmp_path: Path) -> None:
    (tmp_path / "child").mkdir()
    (tmp_path / "main.tf").write_text(
        tf("""
        module "gpu" {
          source = "./child"
          kind   = "FARGATE"
        }
        """)
    )
    (tmp_path / "child" / "main.tf").write_text(
        tf("""
        variable "kind" {}
        resource "aws_ecs_task_definition" "t" {
          requires_compatibilities = [var.kind]
          container_definitions    = file("${path.module}/c.json")
        }
        """)
    )
    (tmp_path / "child" / "c.json").write_text(
        '[{"name": "a", "resourceRequirements": [{"type": "GPU", "value": "1"}]}]'
    )
    for word in (tmp_path, tmp_path / "main.tf"):
        findings = lint(collect([str(word)])).findings
        assert [f.slug for f in findings] == ["fargate-gpu"]
        assert findings[0].file.endswith("child/main.tf")
        assert findings[0].where.startswith("aws_ecs_task_definition.t.container_definitions")


def test_links_through_module_outputs(tmp_path: Path) -> None:
    (tmp_path / "asg").mkdir()
    (tmp_path / "asg" / "main.tf").write_text(
        tf("""
        resource "aws_autoscaling_group" "g" {
          mixed_instances_policy {
            launch_template {
              override {
                instance_type     = "g5.xlarge"
                weighted_capacity = "1"
              }
            }
          }
        }
        output "arn" { value = aws_autoscaling_group.g.arn }
        """)
    )
    (tmp_path / "main.tf").write_text(
        tf("""
        module "asg" { source = "./asg" }
        resource "aws_ecs_capacity_provider" "p" {
          name = "p"
          auto_scaling_group_provider {
            auto_scaling_group_arn = module.asg.arn
          }
        }
        """)
    )
    slugs = {f.slug for f in lint(collect([str(tmp_path)])).findings}
    assert "asg-weights-with-capacity-provider" in slugs


def test_values_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        tf("""
        variable "kind" { default = "EC2" }
        resource "aws_ecs_task_definition" "t" {
          requires_compatibilities = [var.kind]
          container_definitions    = jsonencode([{
            resourceRequirements = [{ type = "GPU", value = "1" }]
          }])
        }
        """)
    )
    assert lint(collect([str(tmp_path)])).findings == ()
    (tmp_path / "terraform.tfvars").write_text('kind = "FARGATE"\n')
    slugs = [f.slug for f in lint(collect([str(tmp_path)])).findings]
    assert slugs == ["fargate-gpu"]


def test_a_policy_document_is_rendered() -> None:
    from phalanx.lint.infra import Role
    from phalanx.lint.readers.detect import read_world
    from phalanx.lint.source import SourceFile

    text = tf("""
        data "aws_iam_policy_document" "trust" {
          statement {
            actions = ["sts:AssumeRole"]
            principals {
              type        = "Service"
              identifiers = ["ecs-tasks.amazonaws.com"]
            }
          }
        }
        resource "aws_iam_role" "r" {
          name               = "r"
          assume_role_policy = data.aws_iam_policy_document.trust.json
        }
        """)
    entities, _, _ = read_world([SourceFile("m.tf", text)])
    (role,) = [e for e in entities if isinstance(e, Role)]
    principal = role.raw("assumeRolePolicyDocument.Statement[0].Principal")
    assert principal == {"Service": ["ecs-tasks.amazonaws.com"]}


def test_bad_hcl_has_a_place() -> None:
    import pytest

    from phalanx.errors import SpecError

    with pytest.raises(SpecError) as error:
        report(("m.tf", 'resource "a" "b" {\n  x = = 1\n}\n'))
    assert error.value.row == 2


def test_nesting_without_end_is_refused() -> None:
    import pytest

    from phalanx.errors import SpecError

    with pytest.raises(SpecError, match="nested"):
        report(("m.tf", "a {\n" * 3000 + "}\n" * 3000))
    assert report(("m.tf", f"locals {{\n  a = {'[' * 3000}{']' * 3000}\n}}\n")).findings == ()


def test_a_dynamic_block_for_every_network_card() -> None:
    text = """
    resource "aws_launch_template" "t" {
      instance_type = "p5.48xlarge"
      dynamic "network_interfaces" {
        for_each = range(33)
        content {
          device_index       = 1
          network_card_index = network_interfaces.value
          interface_type     = "efa"
        }
      }
    }
    """
    where = "aws_launch_template.t.network_interfaces"
    found = [f for f in report(("m.tf", text)).findings if f.where == where]
    assert [f.message for f in found] == [
        "33 EFA interfaces are attached; p5.48xlarge has 32",
    ]
    fewer = report(("m.tf", text.replace("33", "32"))).findings
    assert [f for f in fewer if f.where == where] == []
