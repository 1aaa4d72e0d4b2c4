"""What in a folder is one checkpoint: a folder of a known kind, a file, files that go together.

Told from names alone. A *numbered* checkpoint carries its step in its name and stays; one without
a number is *rolling*: written over and over under the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from phalanx.checkpoint.folder.forms import may_be_model
from phalanx.checkpoint.folder.scan import Entry, Look
from phalanx.frozen import frozen

HUGGINGFACE = "huggingface"
LIGHTNING = "lightning"
DCP = "dcp"
FILE = "file"
FILES = "files"
"""Several files of one folder that go together."""
FOLDER = "folder"
"""A folder named after a step, of no known framework."""

_STEP = r"(?:^|[^a-z0-9])(?:global_?)?step[s=_.-]*([0-9]+)"
_WORD = (
    r"(?:^|[^a-z0-9])"
    r"(?:iter(?:ation)?s?|epochs?|ckpt|checkpoint|snapshot|save|state)[=_.-]*([0-9]+)"
)
_TRAINER = r"checkpoint-[0-9]+"
_TRAINER_MARKS = r"(trainer_state\.json|training_args\.bin|optimizer\.pt|scheduler\.pt|rng_state.*)"
_POINTER = (
    r"[^.]*(?:latest|last|newest|best|checkpoint|ckpt|iteration)[^.]*(?:\.txt)?"
    r"|.+\.(?:json|ya?ml)"
)
POINTER_BYTES = 64 << 10
"""A larger file is no pointer to a checkpoint."""


@frozen
class Unit:
    """One checkpoint as it lies there. `name` is its folder, its file, or `folder/*`."""

    kind: str
    name: str
    number: int | None
    entries: tuple[Entry, ...]

    @property
    def newest_ns(self) -> int:
        """Time of its last change."""
        return max((entry.mtime_ns for entry in self.entries), default=0)

    @property
    def parent(self) -> str:
        """The folder that it lies in."""
        return self.name.rpartition("/")[0]

    @property
    def shape(self) -> tuple[str, ...]:
        """Its files' names with the step left out: equal for two checkpoints of one writer."""
        inside = (entry.name.removeprefix(f"{self.parent}/") for entry in self.entries)
        return (self.kind, *sorted(self._without_step(name) for name in inside))

    def _without_step(self, name: str) -> str:
        steps = name.split("/")
        return "/".join(
            re.sub(rf"(?<![0-9])0*{self.number}(?![0-9])", "#", step)
            if self.number is not None and number_of(step) == self.number
            else step
            for step in steps
        )


def number_of(name: str) -> int | None:
    """The step in the name of a file or folder; None when it names none.

    `epoch=3-step=400.ckpt` → 400, `checkpoint-500` → 500, `iter_0000100` → 100, `00000100.pt` →
    100; `model_2.pt` or `rank_0.pt` name none: that may be a rank.
    """
    stem = name.lower()
    for ending in (".tar", ".ckpt", ".pt", ".pth", ".bin", ".safetensors", ".npz", ".pkl"):
        stem = stem.removesuffix(ending)
    if stem.isdecimal():
        return int(stem)
    for pattern in (_STEP, _WORD):
        found = re.findall(pattern, stem)
        if found:
            return int(found[-1])
    return None


def units_in(look: Look, shipped: frozenset[Entry] = frozenset()) -> tuple[Unit, ...]:
    """All checkpoints, whole or not; files that are in `shipped` belong to none."""
    files = [entry for entry in look.files if entry not in shipped]
    below = _by_folder(files)
    found: list[Unit] = []
    names: set[str] = set()
    for name in sorted(below):
        kind = _owner(name, below[name])
        # Folders are sorted: what lies in a checkpoint comes after it.
        if kind and names.isdisjoint(folders_above(name)):
            mine = below[name] if name else [e for e in files if not e.folder and is_of_dcp(e)]
            found.append(Unit(kind, name, number_of(name.rpartition("/")[2]), tuple(mine)))
            names.add(name)
    taken = {entry for unit in found for entry in unit.entries}
    return (*found, *_of_files([entry for entry in files if entry not in taken]))


def _by_folder(files: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Files below each folder, at any depth; '' holds all."""
    below: dict[str, list[Entry]] = {}
    for entry in files:
        for folder in folders_above(entry.name):
            below.setdefault(folder, []).append(entry)
        below.setdefault("", []).append(entry)
    return below


def is_of_dcp(entry: Entry) -> bool:
    """Whether `torch.distributed.checkpoint` writes files of that name."""
    return entry.base == ".metadata" or entry.base.endswith(".distcp")


def folders_above(name: str) -> Iterator[str]:
    """The folders that a name lies in, the nearest first; '' is left out."""
    folder = name.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def is_below(name: str, folder: str) -> bool:
    """Whether a name lies in a folder, at any depth; everything lies in ''."""
    return not folder or name.startswith(f"{folder}/")


def _owner(folder: str, below: list[Entry]) -> str:
    """The kind of checkpoint that a folder is; '' when it only holds some, or none."""
    base = folder.rpartition("/")[2]
    mine = [entry for entry in below if entry.folder == folder]
    if any(is_of_dcp(entry) for entry in mine):
        return DCP
    if not folder:
        return ""
    if re.fullmatch(_TRAINER, base):
        is_marked = any(re.fullmatch(_TRAINER_MARKS, entry.base) for entry in mine)
        return HUGGINGFACE if is_marked else FOLDER
    return FOLDER if base.endswith(".ckpt") or _is_one(folder, below) else ""


def _is_one(folder: str, below: list[Entry]) -> bool:
    """Whether a folder is one checkpoint by its name, and not only holds numbered ones.

    `version_0/checkpoints` only holds them.
    """
    if number_of(folder.rpartition("/")[2]) is None:
        return False
    has_state = any(may_be_model(entry.name) for entry in below)
    return has_state and not any(_is_numbered_inside(entry, folder) for entry in below)


def _is_numbered_inside(entry: Entry, folder: str) -> bool:
    steps = entry.name.removeprefix(f"{folder}/").split("/")
    is_file = may_be_model(entry.name) and number_of(steps[-1]) is not None
    return is_file or any(number_of(step) is not None for step in steps[:-1])


def _of_files(files: list[Entry]) -> Iterator[Unit]:
    groups: dict[tuple[str, int | None], list[Entry]] = {}
    for entry in files:
        if may_be_model(entry.name):
            groups.setdefault((entry.folder, number_of(entry.base)), []).append(entry)
    for (folder, number), mine in sorted(groups.items(), key=lambda item: item[1][0].name):
        if len(mine) > 1:
            yield Unit(FILES, f"{folder}/*".lstrip("/"), number, tuple(mine))
            continue
        kind = LIGHTNING if mine[0].name.endswith(".ckpt") else FILE
        yield Unit(kind, mine[0].name, number, tuple(mine))


def pointers_in(look: Look, units: Iterable[Unit], shipped: frozenset[Entry]) -> tuple[Entry, ...]:
    """Small files beside the checkpoints that may say which is the newest (`latest`, `*.json`)."""
    owned = {entry for unit in units for entry in unit.entries}
    return tuple(
        entry
        for entry in look.files
        if entry not in owned
        and entry not in shipped
        and entry.size <= POINTER_BYTES
        and not may_be_model(entry.name)
        and re.fullmatch(_POINTER, entry.base)
    )


def links_in(look: Look) -> tuple[Entry, ...]:
    """Links that stay inside the folder, such as `last.ckpt -> step=400.ckpt`."""
    return tuple(link for link in look.links if _stays_inside(link))


def _stays_inside(link: Entry) -> bool:
    if link.target.startswith("/") or not link.target.isprintable():
        return False
    depth = link.name.count("/")
    for step in link.target.split("/"):
        depth += -1 if step == ".." else 0 if step in ("", ".") else 1
        if depth < 0:
            return False
    return True
