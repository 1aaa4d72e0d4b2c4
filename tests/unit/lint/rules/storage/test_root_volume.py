"""Root volumes of GPU hosts."""

from __future__ import annotations

import pytest

from tests.support.linting import only

SLUG = "root-volume-too-small-for-gpu-image"


def template(kind: str, size: object, device: str = "/dev/xvda", more: str = "") -> str:
    return f"""
    resource "aws_launch_template" "t" {{
      instance_type = "{kind}"
      block_device_mappings {{
        device_name = "{device}"
        ebs {{ volume_size = {size} }}
      }}
      {more}
    }}
    """


@pytest.mark.parametrize(
    ("kind", "size", "count"),
    [
        ("g5.2xlarge", 30, 1),
        ("inf2.xlarge", 30, 1),
        ("g6f.large", 40, 1),
        ("g5.2xlarge", 100, 0),
        ("m7i.large", 30, 0),
        ("g5.2xlarge", "var.size", 0),
    ],
)
def test_sizes(kind: str, size: object, count: int) -> None:
    where = "aws_launch_template.t.block_device_mappings.ebs.volume_size"
    assert only(SLUG, template(kind, size), "m.tf") == [("warning", where)] * count


def test_a_second_volume_or_another_device_is_not_judged() -> None:
    more = 'block_device_mappings {\n device_name = "/dev/xvdb"\n ebs { volume_size = 500 }\n}'
    assert only(SLUG, template("g5.xlarge", 30, more=more), "m.tf") == []
    assert only(SLUG, template("g5.xlarge", 30, "/dev/sdf"), "m.tf") == []
