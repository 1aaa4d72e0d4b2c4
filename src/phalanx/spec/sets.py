"""`--set path=value`: changes to a job file from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from phalanx.errors import InputError, SpecError
from phalanx.spec.located import read
from phalanx.spec.places import Document, Path, dotted
from phalanx.spec.wrong import kind_of, shown

_PATH = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\[[0-9]{1,6}\])*", re.A)
_STEP = re.compile(r"([A-Za-z_][\w-]*)|\[([0-9]+)\]", re.A)
_AS_TYPED = frozenset({"env", "command"})
"""Fields of text, where `1.10` must stay `1.10`."""


@dataclass(frozen=True)
class Change:
    """One value put into the file's values."""

    path: tuple[str | int, ...]
    value: object

    def refusal(self, said: str, hint: str = "") -> InputError:
        """The line that names this `--set`."""
        return InputError(f"--set {dotted(self.path)}: {said}", hint=hint)


def parse(text: str) -> Change:
    """`resources.cpus=2` as a change. Raises `InputError`."""
    name, equals, raw = text.partition("=")
    path = _path(name.strip())
    if not path or not equals:
        raise InputError(f"--set {shown(name)}: is not path=value", hint="write resources.cpus=2")
    change = Change(path, raw)
    if path[0] in _AS_TYPED and len(path) == 2 and raw[:1] not in ("'", '"'):
        return change
    if not raw.strip():
        return Change(path, None)
    try:
        return Change(path, read(raw, "value.yaml").value)
    except SpecError as error:
        said = error.message
        said = f"the value {said}" if said.startswith(("is ", "holds ")) else said
        raise change.refusal(said, error.hint) from None


def _path(text: str) -> tuple[str | int, ...]:
    if not _PATH.fullmatch(text):
        return ()
    return tuple(int(index) if index else name for name, index in _STEP.findall(text))


def apply(value: object, changes: Sequence[Change]) -> object:
    """The values with every change made, in order; `value` stays as it was. Raises `InputError`."""
    for change in changes:
        value = _put(value, change, 0)
    return value


def change_of(path: Path, changes: Sequence[Change], document: Document) -> Change | None:
    """The change that gave the value at `path`; None when the file did, or nobody."""
    known = len(document.known(path))
    for change in reversed(changes):
        common = 0
        for ours, theirs in zip(change.path, path, strict=False):
            if ours != theirs:
                break
            common += 1
        if common == len(change.path) or common > known:
            return change
    return None


def _put(value: object, change: Change, depth: int) -> object:
    if depth == len(change.path):
        return change.value
    step = change.path[depth]
    owner = dotted(change.path[:depth]) or "the file"
    if isinstance(step, int):
        value = [] if value is None else value
        if not isinstance(value, list):
            raise change.refusal(f"{owner} is {kind_of(value)}, not a list")
        if step > len(value):
            said = f"{owner} has {len(value)} items"
            raise change.refusal(said, f"the next new one is [{len(value)}]")
        below = value[step] if step < len(value) else None
        return [*value[:step], _put(below, change, depth + 1), *value[step + 1 :]]
    if value is not None and not isinstance(value, dict):
        raise change.refusal(f"{owner} is {kind_of(value)}, not a mapping")
    members = value or {}
    return {**members, step: _put(members.get(step), change, depth + 1)}
