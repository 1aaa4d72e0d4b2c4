"""Inputs of API calls as JSON (or YAML): task definitions, job definitions, services, RunTask."""

from __future__ import annotations

from typing import Any

from phalanx.errors import SpecError
from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.entity import Entity
from phalanx.lint.launch import Service
from phalanx.lint.place import Path, Place, Span, spell
from phalanx.lint.readers.build import job_definition, run_task, task_definition
from phalanx.lint.readers.origin import DocumentOrigin
from phalanx.spec.places import Document


def read_api(document: Document) -> list[Entity] | None:
    """The entities of an API input; None when the document is none.

    Raises `SpecError` for containers that are none.
    """
    value = document.value
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return _listed(document, value)
    if not isinstance(value, dict):
        return None
    for wrapper in ("taskDefinition", "service", "capacityProvider"):
        inner = value.get(wrapper)
        if isinstance(inner, dict):
            return _one(document, inner, (wrapper,))
    return _one(document, value, ())


def _listed(document: Document, value: list[dict[str, Any]]) -> list[Entity] | None:
    """A list of containers alone, or of whole inputs."""
    if all("image" in item and "name" in item for item in value):
        return _containers(document, value)
    found = [_one(document, item, (n,)) for n, item in enumerate(value)]
    return None if None in found else [e for part in found for e in part or ()]


class _ListOrigin(DocumentOrigin):
    """A file that holds the list of containers alone."""

    def locate(self, path: Path) -> Place:
        """The place of a member; a missing one is where it belongs."""
        return super().locate(path[1:] if path[:1] == ("containerDefinitions",) else ())

    def span(self, path: Path) -> Span | None:
        """Where a scalar is written."""
        return super().span(path[1:])


def _containers(document: Document, value: list[Any]) -> list[Entity]:
    data = {"containerDefinitions": value}
    return task_definition(data, _ListOrigin(document, ()), scope=(document.file, 0))


def _one(document: Document, data: dict[str, Any], base: Path) -> list[Entity] | None:
    origin = DocumentOrigin(document, base)
    scope = (document.file, 0)
    if "containerDefinitions" in data:
        _refuse_no_containers(document, data["containerDefinitions"], base)
        return task_definition(data, origin, scope=scope)
    if any(isinstance(data.get(key), dict) for key in _JOB):
        return job_definition(data, origin, scope=scope)
    if "taskDefinition" in data and "serviceName" in data:
        return [Service(data, origin, scope=scope)]
    if isinstance(data.get("taskDefinition"), str):
        return run_task(data, origin, scope=scope)
    if "autoScalingGroupProvider" in data or "managedInstancesProvider" in data:
        return [CapacityProvider(data, origin, scope=scope)]
    return None


def _refuse_no_containers(document: Document, held: object, base: Path) -> None:
    path: Path = (*base, "containerDefinitions")
    if isinstance(held, list):
        wrong = next((n for n, item in enumerate(held) if not isinstance(item, dict)), None)
        if wrong is None:
            return
        path = (*path, wrong)
    expected = "a list of containers" if not isinstance(held, list) else "a container"
    raise SpecError(
        f"{spell(path)} is not {expected}",
        file=document.file,
        at=document.place(path),
        hint='write [{"name": "main", "image": "..."}]',
    )


_JOB = ("containerProperties", "nodeProperties", "ecsProperties")
