"""From a job file to its checked spec, or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from phalanx.errors import InputError, PhalanxError, SpecError
from phalanx.spec.exposed import Exposed, exposed
from phalanx.spec.job import JobSpec
from phalanx.spec.kinds import KINDS, RUNS, foreign, foreign_text
from phalanx.spec.located import decode, read
from phalanx.spec.places import BYTES_MAX, Document, dotted
from phalanx.spec.refusal import refusal
from phalanx.spec.sets import Change, apply, change_of, parse
from phalanx.spec.suggest import near
from phalanx.spec.wrong import kind_of, shown

_START = "a job file starts with kind: train; phalanx init writes one"


@dataclass(frozen=True)
class LoadedSpec:
    """A checked job file; `document` is the file as it was read, without changes by `--set`."""

    spec: JobSpec
    document: Document
    changes: tuple[Change, ...] = ()

    def wrong(self, error: PhalanxError, *fields: tuple[str | int, ...]) -> InputError:
        """`error`, found when a value was looked up, at the place of the first of `fields`.

        One that a `--set` gave is told with that option and goes first.
        """
        for path in fields:
            change = change_of(path, self.changes, self.document)
            if change:
                said = error.message
                for end in range(len(path), 0, -1):
                    name = dotted(path[:end])
                    said = said.removeprefix(f"{name}: ").removeprefix(f"{name} ")
                return change.refusal(said, error.hint)
        at = self.document.place(fields[0])
        return SpecError(error.message, file=self.document.file, at=at, hint=error.hint)


def load(
    source: Path | str | bytes, file: str | None = None, sets: Sequence[str] = ()
) -> LoadedSpec:
    """Reads a job file from a path, or from its text.

    `file` names it in messages and tells JSON (`.json`) from YAML. `sets` are the words of
    `--set`, `path=value`. Raises `SpecError` for what is wrong in the file and `InputError` for
    a file that cannot be read or a wrong `--set`.
    """
    return check(read_document(source, file), sets)


def read_document(source: Path | str | bytes, file: str | None = None) -> Document:
    """The mapping in a file of ours, before its fields are checked.

    Raises `SpecError` for what is wrong in the file, or for a file of another tool, and
    `InputError` for one that cannot be read.
    """
    name = file or (str(source) if isinstance(source, Path) else "job.yaml")
    raw = _bytes(source, name) if isinstance(source, Path) else source
    return _document(raw, name)


def check(document: Document, sets: Sequence[str] = ()) -> LoadedSpec:
    """The job spec of a document. Raises as `load` does."""
    changes = [parse(text) for text in sets]
    value = apply(document.value, changes)
    _check_kind(value, document, changes)
    try:
        spec = JobSpec.model_validate(value)
    except ValidationError as error:
        raise refusal(error, document, value, changes) from None
    found = exposed(value)
    if found is not None:
        raise _exposed(found, document, changes)
    return LoadedSpec(spec, document, tuple(changes))


def _exposed(found: Exposed, document: Document, changes: Sequence[Change]) -> InputError:
    said = f"is {found.what}, and would stand in the job's record"
    hint = f"write secrets: {{{found.name}: {{env: {found.name}}}}} and read that variable"
    for change in changes:
        if found.path[: len(change.path)] == change.path:
            return change.refusal(f"the value {said}", hint)
    at = document.place(found.path)
    return SpecError(f"{dotted(found.path)} {said}", file=document.file, at=at, hint=hint)


def _bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(BYTES_MAX + 1)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file", hint="phalanx init writes a job file") from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a folder", hint="name the job file in it") from None
    except (OSError, ValueError) as error:
        because = getattr(error, "strerror", None) or "not a path"
        raise InputError(f"{name}: cannot be read: {because}") from None


def _document(raw: str | bytes, name: str) -> Document:
    text = decode(raw, name)
    if name.endswith((".tf", ".py", ".sh")):
        _refuse_foreign(foreign_text(text), name)
    try:
        document = read(text, name)
    except SpecError:
        _refuse_foreign(foreign_text(text), name)
        raise
    if not isinstance(document.value, dict):
        _refuse_foreign(foreign_text(text), name)
        if document.value is None:
            raise SpecError("is empty", file=name, hint=_START)
        said = f"a job file is a mapping of fields, not {kind_of(document.value)}"
        raise SpecError(said, file=name, at=document.place(), hint=_START)
    _refuse_foreign(foreign(document.value), name)
    return document


def _refuse_foreign(what: str | None, name: str) -> None:
    if what:
        raise SpecError(f"this is {what}, not a job file of phalanx", file=name, hint=_START)


def _check_kind(value: object, document: Document, changes: Sequence[Change]) -> None:
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind in RUNS:
        return
    runs = f"this release runs kind {', '.join(RUNS)}"
    if kind is None:
        said, hint = "kind is missing", "start the file with kind: train"
    elif kind == "workload":
        said, hint = "this describes a workload, not a job", "phalanx plan reads it"
    elif isinstance(kind, str) and kind in KINDS:
        said, hint = f"kind {kind} comes with a later release", runs
    else:
        meant = near(kind, RUNS) if isinstance(kind, str) else None
        said = f"kind cannot be {shown(kind)}"
        hint = f"did you mean {meant}?" if meant else runs
    for change in changes:
        if change.path[0] == "kind":
            raise change.refusal(said, hint)
    raise SpecError(said, file=document.file, at=document.place(("kind",)), hint=hint)
