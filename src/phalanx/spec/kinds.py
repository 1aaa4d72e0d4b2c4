"""Recognises files of other tools, so that the answer names what the file is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

KINDS = ("train", "serve", "pipeline", "sweep", "box")
"""Every kind of job file, now or later."""
RUNS = ("train",)
"""Kinds that this release runs."""

_Members = Mapping[str, object]
_BY_MEMBERS: tuple[tuple[str, Callable[[_Members], bool]], ...] = (
    (
        "a CloudFormation template",
        lambda v: "AWSTemplateFormatVersion" in v or _has_aws_resources(v.get("Resources")),
    ),
    (
        "an ECS task definition",
        lambda v: (
            "containerDefinitions" in v
            or (
                isinstance(v.get("taskDefinition"), dict)
                and "family" in _mapping(v, "taskDefinition")
            )
        ),
    ),
    ("a Batch job definition", lambda v: "jobDefinitionName" in v or "containerProperties" in v),
    (
        "an input of RunTask or CreateService",
        lambda v: (
            "taskDefinition" in v and bool(v.keys() & {"cluster", "launchType", "serviceName"})
        ),
    ),
    ("an event of EventBridge", lambda v: "detail-type" in v and "detail" in v),
    (
        "a Terraform plan or state",
        lambda v: "terraform_version" in v or {"format_version", "planned_values"} <= v.keys(),
    ),
    ("a Terraform file", lambda v: "terraform" in v or {"resource", "provider"} <= v.keys()),
    ("a Kubernetes manifest", lambda v: "apiVersion" in v and "kind" in v),
    ("a Compose file", lambda v: isinstance(v.get("services"), dict)),
)
_OURS = re.compile(rf"^[\"']?kind[\"']?:\s*[\"']?(?:{'|'.join(KINDS)})\b", re.M)
_BY_TEXT = (
    (
        "a Terraform file",
        re.compile(
            r'^(?:(?:resource|data)\s+"\w+"\s+"[\w-]+"|(?:module|variable|provider|output)\s+'
            r'"[\w-]+"|terraform|locals)\s*\{',
            re.M,
        ),
    ),
    ("a CloudFormation template", re.compile(r"^\s*[\"']?AWSTemplateFormatVersion\b", re.M)),
    (
        "a CloudFormation template",
        re.compile(r"^Resources:\s*$.*^\s+Type:\s*[\"']?AWS::", re.M | re.S),
    ),
    ("a Kubernetes manifest", re.compile(r"^apiVersion:.*^kind:", re.M | re.S)),
    ("a Python script", re.compile(r"^(?:import \w+|from [\w.]+ import )", re.M)),
    ("a shell script", re.compile(r"\A#!.*sh\b")),
)


def foreign(value: object) -> str | None:
    """What a file of another tool is, by its members; None for a job file or anything unknown."""
    if not isinstance(value, dict) or value.get("kind") in KINDS:
        return None
    return next((what for what, fits in _BY_MEMBERS if fits(value)), None)


def foreign_text(text: str) -> str | None:
    """What a file of another tool is, by its text, when it cannot be read as a job file."""
    start = text[:20_000]
    if _OURS.search(start):
        return None
    return next((what for what, pattern in _BY_TEXT if pattern.search(start)), None)


def _mapping(value: _Members, name: str) -> _Members:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _has_aws_resources(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    types = (item.get("Type") for item in value.values() if isinstance(item, dict))
    return any(isinstance(kind, str) and kind.startswith("AWS::") for kind in types)
