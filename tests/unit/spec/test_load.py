from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx.errors import InputError, SpecError
from phalanx.spec.load import load

START = "(a job file starts with kind: train; phalanx init writes one)"


def test_yaml_and_json_give_the_same_spec(tmp_path: Path) -> None:
    value = {"kind": "train", "name": "a", "command": ["x", "1"], "nodes": 2, "env": {"A": "b"}}
    as_json, as_yaml = tmp_path / "job.json", tmp_path / "job.yml"
    as_json.write_text(json.dumps(value))
    as_yaml.write_text("kind: train\nname: a\ncommand: [x, 1]\nnodes: 2\nenv: {A: b}\n")
    assert load(as_json).spec == load(as_yaml).spec
    assert load(as_json).document.file == str(as_json)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path / "no.yaml", "no.yaml")
    assert caught.value.line() == "no.yaml: no such file (phalanx init writes a job file)"
    with pytest.raises(InputError) as caught:
        load(tmp_path, "here")
    assert caught.value.line() == "here: is a folder (name the job file in it)"
    with pytest.raises(InputError) as caught:
        load(Path("a\0b"), "odd")
    assert caught.value.line() == "odd: cannot be read: not a path"


@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        ("t.json", '{"family": "x", "containerDefinitions": []}', "an ECS task definition"),
        ("t.json", '{"taskDefinition": {"family": "x"}}', "an ECS task definition"),
        (
            "t.json",
            '{"taskDefinition": "x:1", "cluster": "c", "count": 2}',
            "an input of RunTask or CreateService",
        ),
        ("t.json", '{"jobDefinitionName": "x", "type": "multinode"}', "a Batch job definition"),
        ("t.yaml", "AWSTemplateFormatVersion: 2010-09-09\n", "a CloudFormation template"),
        (
            "t.yaml",
            "Resources:\n  A:\n    Type: AWS::ECS::Cluster\n    P: !Ref B\n",
            "a CloudFormation template",
        ),
        ("t.yaml", "Resources: {A: {Type: 'AWS::ECS::Cluster'}}\n", "a CloudFormation template"),
        ("main.tf", 'resource "aws_ecs_cluster" "a" {\n  name = "x"\n}\n', "a Terraform file"),
        ("main.tf.json", '{"terraform": {}, "resource": {}}', "a Terraform file"),
        ("p.json", '{"format_version": "1.2", "planned_values": {}}', "a Terraform plan or state"),
        ("k.yaml", "apiVersion: v1\nkind: Pod\n", "a Kubernetes manifest"),
        ("k.yaml", "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\n", "a Kubernetes manifest"),
        ("c.yaml", "services: {web: {image: x}}\n", "a Compose file"),
        (
            "e.json",
            '{"detail-type": "ECS Task State Change", "detail": {}}',
            "an event of EventBridge",
        ),
        ("train.py", "import torch\nx = 1\n", "a Python script"),
        ("go.sh", "#!/bin/bash\npython train.py\n", "a shell script"),
    ],
)
def test_a_file_of_another_tool_is_named(file: str, text: str, what: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(text, file)
    assert caught.value.line() == f"{file}: this is {what}, not a job file of phalanx {START}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "job.yaml: is empty"),
        ("null\n", f"job.yaml: is empty {START}"),
        ("[]", f"job.yaml:1:1: a job file is a mapping of fields, not a list {START}"),
        ("hello", f"job.yaml:1:1: a job file is a mapping of fields, not text {START}"),
        ("name: a\n", "job.yaml:1:1: kind is missing (start the file with kind: train)"),
        (
            "name: a\nkind: pipeline\n",
            "job.yaml:2:7: kind pipeline comes with a later release (this release runs kind train)",
        ),
        ("kind: trian\n", "job.yaml:1:7: kind cannot be 'trian' (did you mean train?)"),
        ("kind: [a]\n", "job.yaml:1:7: kind cannot be a list (this release runs kind train)"),
    ],
)
def test_no_job_file(text: str, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(text)
    assert caught.value.line() == line


def test_a_broken_job_file_is_not_taken_for_something_else() -> None:
    text = "kind: train\nname: a\ncommand: [python, -c, '\nimport torch\n"
    with pytest.raises(SpecError, match="a quoted text has no closing quote"):
        load(text)


def test_the_spec_is_frozen() -> None:
    spec = load("kind: train\nname: a\ncommand: [x]\n").spec
    with pytest.raises(ValueError, match="frozen"):
        spec.name = "b"
