"""Roots for tests, and doubles that stand between a `Store` and its objects."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from phalanx.errors import StoreConflict, StoreUnclear
from phalanx.store.base import Found
from phalanx.store.files import FilesObjects

T = TypeVar("T")


def open_objects(address: str) -> FilesObjects:
    """The root at an address; child processes of a test open the same one."""
    kind, _, place = address.partition(":")
    return {"files": FilesObjects}[kind].open(place)


def new_files_root(folder: Path) -> str:
    """Address of a fresh folder root."""
    root = folder / "root"
    FilesObjects.open(root, make=True)
    return f"files:{root}"


class Lossy:
    """A proxy whose conditional writes lose answers, as `plan` says for each call in turn.

    `fine`: nothing happens. `after`: the write is performed, its answer is lost. `before`: it is
    lost on the way. `echo`: it is performed, and a retry underneath answers "conflict".
    `late`: it is lost, and arrives just before the next call of any kind.
    """

    def __init__(self, objects: FilesObjects, plan: Iterator[str]) -> None:
        self.objects = objects
        self._plan = plan
        self._late: list[Callable[[], object]] = []

    def get(self, key: str) -> Found | None:
        self._arrive()
        return self.objects.get(key)

    def put_new(self, key: str, data: bytes) -> None:
        self._lose(lambda: self.objects.put_new(key, data))

    def replace(self, key: str, data: bytes, version: str | None) -> str:
        return self._lose(lambda: self.objects.replace(key, data, version))

    def list(self, prefix: str) -> tuple[str, ...]:
        self._arrive()
        return self.objects.list(prefix)

    def _lose(self, write: Callable[[], T]) -> T:
        self._arrive()
        fault = next(self._plan)
        if fault == "before":
            raise StoreUnclear("lost on the way")
        if fault == "late":
            self._late.append(write)
            raise StoreUnclear("still on the way")
        answer = write()
        if fault == "after":
            raise StoreUnclear("the answer was lost")
        if fault == "echo":
            raise StoreConflict("our own retry met our own write")
        return answer

    def _arrive(self) -> None:
        late, self._late = self._late, []
        for write in late:
            try:
                write()
            except StoreConflict:
                continue


class LossyWithLineage(Lossy):
    """The same in front of a root that keeps old versions."""

    def successor(self, key: str, version: str | None) -> Found | None:
        return self.objects.successor(key, version)


def faults(seed: int, kinds: Iterable[str]) -> Iterator[str]:
    """Endless random faults, half of the calls being fine; never more than three in a row."""
    chance = random.Random(seed)
    names = list(kinds)
    in_a_row = 0
    while True:
        fault = chance.choice(names) if chance.random() < 0.5 and in_a_row < 3 else "fine"
        in_a_row = 0 if fault == "fine" else in_a_row + 1
        yield fault
