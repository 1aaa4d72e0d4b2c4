"""Read the objects of a gang from a store: one function per kind, complete or raise."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

from phalanx.errors import ObjectDamaged
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.gang import End, Head, Member, World
from phalanx.state.record import Record

T = TypeVar("T")


class Read(Protocol):
    """An object as a store gives it: its body and its version."""

    @property
    def data(self) -> bytes:
        """The body."""
        ...

    @property
    def version(self) -> str:
        """What a replacement must name."""
        ...


class Reader(Protocol):
    """The two reading methods of a store."""

    def read(self, key: str) -> Read | None:
        """Newest value, or None."""
        ...

    def list(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a folder."""
        ...


class Versioned(NamedTuple):
    """A record and the version that a replacement must name."""

    record: Record
    version: str


def read_record(store: Reader, keys: Keys) -> Versioned | None:
    """The job's record; None when there is none."""
    found = store.read(keys.record)
    if found is None:
        return None
    return Versioned(_loaded(Record, found.data, keys.record), found.version)


def read_head(store: Reader, keys: Keys) -> tuple[Head | None, str | None]:
    """HEAD and its version; (None, None) before the first seal."""
    found = store.read(keys.head)
    if found is None:
        return None, None
    return _loaded(Head, found.data, keys.head), found.version


def read_world(store: Reader, keys: Keys, attempt: int) -> World | None:
    """The frozen agreement of an attempt, or None."""
    found = store.read(keys.world(attempt))
    key = keys.world(attempt)
    return _loaded(World, found.data, key) if found is not None else None


def read_members(store: Reader, keys: Keys, attempt: int) -> tuple[Member, ...]:
    """Agents that are ready for an attempt."""
    return _read_all(store, keys.members(attempt), Member)


def read_ends(store: Reader, keys: Keys, attempt: int) -> tuple[End, ...]:
    """Endings of an attempt."""
    return _read_all(store, keys.ends(attempt), End)


def _read_all(store: Reader, prefix: str, kind: type[T]) -> tuple[T, ...]:
    keys = [f"{prefix}/{name}" for name in store.list(prefix)]
    found = [(key, store.read(key)) for key in keys]
    return tuple(_loaded(kind, f.data, key) for key, f in found if f is not None)


def _loaded(kind: type[T], data: bytes, key: str) -> T:
    try:
        return codec.loads(kind, data)
    except ObjectDamaged as error:
        hint = "somebody else changed it; objects of a root are not edited by hand"
        raise ObjectDamaged(f"{key}: {error.message}", hint=hint) from error
