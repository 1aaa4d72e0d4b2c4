"""Tells the kinds of files apart and reads them into one list of entities."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx.errors import InputError, SpecError
from phalanx.frozen import frozen
from phalanx.lint.entity import Entity
from phalanx.lint.readers.api import read_api
from phalanx.lint.source import SourceFile
from phalanx.spec.located import read
from phalanx.spec.places import Document

EVIDENCE = (
    "tasks",
    "containerInstances",
    "events",
    "Activities",
    "deliveries",
    "jobs",
    "objects",
    "entries",
    "plan",
    "incident",
    "expected_runtime_hours",
    "requirements",
)


@frozen
class Skipped:
    """A file below a searched folder that lint does not read."""

    file: str
    because: str


def read_world(
    files: Sequence[SourceFile],
) -> tuple[list[Entity], list[Skipped], dict[str, str]]:
    """Entities of all files, the files that were left out, and the texts that were read.

    Raises `InputError` for a file that the user named and that lint cannot read.
    """
    entities: list[Entity] = []
    skipped: list[Skipped] = []
    texts: dict[str, str] = {}
    for file in files:
        if file.data_only or file.name.endswith((".tf", ".tfvars", ".tpl", ".tftpl")):
            continue
        try:
            entities += _read_one(file)
            texts[file.name] = file.text
        except InputError as error:
            if file.named:
                raise
            skipped.append(Skipped(file.name, error.line()))
    if any(file.name.endswith(".tf") for file in files):
        from phalanx.lint.readers.terraform import read_terraform

        more, out, read_texts = read_terraform(files)
        entities += more
        skipped += [Skipped(name, because) for name, because in out]
        texts.update(read_texts)
    return entities, skipped, texts


def _read_one(file: SourceFile) -> list[Entity]:
    if not file.name.endswith((".json", ".yaml", ".yml", ".template")):
        raise InputError(
            f"{file.name}: lint does not read this kind of file",
            hint="it reads .json, .yaml, .yml, .template and .tf",
        )
    if file.name.endswith(".json") or not _needs_tags(file.text):
        document = read(file.text, file.name)
    else:
        from phalanx.lint.readers.cfn_eval import tag_meaning

        document = read(file.text, file.name, tag_meaning)
    found = _entities(document)
    if isinstance(document.value, list) and not file.named:
        found = None  # a list of containers below a folder is read through what refers to it
    if found is None:
        raise _refusal(document)
    return found


def _needs_tags(text: str) -> bool:
    return "!" in text


def _entities(document: Document) -> list[Entity] | None:
    value = document.value
    found = read_api(document)
    if found is not None or not isinstance(value, dict):
        return found
    if "planned_values" in value:
        from phalanx.lint.readers.plan import read_plan

        return read_plan(document)
    if "Resources" in value:
        from phalanx.lint.readers.cfn import is_template, read_template

        return read_template(document) if is_template(value) else None
    if isinstance(value.get("services"), dict):
        from phalanx.lint.readers.compose import read_compose

        return read_compose(document)
    if value.get("kind") in ("train", "serve", "pipeline"):
        from phalanx.lint.readers.jobfile import read_job

        return read_job(document)
    return None


def _refusal(document: Document) -> InputError:
    value = document.value
    keys = value if isinstance(value, dict) else {}
    if any(key in keys for key in EVIDENCE):
        return SpecError(
            "is evidence of what happened, not a plan of what should run",
            file=document.file,
            hint=f"phalanx explain {document.file}",
        )
    return SpecError(
        "is none of the kinds that lint reads",
        file=document.file,
        hint="task and job definitions, RunTask and CreateService inputs, CloudFormation, "
        "Terraform files and plans, compose files, job files",
    )
