"""A root in memory that answers like S3 or a folder on a bad day: late, unclear, or not at all."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from phalanx.errors import StoreConflict, StoreUnavailable, StoreUnclear
from phalanx.sim.clock import EPOCH_NS, Loop
from phalanx.store.base import Found

OnWrite = Callable[[str, bytes, "bytes | None", str], None]
"""(key, new data, old data, who) after every write that was performed."""


@dataclass
class Trouble:
    """A spell of bad answers: `kind` is outage, lost or conflict; `hosts` None means everybody."""

    kind: str
    until_ns: int
    chance: float
    hosts: frozenset[str] | None = None
    since_ns: int = 0


@dataclass
class Root:
    """The objects themselves, and the troubles between them and everybody."""

    loop: Loop
    on_write: OnWrite
    keeps_lineage: bool = False
    values: dict[str, Found] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    pulse: Callable[[str], tuple[bytes, int] | None] = lambda key: None
    """Beats are not written one by one but told as they would have been."""
    writes: int = 0
    _folders: dict[str, dict[str, None]] = field(default_factory=dict)
    _next: dict[tuple[str, str | None], Found] = field(default_factory=dict)

    def put(self, key: str, data: bytes, who: str) -> bool:
        """Create; False when the key exists."""
        if key in self.values:
            return False
        self._index(key)
        self._store(key, data, None, who)
        return True

    def swap(self, key: str, data: bytes, version: str | None, who: str) -> str | None:
        """Replace; None when the version is another."""
        found = self.values.get(key)
        if (found.version if found else None) != version:
            return None
        if found is None:
            self._index(key)
        return self._store(key, data, found, who)

    def names(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a folder."""
        return tuple(sorted(self._folders.get(prefix, ())))

    def successor(self, key: str, version: str | None) -> Found | None:
        """What replaced a version."""
        return self._next.get((key, version))

    def trouble(self, host: str) -> Trouble | None:
        """The spell that this host is under right now."""
        if not self.troubles:
            return None
        self.troubles = [t for t in self.troubles if t.until_ns > self.loop.now_ns]
        return next((t for t in self.troubles if t.hosts is None or host in t.hosts), None)

    def _store(self, key: str, data: bytes, old: Found | None, who: str) -> str:
        self.writes += 1
        found = Found(data, f"v{self.writes}")
        self.values[key] = found
        self._next[(key, old.version if old else None)] = found
        self.on_write(key, data, old.data if old else None, who)
        return found.version

    def _index(self, key: str) -> None:
        folder, _, name = key.rpartition("/")
        while folder:
            there = self._folders.setdefault(folder, {})
            if name in there:
                return
            there[name] = None
            folder, _, name = folder.rpartition("/")


class SimObjects:
    """What one process on one host sees of the root: `Objects` and `Beats`."""

    def __init__(self, root: Root, host: str, who: str, rng: random.Random) -> None:
        self.root = root
        self.host = host
        self.who = who
        self.rng = rng
        self.kept: dict[str, Found | None] = {}
        """Answers that were given a while ago and are only now being looked at."""

    def get(self, key: str) -> Found | None:
        """Newest value, or the one that was on its way."""
        if key in self.kept:
            return self.kept.pop(key)
        self._reach()
        return self.root.values.get(key)

    def put_new(self, key: str, data: bytes) -> None:
        """Create once."""
        self._write(lambda: self.root.put(key, data, self.who), key)

    def replace(self, key: str, data: bytes, version: str | None) -> str:
        """Compare and swap."""
        got: list[str] = []

        def perform() -> bool:
            new = self.root.swap(key, data, version, self.who)
            got.extend([new] if new is not None else [])
            return new is not None

        self._write(perform, key)
        return got[0]

    def list(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a folder."""
        self._reach()
        return self.root.names(prefix)

    def beat(self, key: str, data: bytes) -> None:
        """Beats are not needed by anything that is simulated."""
        self._reach()

    def pulse(self, key: str) -> tuple[bytes, int] | None:
        """As the root tells it."""
        self._reach()
        return self.root.pulse(key)

    def now_ns(self) -> int:
        """The store's own clock."""
        return EPOCH_NS + self.root.loop.now_ns

    def _reach(self) -> None:
        trouble = self.root.trouble(self.host)
        if trouble is not None and trouble.kind == "outage" and self.rng.random() < trouble.chance:
            raise StoreUnavailable("the root cannot be reached")

    def _write(self, perform: Callable[[], bool], key: str) -> None:
        self._reach()
        trouble = self.root.trouble(self.host)
        if trouble is not None and self.rng.random() < trouble.chance:
            self._in_trouble(trouble, perform, key)
        if not perform():
            raise StoreConflict(f"{key}: somebody else was first")

    def _in_trouble(self, trouble: Trouble, perform: Callable[[], bool], key: str) -> None:
        """Performed or not, or performed much later: the writer cannot tell."""
        roll = self.rng.random()
        if roll < 0.4:
            perform()
        elif roll < 0.6:
            self.root.loop.after(self.rng.expovariate(1 / 30), _perform, perform)
        if trouble.kind == "conflict":
            raise StoreConflict(f"{key}: a repeated request met itself")
        raise StoreUnclear(f"{key}: the answer was lost")


class LineageObjects(SimObjects):
    """The same, of a root that keeps old versions, as a folder does."""

    def successor(self, key: str, version: str | None) -> Found | None:
        """What replaced a version."""
        self._reach()
        return self.root.successor(key, version)


def objects(root: Root, host: str, who: str, rng: random.Random) -> SimObjects:
    """The view that fits the root."""
    kind = LineageObjects if root.keeps_lineage else SimObjects
    return kind(root, host, who, rng)


def _perform(perform: Callable[[], bool]) -> None:
    perform()
