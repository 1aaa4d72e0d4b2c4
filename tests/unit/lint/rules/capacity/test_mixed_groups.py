"""Weights and mixed types in scaling groups."""

from __future__ import annotations

from tests.support.linting import only

WEIGHTS = "asg-weights-with-capacity-provider"
MIXED = "mixed-gpu-types-in-asg"
WHERE = "aws_autoscaling_group.g.mixed_instances_policy"
PROVIDER = """
resource "aws_ecs_capacity_provider" "p" {
  name = "p"
  auto_scaling_group_provider { auto_scaling_group_arn = aws_autoscaling_group.g.arn }
}
"""


def group(*types: str, weight: str = "") -> str:
    overrides = "".join(f'override {{\n instance_type = "{t}"\n {weight}\n}}\n' for t in types)
    return f"""
    resource "aws_autoscaling_group" "g" {{
      mixed_instances_policy {{
        launch_template {{
          {overrides}
        }}
      }}
    }}
    """


def test_weights() -> None:
    text = group("m7i.large", "m7i.xlarge", weight='weighted_capacity = "2"')
    assert only(WEIGHTS, text + PROVIDER, "m.tf") == [("error", WHERE)]
    assert only(WEIGHTS, text, "m.tf") == []
    assert only(WEIGHTS, group("m7i.large") + PROVIDER, "m.tf") == []


def test_mixed_types() -> None:
    assert only(MIXED, group("g5.xlarge", "p4d.24xlarge") + PROVIDER, "m.tf") == [
        ("warning", WHERE)
    ]
    assert only(MIXED, group("g5.xlarge", "g5.12xlarge") + PROVIDER, "m.tf") == [("warning", WHERE)]
    assert only(MIXED, group("g5.xlarge", "g5.2xlarge") + PROVIDER, "m.tf") == []
    assert only(MIXED, group("m7i.large", "m6i.large") + PROVIDER, "m.tf") == []
    assert only(MIXED, group("g5.xlarge", "p4d.24xlarge"), "m.tf") == []
