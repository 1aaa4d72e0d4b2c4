"""From a workload file to its checked spec, or one line that says what is wrong."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from phalanx.spec.load import read_document
from phalanx.spec.places import Document
from phalanx.spec.refusal import refusal
from phalanx.spec.workload import WorkloadSpec


def load_workload(source: Path | str | bytes, file: str | None = None) -> WorkloadSpec:
    """Reads a workload file from a path, or from its text. Raises as `load` does."""
    return check_workload(read_document(source, file))


def check_workload(document: Document) -> WorkloadSpec:
    """The workload of a document. Raises `SpecError`."""
    try:
        return WorkloadSpec.model_validate(document.value)
    except ValidationError as error:
        raise refusal(error, document, document.value, (), WorkloadSpec) from None
