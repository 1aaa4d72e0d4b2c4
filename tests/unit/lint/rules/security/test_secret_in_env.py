"""Secrets in plain environments."""

from __future__ import annotations

import pytest

from tests.support.linting import environment, only, report, task

SLUG = "secret-in-env"
WHERE = "containerDefinitions[0].environment[0]"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "hf_abc"),
        ("WANDB_API_KEY", "0123456789abcdef"),
        ("DB_PASSWORD", "pa55word"),
        ("AWS_SECRET_ACCESS_KEY", "abcdefgh"),
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        ("openai_api_key", "abc"),
        ("ANYTHING", "hf_abcdefghijklmnopqrstuvwx"),
        ("DSN", "postgres://user:pass@host/db"),
    ],
)
def test_a_secret(name: str, value: str) -> None:
    text = task(environment(**{name: value}))
    assert only(SLUG, text) == [("error", WHERE)]
    (finding,) = [f for f in report(("t.json", text)).findings if f.slug == SLUG]
    assert value not in f"{finding.message} {finding.fix} {finding.why}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKENIZERS_PARALLELISM", "false"),
        ("MAX_TOKENS", "4096"),
        ("PAD_TOKEN", "<pad>"),
        ("HF_HOME", "/cache"),
        ("HF_TOKEN_PATH", "/run/token"),
        ("DB_PASSWORD_FILE", "/run/password"),
        ("SECRET_ARN", "arn:aws:secretsmanager:x"),
        ("API_KEY", ""),
        ("API_KEY", "arn:aws:secretsmanager:us-west-2:111122223333:secret:a"),
        ("USE_AUTH_TOKEN", "true"),
        ("SORT_KEY", "name"),
        ("BACKEND_URL", "http://llm.internal:8000"),
    ],
)
def test_no_secret(name: str, value: str) -> None:
    assert only(SLUG, task(environment(**{name: value}))) == []


def test_a_reference_is_the_right_form() -> None:
    secret = {"secrets": [{"name": "HF_TOKEN", "valueFrom": "arn:aws:ssm:x"}]}
    assert only(SLUG, task(secret)) == []


def test_a_value_from_a_variable_ends_in_plain_text_too() -> None:
    text = """
    resource "aws_ecs_task_definition" "t" {
      container_definitions = jsonencode([{
        name        = "a"
        environment = [{ name = "HF_TOKEN", value = var.token }]
      }])
    }
    """
    where = "aws_ecs_task_definition.t.container_definitions[0].environment[0]"
    assert only(SLUG, text, "m.tf") == [("warning", where)]
