"""The JSON Schema of a job file, so that editors complete and check it."""

from __future__ import annotations

from typing import Any

from phalanx.spec.job import JobSpec

SCHEMA_FILE = "train.schema.json"
"""Name of the shipped schema, in `phalanx/schemas`."""


def job_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of kind `train`; `scripts/schemas.py` writes the shipped copy."""
    schema = _tidy(JobSpec.model_json_schema(by_alias=True))
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "phalanx job file, kind train",
    }
    return {**head, **schema}


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
