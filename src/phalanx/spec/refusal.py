"""The one line about a job file whose values do not fit its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from phalanx.errors import InputError, SpecError
from phalanx.spec import suggest
from phalanx.spec.fields import Part
from phalanx.spec.job import JobSpec
from phalanx.spec.places import Document, dotted, lookup
from phalanx.spec.sets import Change, change_of
from phalanx.spec.shape import elsewhere, fields_of, model_at
from phalanx.spec.wrong import Wrong, kind_of, shown
from phalanx.words import FailureClass

_LATER = {
    "launcher": ("accelerate", "deepspeed", "mpirun", "ray", "neuron"),
}
"""Values that a later release will know."""
_WRITE = {
    "name": "write name: my-job",
    "command": "write command: [python, train.py]",
    "min": "write nodes: {min: 2, max: 4}",
    "max": "write nodes: {min: 2, max: 4}",
    "on": "write on: [HostLost]",
}
_KINDS = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def refusal(
    error: ValidationError,
    document: Document,
    value: object,
    changes: Sequence[Change] = (),
    root: type[Part] = JobSpec,
) -> InputError:
    """The first wrong thing, in the order of the file; what is missing comes last.

    `value` is the document's value with the `changes` made, `root` the model that it did not fit.
    """
    found = [
        _Finding(dict(one), document, value, changes, root)
        for one in error.errors(include_url=False, include_context=True)
    ]
    return min(found, key=lambda finding: finding.order).error()


class _Finding:
    """One complaint of the models, in plain words."""

    def __init__(
        self,
        raw: dict[str, Any],
        document: Document,
        value: object,
        changes: Sequence[Change],
        root: type[Part],
    ) -> None:
        self.document = document
        self.root = root
        self.what = "a job file" if root is JobSpec else "this file"
        self.type: str = raw["type"]
        self.context: dict[str, Any] = raw.get("ctx") or {}
        wrong = self.context.get("error")
        self.wrong = wrong if isinstance(wrong, Wrong) else None
        below = self.wrong.below if self.wrong else ()
        self.path = _real((*raw["loc"], *below), value)
        self.value = lookup(value, self.path)
        self.change = change_of(self.path, changes, document)
        names_key = self.type == "extra_forbidden" or (below and isinstance(below[-1], str))
        self.at = document.key_place(self.path) if names_key else document.place(self.path)

    @property
    def order(self) -> tuple[int, tuple[int, int]]:
        """File order; then changes from the command line; then what is missing."""
        return (2 if self.type == "missing" else 1 if self.change else 0), self.at

    def error(self) -> InputError:
        """The line, at its place in the file or at its `--set`."""
        said, hint = self._words()
        if self.change:
            return self.change.refusal(said.removeprefix(f"{dotted(self.change.path)} "), hint)
        return SpecError(said, file=self.document.file, at=self.at, hint=hint)

    def _words(self) -> tuple[str, str]:
        name = dotted(self.path) or self.what
        if self.wrong:
            hint = self.wrong.hint or self._example()
            return self.wrong.message.replace("{path}", name), hint
        if self.type == "missing":
            return f"{name} is missing", self._example()
        if self.type == "extra_forbidden":
            return self._unknown()
        if self.type in ("literal_error", "enum"):
            return self._choice(name)
        if self.type in _BOUNDS:
            key, bound = _BOUNDS[self.type]
            limit = self.context[key]
            limit = int(limit) if limit == int(limit) else limit
            return f"{name} must be {bound} {limit}, not {shown(self.value)}", ""
        if self.type in _KINDS:
            return f"{name} must be {_KINDS[self.type]}, not {self._is()}", self._fields()
        return f"{name} does not fit", ""

    def _example(self) -> str:
        if not self.path:
            return ""
        if self.path[0] == "notify" and self.path[-1] == "on":
            return "write on: [failed]"
        return _WRITE.get(str(self.path[-1]), "")

    def _is(self) -> str:
        plain = isinstance(self.value, (bool, int, float)) or (
            isinstance(self.value, str) and self.path[0] not in ("env", "secrets", "notify")
        )
        return shown(self.value) if plain else kind_of(self.value)

    def _fields(self) -> str:
        if not self.type.startswith("model"):
            return ""
        model = model_at(self.path, self.root)
        return f"its fields are {', '.join(fields_of(model))}" if model else ""

    def _unknown(self) -> tuple[str, str]:
        model = model_at(self.path[:-1], self.root)
        here = list(fields_of(model)) if model else []
        name = str(self.path[-1])
        owner = dotted(self.path[:-1]) or self.what
        meant = self._meant(name, here)
        if not meant and name.startswith(("x-", ".")):
            return (
                f"{owner} has no field {shown(name)}",
                "put an anchor (&name) on the field that uses the value first",
            )
        hint = f"did you mean {meant}?" if meant else f"its fields are {', '.join(here)}"
        return f"{owner} has no field {shown(name)}", hint

    def _meant(self, name: str, here: list[str]) -> str | None:
        paths = elsewhere(self.root)
        if self.root is JobSpec:
            return suggest.field(name, here, paths)
        return paths.get(name.lower()) or suggest.near(name, here)

    def _choice(self, name: str) -> tuple[str, str]:
        known = [item.value for item in FailureClass] if self.type == "enum" else self._expected()
        if not isinstance(self.value, str):
            return f"{name} must be one of {', '.join(known)}, not {self._is()}", ""
        if self.value in _LATER.get(str(self.path[-1]), ()):
            said = f"{name} {shown(self.value)} comes with a later release"
            return said, f"this release knows {', '.join(known)}"
        if self.type == "enum":
            meant = suggest.failure_class(self.value, known)
            said = f"{name}: {shown(self.value)} is not a failure class"
        else:
            meant = suggest.near(self.value, known)
            said = f"{name} cannot be {shown(self.value)}"
        return said, f"did you mean {meant}?" if meant else f"one of {', '.join(known)}"

    def _expected(self) -> list[str]:
        words = str(self.context.get("expected", "")).replace(" or ", ", ").split(", ")
        return [word.strip("'") for word in words]


def _real(path: tuple[str | int, ...], value: object) -> tuple[str | int, ...]:
    """The path without members that a shorthand value (`nodes: 4`) stands for."""
    for depth, step in enumerate(path):
        if not isinstance(value, (dict, list)):
            return path[:depth]
        if isinstance(value, dict) and step not in value:
            return path
        value = lookup(value, (step,))
    return path
