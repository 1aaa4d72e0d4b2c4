"""Stop time-outs against the Spot notice."""

from __future__ import annotations

import pytest

from phalanx.lint.userdata import seconds
from tests.support.linting import only, task

SLUG = "stop-timeout-longer-than-spot-notice"
TEXT = """
resource "aws_launch_template" "t" {{
  instance_market_options {{ market_type = "{market}" }}
  user_data = base64encode("ECS_CLUSTER=a\nECS_CONTAINER_STOP_TIMEOUT={text}\n")
}}
"""


@pytest.mark.parametrize(
    ("market", "text", "count"),
    [
        ("spot", "3h", 1),
        ("spot", "3m", 1),
        ("spot", "121s", 1),
        ("spot", "2m", 0),
        ("spot", "110s", 0),
        ("spot", "soon", 0),
        ("spot", "${var.x}", 0),
        ("capacity-block", "3h", 0),
    ],
)
def test_of_the_agent(market: str, text: str, count: int) -> None:
    found = only(SLUG, TEXT.format(market=market, text=text), "m.tf")
    assert found == [("warning", "aws_launch_template.t.user_data")] * count


def test_of_a_container() -> None:
    spot = [{"key": "capacity", "value": "spot"}]
    where = "containerDefinitions[0].stopTimeout"
    assert only(SLUG, task({"stopTimeout": 600}, tags=spot)) == [("warning", where)]
    assert only(SLUG, task({"stopTimeout": 110}, tags=spot)) == []
    assert only(SLUG, task({"stopTimeout": 600})) == []


@pytest.mark.parametrize(
    ("text", "expected"), [("3h", 10800), ("2m30s", 150), ("90", 90), ("1.5m", 90), ("", None)]
)
def test_durations(text: str, expected: float | None) -> None:
    assert seconds(text) == expected
