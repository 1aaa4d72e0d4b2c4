"""Short ways to lint a text in a test."""

from __future__ import annotations

import json
from typing import Any

from phalanx.lint.engine import Report, lint
from phalanx.lint.source import SourceFile

Triple = tuple[str, str, str]
"""(slug, severity, where)."""


def report(*files: tuple[str, str]) -> Report:
    """The report of files given as (name, text)."""
    return lint([SourceFile(name, text) for name, text in files])


def found(text: str, name: str = "t.json") -> list[Triple]:
    """Every finding of one file."""
    return [(f.slug, f.severity.value, f.where) for f in report((name, text)).findings]


def only(slug: str, text: str, name: str = "t.json") -> list[tuple[str, str]]:
    """(severity, where) of the findings of one slug."""
    return [(severity, where) for s, severity, where in found(text, name) if s == slug]


def task(container: dict[str, Any] | None = None, **members: Any) -> str:
    """A task definition with one GPU container, as JSON."""
    one = {
        "name": "main",
        "image": "example/image:1",
        "memory": 8000,
        "resourceRequirements": [{"type": "GPU", "value": "1"}],
        **(container or {}),
    }
    whole = {"family": "t", "requiresCompatibilities": ["EC2"], "containerDefinitions": [one]}
    return json.dumps({**whole, **members})


def environment(**variables: str) -> dict[str, Any]:
    """The `environment` member of a container."""
    return {"environment": [{"name": k, "value": v} for k, v in variables.items()]}
