"""Secrets in commands and user data."""

from __future__ import annotations

import re

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_TOKEN = Pattern(
    r"\bhf_[A-Za-z0-9]{16,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}"
    r"|\bsk-[A-Za-z0-9_-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\bnvapi-[A-Za-z0-9_-]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
)
_ASSIGNED = Pattern(
    r"\b(?:AWS_SECRET_ACCESS_KEY|aws_secret_access_key|HF_TOKEN|HUGGING_FACE_HUB_TOKEN|"
    r"WANDB_API_KEY|OPENAI_API_KEY|NGC_API_KEY)\s*(?:=|\s)\s*[\"']?([A-Za-z0-9/+_-]{16,})"
)
_FLAG = Pattern(
    r"--(?:api[-_]key|token|hf[-_]token|password|access[-_]token)[=\s]+[\"']?"
    r"(?=\S*\d)([A-Za-z0-9+_.-]{12,})(?![/\w])"
)
_FAKE = Pattern(r"example|your|changeme|dummy|placeholder|xxxx|\.\.\.|/secrets?/|^/", re.I)


@rule(
    id="SEC003",
    slug="secret-in-command-or-user-data",
    severity="error",
    areas=("security",),
    on=Entity,
    message="A secret stands in a command or in user data",
    why="Commands are part of the task definition and of every process list; user data is readable "
    "on the host by every container that reaches the instance metadata.",
    fix="Keep it in Secrets Manager or SSM and hand it over through `secrets`, or read it with the "
    "role at start; then rotate it: old revisions keep it.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/specifying-sensitive-data.html",
            "2026-07-10",
        ),
    ),
    guards=("SB1", "SB2"),
    facts=("SCY-01", "SCY-09"),
)
def secret_in_command_or_user_data(entity: Entity, world: World) -> Found:
    """By the shape of a token, or by a flag or assignment with a literal. Never shows the value."""
    if isinstance(entity, Container):
        text, node, path = entity.command.text, entity.command.node, ""
    elif isinstance(entity, LaunchTemplate) and entity.user_data is not None:
        text, node, path = entity.user_data.text, entity, "userData"
    else:
        return
    if not text or ("_" not in text and "-" not in text and "A" not in text):
        return
    where = "user data" if path else "the command"
    if _TOKEN.search(text):
        yield Hit(node, path, f"A token stands in {where}")
        return
    match = _ASSIGNED.search(text) or _FLAG.search(text)
    if match and not _FAKE.search(match[1]):
        yield Hit(node, path, f"A secret stands in {where}")
