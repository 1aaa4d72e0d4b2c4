"""The JSON Schemas of our files, so that editors complete and check them."""

from __future__ import annotations

from typing import Any

from phalanx.spec.fields import Part
from phalanx.spec.job import JobSpec
from phalanx.spec.workload import WorkloadSpec

SCHEMA_FILE = "train.schema.json"
"""Name of the shipped schema, in `phalanx/schemas`."""
WORKLOAD_SCHEMA_FILE = "workload.schema.json"
"""Name of the shipped schema of a workload file."""


def job_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of kind `train`; `scripts/schemas.py` writes the shipped copy."""
    return _schema(JobSpec, "phalanx job file, kind train")


def workload_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of kind `workload`; `scripts/schemas.py` writes the shipped copy."""
    return _schema(WorkloadSpec, "phalanx workload file")


def _schema(model: type[Part], title: str) -> dict[str, Any]:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **_tidy(model.model_json_schema(by_alias=True))}


def _tidy(node: Any, names: bool = False) -> Any:
    """Without generated titles and null defaults; `names` tells field names from keywords."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _tidy(item, names=not names and key in ("properties", "$defs"))
        for key, item in node.items()
        if names or not (key == "title" or (key == "default" and item is None))
    }
    return _without_lines(kept) if not names else kept


def _without_lines(node: dict[str, Any]) -> dict[str, Any]:
    if isinstance(node.get("description"), str):
        node["description"] = " ".join(node["description"].split())
    return node
