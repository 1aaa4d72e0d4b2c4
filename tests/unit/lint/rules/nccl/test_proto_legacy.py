"""NCCL_PROTO."""

from __future__ import annotations

import pytest

from tests.support.linting import environment, only, task

SLUG = "nccl-proto-legacy"


@pytest.mark.parametrize("value", ["simple", "Simple", "SIMPLE"])
def test_simple_is_a_leftover(value: str) -> None:
    found = only(SLUG, task(environment(NCCL_DEBUG="WARN", NCCL_PROTO=value)))
    assert found == [("warning", "containerDefinitions[0].environment[1]")]


def test_another_value_or_none_is_fine() -> None:
    assert only(SLUG, task(environment(NCCL_PROTO="LL128"))) == []
    assert only(SLUG, task()) == []


def test_a_map_in_a_local() -> None:
    text = 'locals {\n  env = { NCCL_PROTO = "simple", FI_PROVIDER = "efa" }\n}\n'
    assert only(SLUG, text, "m.tf") == [("warning", "local.env")]


def test_a_local_that_a_container_uses_is_said_once() -> None:
    text = """
    locals {
      env = [{ name = "NCCL_PROTO", value = "simple" }]
    }
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{ name = "a", environment = local.env }])
    }
    """
    assert only(SLUG, text, "m.tf") == [("warning", "local.env")]


def test_an_unknown_value_stays_silent() -> None:
    text = 'locals {\n  env = [{ name = "NCCL_PROTO", value = var.proto }]\n}\n'
    assert only(SLUG, text, "m.tf") == []
