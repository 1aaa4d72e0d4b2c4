"""The shape of a job file, read off its models: which fields are where."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_origin

from phalanx.spec.fields import Part
from phalanx.spec.job import JobSpec
from phalanx.spec.places import Path


def fields_of(model: type[Part]) -> dict[str, Any]:
    """Names as the file has them → annotations, in the order of the model."""
    return {info.alias or name: info.annotation for name, info in model.model_fields.items()}


def model_at(path: Path, root: type[Part] = JobSpec) -> type[Part] | None:
    """The model of the mapping at `path` below `root`, or None when no model describes it."""
    model: type[Part] | None = root
    named = False
    for step in path:
        if isinstance(step, int) or named:
            named = False
            continue
        if model is None or step not in fields_of(model):
            return None
        annotation = fields_of(model)[step]
        named = _is_names(annotation)
        model = _model_in(annotation)
    return model


@cache
def elsewhere(root: type[Part] = JobSpec) -> dict[str, str]:
    """Last word of every nested field → its whole path, where only one field has that word."""
    found: dict[str, list[str]] = {}
    for path in _paths(root, ""):
        found.setdefault(path.rpartition(".")[2], []).append(path)
    return {word: paths[0] for word, paths in found.items() if len(paths) == 1}


def _paths(model: type[Part], above: str) -> Iterator[str]:
    for name, annotation in fields_of(model).items():
        yield f"{above}{name}"
        below = _model_in(annotation)
        if below and not _repeats(annotation):
            yield from _paths(below, f"{above}{name}.")


def _model_in(annotation: Any) -> type[Part] | None:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next(filter(None, (_model_in(arg) for arg in get_args(annotation))), None)


def _repeats(annotation: Any) -> bool:
    return get_origin(annotation) in (tuple, dict) or any(map(_repeats, get_args(annotation)))


def _is_names(annotation: Any) -> bool:
    return get_origin(annotation) is dict or any(map(_is_names, get_args(annotation)))
