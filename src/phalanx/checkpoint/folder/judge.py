"""Is a checkpoint complete? What its own structure proves, and what only its writer knows.

A kind *proves* itself when its writer leaves a mark at the very end: the directory of an archive,
`trainer_state.json`, `.metadata`. Where nothing does (several files that go together) structure
can only say that it is torn; the rest is judged by how the writer went on, in `watcher`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence

from phalanx.checkpoint.folder import units
from phalanx.checkpoint.folder.forms import Form, form_of, may_be_model, of_file
from phalanx.checkpoint.folder.pickled import needed_files
from phalanx.checkpoint.folder.scan import Entry, entry_at
from phalanx.checkpoint.folder.units import Unit, is_of_dcp
from phalanx.frozen import frozen

_INDEX = r".*\.index\.json"
_RNG = r"rng_state_([0-9]+)\.pth"


@frozen
class Finding:
    """What structure says. `problem` is '' unless the checkpoint is unfinished."""

    problem: str = ""
    is_proven: bool = False
    """Whether structure alone proves it complete."""
    is_legible: bool = True
    """Whether every file of it tells where it ends."""


class Judge:
    """Judges checkpoints in one folder; remembers the files that it has read."""

    def __init__(self, folder: str, ranks: int | None) -> None:
        """`ranks` save together; None when nobody knows how many."""
        self._folder = folder
        self._ranks = ranks
        self._forms: dict[Entry, Form] = {}

    def judge(self, unit: Unit) -> Finding:
        """Whether it is complete. A file that changed since the look counts as torn."""
        forms = [self._form(entry) for entry in unit.entries]
        torn = [e.name for e, form in zip(unit.entries, forms, strict=True) if form is Form.TORN]
        if torn or not unit.entries:
            return Finding(f"{torn[0] if torn else unit.name} is not whole")
        is_legible = all(_is_legible(e, f) for e, f in zip(unit.entries, forms, strict=True))
        problem = self._problem_of_stores(unit)
        if problem:
            return Finding(problem)
        if unit.kind == units.HUGGINGFACE:
            return self._trainer(unit)
        if unit.kind == units.DCP:
            return _dcp(unit)
        is_one = unit.kind in (units.LIGHTNING, units.FILE)
        return Finding(is_proven=is_one and forms[0] is Form.WHOLE, is_legible=is_legible)

    def forget(self, known: Iterable[Entry]) -> None:
        """Remember only what was read of these."""
        kept = set(known)
        self._forms = {entry: form for entry, form in self._forms.items() if entry in kept}

    def _form(self, entry: Entry) -> Form:
        if entry not in self._forms:
            data = self._open(entry)
            if data is None:
                return Form.TORN
            try:
                self._forms[entry] = form_of(entry.base, of_file(data, entry.size))
            finally:
                os.close(data)
        return self._forms[entry]

    def _open(self, entry: Entry) -> int | None:
        try:
            path = os.path.join(self._folder, entry.name)
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        if entry_at(fd, entry.name) == entry:
            return fd
        os.close(fd)
        return None

    def _read(self, entry: Entry) -> bytes:
        """All bytes of a small file. Raises `ValueError` when it changed."""
        fd = self._open(entry)
        if fd is None:
            raise ValueError(f"{entry.name} has changed")
        with open(fd, "rb") as file:
            return file.read()

    def _problem_of_stores(self, unit: Unit) -> str:
        """What a DCP folder lacks: the checkpoint itself, or one inside it."""
        inside = {entry.folder for entry in unit.entries if is_of_dcp(entry)}
        for folder in sorted(inside):
            mine = {e.name.removeprefix(f"{folder}/"): e for e in _below(unit.entries, folder)}
            problem = self._problem_of_dcp(mine)
            if problem:
                return f"{folder or '.'}: {problem}"
        return ""

    def _problem_of_dcp(self, files: dict[str, Entry]) -> str:
        metadata = files.get(".metadata")
        if metadata is None:
            return ".metadata is missing, which is written last"
        try:
            needed = needed_files(self._read(metadata))
        except (ValueError, KeyError, IndexError):
            return ".metadata is cut short"
        for name, size in needed.items():
            file = files.get(name)
            if file is None or file.size < size:
                return f"{name} is missing or short"
            if file.mtime_ns > metadata.mtime_ns:
                return f"{name} is newer than .metadata, which is written last"
        return ""

    def _trainer(self, unit: Unit) -> Finding:
        """`checkpoint-N` of the Hugging Face Trainer: rank 0 writes `trainer_state.json` last."""
        mine = {e.base: e for e in unit.entries if e.folder == unit.name}
        state = mine.get("trainer_state.json")
        if state is None:
            return Finding("trainer_state.json is missing, which is written last")
        try:
            step = json.loads(self._read(state))["global_step"]
            missing = self._missing_weights(mine)
        except (ValueError, KeyError, TypeError, AttributeError):
            return Finding("trainer_state.json or an index is cut short")
        if step != unit.number:
            return Finding(f"trainer_state.json is of step {step!r}")
        late = [e.base for e in mine.values() if e.mtime_ns > state.mtime_ns and not _is_rng(e)]
        problem = missing or (f"{late[0]} is newer than trainer_state.json" if late else "")
        if not problem and not any(may_be_model(e.name) and not _is_rng(e) for e in unit.entries):
            problem = "it holds no weights"
        return Finding(problem) if problem else self._random_states(mine)

    def _missing_weights(self, files: dict[str, Entry]) -> str:
        for name, entry in files.items():
            if not re.fullmatch(_INDEX, name):
                continue
            missing = set(json.loads(self._read(entry))["weight_map"].values()) - set(files)
            if missing:
                return f"{min(missing)} is missing, which {name} names"
        if "optimizer.pt" in files and "scheduler.pt" not in files:
            return "scheduler.pt is missing"
        return ""

    def _random_states(self, files: dict[str, Entry]) -> Finding:
        """Every rank keeps its own; the last of them may come after rank 0 has finished."""
        found = {int(m[1]) for name in files if (m := re.fullmatch(_RNG, name))}
        is_resumable = bool(found) or "optimizer.pt" in files
        if not is_resumable or "rng_state.pth" in files:
            return Finding(is_proven=True)
        if self._ranks is None:
            return Finding("" if found else "rng_state is missing", is_proven=False)
        missing = set(range(self._ranks)) - found
        if missing:
            return Finding(f"rng_state of rank {min(missing)} is missing")
        return Finding(is_proven=True)


def _dcp(unit: Unit) -> Finding:
    """Beside `.metadata` Lightning keeps `meta.pt`, which it writes after it."""
    bases = {entry.base for entry in unit.entries}
    if unit.name.endswith(".ckpt") and "meta.pt" not in bases:
        return Finding("meta.pt is missing, which is written last")
    extra = [e for e in unit.entries if not is_of_dcp(e) and e.base != "meta.pt"]
    return Finding(is_proven=not extra and not _may_be_next(unit))


def _may_be_next(unit: Unit) -> bool:
    """Whether a file of a checkpoint that is overwritten in place may be of the next save.

    It has the very time of `.metadata`: a clock's step can hold the end of one save and the
    beginning of the next.
    """
    last = {entry.folder: entry.mtime_ns for entry in unit.entries if entry.base == ".metadata"}
    return unit.number is None and any(
        entry.mtime_ns == last.get(entry.folder) and entry.base != ".metadata"
        for entry in unit.entries
    )


def _is_rng(entry: Entry) -> bool:
    return entry.base.startswith("rng_state")


def _is_legible(entry: Entry, form: Form) -> bool:
    return form is Form.WHOLE or is_of_dcp(entry)


def _below(entries: Sequence[Entry], folder: str) -> list[Entry]:
    return [entry for entry in entries if units.is_below(entry.name, folder)]
