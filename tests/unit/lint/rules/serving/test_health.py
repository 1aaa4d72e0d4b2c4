"""Health checks: ranges, load time, paths of engines."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import environment, only, report, task

RANGE = "health-check-out-of-range"
LOAD = "grace-shorter-than-model-load"
PATH = "health-path-of-engine"


@pytest.mark.parametrize(
    ("key", "bad", "good"),
    [
        ("startPeriod", 600, 300),
        ("interval", 1, 5),
        ("timeout", 90, 60),
        ("retries", 20, 10),
    ],
)
def test_ranges(key: str, bad: int, good: int) -> None:
    check = {"command": ["CMD-SHELL", "true"]}
    where = f"containerDefinitions[0].healthCheck.{key}"
    assert only(RANGE, task({"healthCheck": {**check, key: bad}})) == [("error", where)]
    assert only(RANGE, task({"healthCheck": {**check, key: good}})) == []


def test_ranges_in_cloudformation_and_unknown() -> None:
    text = """
Parameters: {Start: {Type: Number}}
Resources:
  D:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - {Name: a, Image: "a:1", HealthCheck: {Command: [CMD, a], StartPeriod: 900}}
"""
    where = "Resources.D.Properties.ContainerDefinitions[0].HealthCheck.StartPeriod"
    assert only(RANGE, text, "t.yaml") == [("error", where)]
    assert only(RANGE, text.replace("900", "!Ref Start"), "t.yaml") == []


def loads(container: dict[str, object], **service: object) -> list[str]:
    whole = {"serviceName": "s", "taskDefinition": "t", **service}
    files = (("t.json", task(container)), ("s.json", json.dumps(whole)))
    return [f.where for f in report(*files).findings if f.slug == LOAD]


BALANCED = {"loadBalancers": [{"targetGroupArn": "arn", "containerPort": 80}]}
GRACE = "healthCheckGracePeriodSeconds"


@pytest.mark.parametrize("name", ["MODEL_LOAD_P95_SECONDS", "STARTUP_SECONDS", "MODEL_READY_S"])
def test_grace_against_load(name: str) -> None:
    stated = environment(**{name: "540"})
    assert loads(stated, **BALANCED, **{GRACE: 120}) == [GRACE]
    assert loads(stated, **BALANCED, **{GRACE: 900}) == []
    assert loads(environment(**{name: "slow"}), **BALANCED, **{GRACE: 120}) == []
    assert loads(environment(LOAD_TIMEOUT_SECONDS="540"), **BALANCED, **{GRACE: 120}) == []


def test_a_container_check_that_gives_up() -> None:
    check: dict[str, object] = {"command": ["CMD-SHELL", "curl -f localhost:8000/health"]}
    stated = environment(MODEL_LOAD_MINUTES="9")
    where = "containerDefinitions[0].healthCheck"
    assert loads({**stated, "healthCheck": check}) == [where]
    assert loads({**stated, "healthCheck": {**check, "startPeriod": 300}}) == [where]
    assert loads({**stated, "healthCheck": {**check, "interval": 100, "retries": 6}}) == []
    assert loads({**stated, "healthCheck": check}, **{GRACE: 900}) == []


TEXT = """
variable "path" {{}}
resource "aws_lb_target_group" "g" {{
  target_type = "ip"
  {check}
}}
resource "aws_ecs_task_definition" "d" {{
  family                = "d"
  network_mode          = "awsvpc"
  container_definitions = jsonencode([{{
    name = "a", image = "{image}", command = {command}, portMappings = [{{ containerPort = 8000 }}]
  }}])
}}
resource "aws_ecs_service" "s" {{
  name            = "s"
  task_definition = aws_ecs_task_definition.d.arn
  load_balancer {{
    target_group_arn = aws_lb_target_group.g.arn
    container_name   = "a"
    container_port   = 8000
  }}
}}
"""
VLLM, TRITON = "vllm/vllm-openai:v0.9.1", "nvcr.io/nvidia/tritonserver:25.06-py3"


def served(image: str, check: str, command: str = "[]") -> list[tuple[str, str]]:
    text = TEXT.format(image=image, check=check, command=command)
    return only(PATH, text, "m.tf")


@pytest.mark.parametrize(
    ("image", "path"),
    [
        (VLLM, "/"),
        (VLLM, "/healthz"),
        (VLLM, "/v2/health/ready"),
        (TRITON, "/health"),
        (TRITON, "/ping"),
        ("pytorch/torchserve:0.12.0-gpu", "/health"),
    ],
)
def test_a_path_that_is_not_there(image: str, path: str) -> None:
    found = served(image, f'health_check {{ path = "{path}" }}')
    assert found == [("warning", "aws_lb_target_group.g.health_check.path")]


def test_the_default_path_and_the_engine_by_its_command() -> None:
    assert [s for s, _ in served(VLLM, "")] == ["warning"]
    command = '["python", "-m", "vllm.entrypoints.openai.api_server"]'
    assert [s for s, _ in served("a:1", "", command)] == ["warning"]
    assert served("a:1", "") == []


@pytest.mark.parametrize(
    ("image", "check"),
    [
        (VLLM, 'health_check { path = "/health" }'),
        (VLLM, 'health_check { path = "/v1/models" }'),
        (TRITON, 'health_check { path = "/v2/health/ready" }'),
        (VLLM, "health_check { path = var.path }"),
        (VLLM, 'health_check {\n path = "/"\n matcher = "200-499"\n}'),
        (VLLM, 'protocol = "TCP"'),
    ],
)
def test_a_path_that_is_there(image: str, check: str) -> None:
    assert served(image, check) == []


def test_liveness_is_not_readiness() -> None:
    found = served(TRITON, 'health_check { path = "/v2/health/live" }')
    assert [severity for severity, _ in found] == ["info"]


PROBED: dict[str, object] = {
    "image": "vllm/vllm-openai:v0.9.0",
    "command": ["--model", "a/b", "--port", "8000"],
}


@pytest.mark.parametrize(
    ("probe", "found"),
    [
        (["CMD", "curl", "-f", "http://localhost:8000/healthz"], 1),
        (["CMD-SHELL", "curl -fsS http://127.0.0.1:8000/ || exit 1"], 1),
        (["CMD-SHELL", "wget -q -O- http://localhost:8000/ready"], 1),
        (["CMD-SHELL", "curl --fail localhost:8000/healthz"], 1),
        (["CMD", "curl", "-f", "http://localhost:8000/health"], 0),
        (["CMD", "curl", "-f", "http://localhost:8000/v1/models"], 0),
        (["CMD", "curl", "http://localhost:8000/healthz"], 0),
        (["CMD", "curl", "-f", "http://localhost:9000/healthz"], 0),
        (["CMD", "curl", "-f", "http://sidecar:8000/healthz"], 0),
        (["CMD-SHELL", "curl -f http://localhost:8000/healthz || true"], 0),
        (["CMD-SHELL", "curl -f localhost:8000/healthz || curl -f localhost:8000/health"], 0),
        (["CMD-SHELL", "nvidia-smi"], 0),
    ],
)
def test_paths_of_the_check_of_a_container(probe: list[str], found: int) -> None:
    held = {**PROBED, "healthCheck": {"command": probe}}
    where = "containerDefinitions[0].healthCheck.command"
    assert only(PATH, task(held)) == [("warning", where)] * found
    plain = {"image": "a/app:1", "command": ["serve"], "healthCheck": {"command": probe}}
    assert only(PATH, task(plain)) == []


def test_paths_of_the_check_of_a_compose_service() -> None:
    text = """
services:
  llm:
    image: vllm/vllm-openai:v0.9.0
    command: --model a/b
    healthcheck: {test: "curl -f http://localhost:8000/PATH"}
    deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 1}]}}}
"""
    bad = only(PATH, text.replace("PATH", "healthz"), "compose.yaml")
    assert bad == [("warning", "services.llm.healthcheck.test")]
    assert only(PATH, text.replace("PATH", "health"), "compose.yaml") == []
    assert only(PATH, text.replace("PATH", "${WHERE}"), "compose.yaml") == []
