from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from phalanx.spec.job import JobSpec
from phalanx.spec.schema import SCHEMA_FILE, job_schema
from phalanx.spec.shape import elsewhere, fields_of, model_at


def test_the_shipped_schema_is_the_generated_one() -> None:
    shipped = json.loads(files("phalanx").joinpath("schemas", SCHEMA_FILE).read_text("utf-8"))
    assert shipped == job_schema(), "run: python scripts/schemas.py"


def models() -> list[tuple[str, dict[str, Any]]]:
    schema = job_schema()
    return [("job", schema), *((k, v) for k, v in schema["$defs"].items() if "properties" in v)]


@pytest.mark.parametrize(("name", "model"), models(), ids=[name for name, _ in models()])
def test_every_field_is_described_and_none_unknown_allowed(
    name: str, model: dict[str, Any]
) -> None:
    assert model["additionalProperties"] is False
    for field, schema in model["properties"].items():
        described = schema.get("description", "")
        assert described.endswith("."), f"{name}.{field}"


def test_the_schema_has_the_fields_of_the_models() -> None:
    schema = job_schema()
    assert list(schema["properties"]) == list(fields_of(JobSpec))
    assert set(schema["required"]) == {"kind", "name", "command"}
    assert "after" in schema["$defs"]["Hang"]["properties"]
    assert "OutOfMemory" in schema["$defs"]["FailureClass"]["enum"]


def test_shape() -> None:
    assert model_at(()) is JobSpec
    assert "grace" in fields_of(model_at(("stop",)) or JobSpec)
    assert "do" in fields_of(model_at(("restart", 3)) or JobSpec)
    assert "ssm" in fields_of(model_at(("secrets", "TOKEN")) or JobSpec)
    assert model_at(("name", "x")) is None
    assert elsewhere()["grace"] == "stop.grace"
    assert "limit" not in elsewhere()
