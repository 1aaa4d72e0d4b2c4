"""Models against the memory of the cards: too large, and far too small."""

from __future__ import annotations

import pytest

from tests.support.linting import only, task

LARGER = "model-larger-than-gpus"
SMALLER = "gpu-larger-than-model-needs"
TYPE = "attribute:ecs.instance-type == "


def serve(model: str, gpus: str, type_: str, *more: str) -> str:
    container = {
        "command": ["vllm", "serve", model, *more],
        "resourceRequirements": [{"type": "GPU", "value": gpus}],
    }
    pinned = [{"type": "memberOf", "expression": TYPE + type_}] if type_ else []
    return task(container, placementConstraints=pinned)


@pytest.mark.parametrize(
    ("model", "gpus", "type_", "more", "count"),
    [
        ("org/Llama-3.1-70B-Instruct", "1", "g5.xlarge", [], 1),
        ("org/Llama-3.1-70B-Instruct", "4", "g5.12xlarge", [], 1),
        ("org/Llama-3.1-70B-AWQ", "4", "g5.12xlarge", [], 0),
        ("org/Llama-3.1-8B-Instruct", "1", "g5.xlarge", [], 0),
        ("org/Mixtral-8x7B", "1", "g6e.xlarge", [], 1),
        ("org/Llama-3.1-70B", "1", "g5.xlarge", ["--cpu-offload-gb", "200"], 0),
        ("org/Llama-3.1-70B", "1", "", [], 0),
        ("org/llama-large", "1", "g5.xlarge", [], 0),
        ("/models/70B", "1", "g5.xlarge", [], 0),
    ],
)
def test_too_large(model: str, gpus: str, type_: str, more: list[str], count: int) -> None:
    found = only(LARGER, serve(model, gpus, type_, *more))
    assert found == [("warning", "containerDefinitions[0].command")] * count


def test_too_large_by_a_variable_in_terraform() -> None:
    text = """
    variable "model" {}
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "a:1", portMappings = [{ containerPort = 80 }]
        resourceRequirements = [{ type = "GPU", value = "1" }]
        environment = [{ name = "MODEL_ID", value = "org/model-70B" }]
      }])
      placement_constraints {
        type       = "memberOf"
        expression = "attribute:ecs.instance-type == g5.xlarge"
      }
    }
    """
    assert [s for s, _ in only(LARGER, text, "m.tf")] == ["warning"]
    assert only(LARGER, text.replace('"org/model-70B"', "var.model"), "m.tf") == []


@pytest.mark.parametrize(
    ("model", "gpus", "type_", "count"),
    [
        ("org/Qwen2.5-0.5B", "4", "g5.12xlarge", 1),
        ("org/Llama-3.1-8B", "8", "p5.48xlarge", 1),
        ("org/Llama-3.1-8B", "1", "g5.xlarge", 0),
        ("org/Llama-3.1-8B", "8", "", 0),
        ("org/small", "8", "p5.48xlarge", 0),
    ],
)
def test_far_too_small(model: str, gpus: str, type_: str, count: int) -> None:
    found = only(SMALLER, serve(model, gpus, type_))
    assert [severity for severity, _ in found] == ["info"] * count
