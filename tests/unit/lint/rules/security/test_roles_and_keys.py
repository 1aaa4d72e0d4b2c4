"""Static keys, secrets in texts, roles and their trust."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.linting import only, task

KEYS = "static-keys-in-secret-store"
TEXT = "secret-in-command-or-user-data"
SAME = "one-role-for-task-and-execution"
WIDE = "role-allows-everything"
TRUST = "trust-without-source-condition"
COMMAND = "containerDefinitions[0].command"
TOKEN = "hf_" + "aB3dEfGhIjKlMnOpQrSt"


def secrets(*names: str, **members: object) -> str:
    return task({"secrets": [{"name": n, "valueFrom": "arn"} for n in names]}, **members)


def test_keys_from_a_store_stay_static() -> None:
    where = "containerDefinitions[0].secrets[0]"
    assert only(KEYS, secrets("AWS_SECRET_ACCESS_KEY")) == [("warning", where)]
    assert only(KEYS, secrets("HF_TOKEN", "DB_PASSWORD")) == []
    outside = secrets("AWS_ACCESS_KEY_ID", requiresCompatibilities=["EXTERNAL"])
    assert only(KEYS, outside) == [("info", where)]


def test_keys_in_terraform_and_in_a_job_file() -> None:
    text = """
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      container_definitions = jsonencode([{
        name = "a", image = "a:1", secrets = [{ name = "AWS_ACCESS_KEY_ID", valueFrom = var.arn }]
      }])
    }
    """
    assert [s for s, _ in only(KEYS, text, "m.tf")] == ["warning"]
    job = (
        "kind: train\nname: a\ncommand: [a]\nsecrets: {AWS_ACCESS_KEY_ID: {env: AWS_ACCESS_KEY_ID}}"
    )
    assert [s for s, _ in only(KEYS, job, "job.yaml")] == ["info"]


@pytest.mark.parametrize(
    "words",
    [
        ["python", "train.py", "--hf-token", TOKEN],
        ["sh", "-c", f"HF_TOKEN={TOKEN} python a.py"],
        ["vllm", "serve", "a/b", "--api-key", "s3cr3t0123456789"],
        ["sh", "-c", "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCY && python a.py"],
    ],
)
def test_secrets_in_commands(words: list[str]) -> None:
    assert only(TEXT, task({"command": words})) == [("error", COMMAND)]


@pytest.mark.parametrize(
    "words",
    [
        ["vllm", "serve", "a/b", "--api-key", "$API_KEY"],
        ["vllm", "serve", "a/b", "--api-key", "your-api-key-here"],
        ["python", "a.py", "--token", "/run/secrets/token"],
        ["python", "a.py", "--max-tokens", "4096"],
        ["python", "a.py", "--secret", "prod/db/password1"],
        ["python", "a.py", "--token", "a-name-without-numbers"],
        ["python", "a.py", "--token", "config/token-1.txt"],
        ["python", "a.py", "--tokenizer", "hf_tokenizer"],
        ["python", "train.py", "--eos-token", "endoftext0000000"],
    ],
)
def test_no_secrets_in_commands(words: list[str]) -> None:
    assert only(TEXT, task({"command": words})) == []


def test_secrets_in_user_data() -> None:
    text = """
    resource "aws_launch_template" "t" {
      user_data = base64encode("echo export HF_TOKEN=LINE >> /etc/environment")
    }
    """
    where = "aws_launch_template.t.user_data"
    assert only(TEXT, text.replace("LINE", TOKEN), "m.tf") == [("error", where)]
    assert only(TEXT, text.replace("LINE", "${var.token}"), "m.tf") == []


def test_the_value_is_never_shown() -> None:
    from tests.support.linting import report

    made = report(("t.json", task({"command": ["a", "--hf-token", TOKEN]})))
    assert TOKEN not in json.dumps([f.json() for f in made.findings])


def test_one_role_for_both() -> None:
    both = {"taskRoleArn": "arn:aws:iam::1:role/a", "executionRoleArn": "arn:aws:iam::1:role/a"}
    assert only(SAME, task(**both)) == [("warning", "taskRoleArn")]
    assert only(SAME, task(**{**both, "executionRoleArn": "arn:aws:iam::1:role/b"})) == []
    assert only(SAME, task(taskRoleArn="arn:aws:iam::1:role/a")) == []
    text = """
    resource "aws_iam_role" "r" { name = "r" }
    resource "aws_ecs_task_definition" "d" {
      family                = "d"
      task_role_arn         = aws_iam_role.r.arn
      execution_role_arn    = aws_iam_role.r.arn
      container_definitions = jsonencode([{ name = "a", image = "a:1" }])
    }
    """
    assert [s for s, _ in only(SAME, text, "m.tf")] == ["warning"]
    unknown = text.replace("= aws_iam_role.r.arn\n      container", "= var.role\n      container")
    assert only(SAME, unknown, "m.tf") == []
    properties = {"image": "a", "jobRoleArn": "arn:r", "executionRoleArn": "arn:r"}
    job = {"jobDefinitionName": "j", "type": "container", "containerProperties": properties}
    assert only(SAME, json.dumps(job)) == [("warning", "containerProperties.jobRoleArn")]


def role(statement: dict[str, Any], service: str = "ecs-tasks.amazonaws.com") -> str:
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    document = {"Statement": [{"Effect": "Allow", "Resource": "*", **statement}]}
    properties = {
        "AssumeRolePolicyDocument": {"Statement": [trust]},
        "Policies": [{"PolicyName": "p", "PolicyDocument": document}],
    }
    return json.dumps({"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": properties}}})


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ({"Action": "*"}, ["error"]),
        ({"Action": ["*:*"]}, ["error"]),
        ({"Action": "*", "Condition": {"StringEquals": {"a": "b"}}}, ["warning"]),
        ({"Action": "iam:PassRole"}, ["warning"]),
        ({"Action": ["s3:*"]}, ["warning"]),
        ({"Action": "s3:GetObject"}, []),
        ({"Action": "s3:*", "Resource": "arn:aws:s3:::b/*"}, []),
        ({"Action": "ecr:GetAuthorizationToken"}, []),
        (
            {"Action": "iam:PassRole", "Condition": {"StringEquals": {"iam:PassedToService": "e"}}},
            [],
        ),
        ({"Action": "*", "Effect": "Deny"}, []),
        ({"Action": {"Ref": "X"}}, []),
    ],
)
def test_wide_roles(statement: dict[str, Any], severity: list[str]) -> None:
    assert [s for s, _ in only(WIDE, role(statement))] == severity


def test_wide_roles_of_others_and_managed_policies() -> None:
    assert only(WIDE, role({"Action": "*"}, "lambda.amazonaws.com")) == []
    text = """
    resource "aws_iam_role" "r" {
      assume_role_policy = jsonencode({ Statement = [{
        Effect = "Allow", Principal = { Service = "ec2.amazonaws.com" }, Action = "sts:AssumeRole"
      }] })
      managed_policy_arns = ["arn:aws:iam::aws:policy/AdministratorAccess"]
    }
    resource "aws_iam_role_policy" "p" {
      role   = aws_iam_role.r.id
      policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "*", Resource = "*" }] })
    }
    """
    assert [s for s, _ in only(WIDE, text, "m.tf")] == ["error", "error"]
    good = text.replace("AdministratorAccess", "X").replace('Action = "*"', 'Action = "s3:Get*"')
    assert only(WIDE, good, "m.tf") == []


def trusted(**members: Any) -> list[str]:
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", **members}
    properties = {"AssumeRolePolicyDocument": {"Statement": [statement]}}
    text = json.dumps({"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": properties}}})
    return [severity for severity, _ in only(TRUST, text)]


def test_trust() -> None:
    task_service = {"Service": "ecs-tasks.amazonaws.com"}
    condition = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
    assert trusted(Principal="*") == ["error"]
    assert trusted(Principal={"AWS": "*"}) == ["error"]
    assert trusted(Principal={"AWS": ["*"]}) == ["error"]
    assert (
        trusted(Principal={"AWS": "*"}, Condition={"StringEquals": {"aws:PrincipalOrgID": "o"}})
        == []
    )
    assert trusted(Principal=task_service) == ["info"]
    assert trusted(Principal=task_service, Condition=condition) == []
    assert trusted(Principal={"Service": "ec2.amazonaws.com"}) == []
    assert trusted(Principal={"Service": {"Ref": "S"}}) == []
