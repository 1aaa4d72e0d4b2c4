"""Texts of other kinds than task definitions, for tests of rules."""

from __future__ import annotations

import json
from typing import Any


def stack(**resources: tuple[str, dict[str, Any]]) -> str:
    """A CloudFormation template from logical id = (type, properties)."""
    held = {k: {"Type": kind, "Properties": inner} for k, (kind, inner) in resources.items()}
    return json.dumps({"Resources": held})


def job(container: dict[str, Any], **members: Any) -> str:
    """A Batch job definition of one container."""
    return json.dumps(
        {"jobDefinitionName": "j", "type": "container", "containerProperties": container, **members}
    )


def pin(kind: str) -> dict[str, Any]:
    """Placement constraints that allow one type, or a pattern of types."""
    sign = "=~" if "*" in kind else "=="
    expression = f"attribute:ecs.instance-type {sign} {kind}"
    return {"placementConstraints": [{"type": "memberOf", "expression": expression}]}


def devices(*paths: str) -> dict[str, Any]:
    """The member `linuxParameters` with host devices."""
    return {"linuxParameters": {"devices": [{"hostPath": path} for path in paths]}}


def gpu(value: str = "1", **members: Any) -> dict[str, Any]:
    """The member `resourceRequirements` with one GPU requirement."""
    return {"resourceRequirements": [{"type": "GPU", "value": value, **members}]}


def template(**data: Any) -> str:
    """A CloudFormation template with one launch template."""
    return stack(T=("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": data}))


DATA = "Resources.T.Properties.LaunchTemplateData"
"""Where the members of `template` stand."""
