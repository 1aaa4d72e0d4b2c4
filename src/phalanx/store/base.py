"""The store port: a few objects under one root, written once or compared and swapped.

`Objects` is what a root must be able to do (a folder, S3, the simulator). `store.store.Store`
is what everybody uses: it stamps every body with its writer and a number that only grows, and
reads back after any unclear answer, so that a lost answer never changes the outcome.

Folder layout: a create-once object is the file `<key>`; a mutable object is the folder `<key>`
holding its versions `00000001`, `00000002`, ... Nothing is ever rewritten in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Found(NamedTuple):
    """One object as read: its bytes, and the version that a replacement must name."""

    data: bytes
    version: str


class Objects(Protocol):
    """Four primitives with conditions. Every method may raise `StoreUnavailable`."""

    def get(self, key: str) -> Found | None:
        """Newest value of a create-once or mutable object; None when there is none."""
        ...

    def put_new(self, key: str, data: bytes) -> None:
        """Create a create-once object, durable on return.

        Raises `StoreConflict` when the key exists, `StoreUnclear` when the answer was lost.
        """
        ...

    def replace(self, key: str, data: bytes, version: str | None) -> str:
        """Replace a mutable object whose version is `version` (None: there is none yet).

        Returns the new version. Raises `StoreConflict` or `StoreUnclear`.
        """
        ...

    def list(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a folder (`jobs/x/members`), sorted, complete; () when none.

        A mutable object and a folder appear as one name each.
        """
        ...


@runtime_checkable
class Beats(Protocol):
    """Small objects that are overwritten, for liveness only."""

    def beat(self, key: str, data: bytes) -> None:
        """Overwrite; not fsynced, readers see the old or the new bytes, never a mix."""
        ...

    def pulse(self, key: str) -> tuple[bytes, int] | None:
        """The newest bytes and their age in nanoseconds by the store's own clock."""
        ...

    def now_ns(self) -> int:
        """The store's own clock, in nanoseconds since 1970."""
        ...


class Written(NamedTuple):
    """A blob that is durable under its key."""

    bytes: int
    sha256: str
    """The digest of `store.digest`: SHA-256, in pieces of 16 MiB where it is longer."""


@runtime_checkable
class Blobs(Protocol):
    """Large create-once objects: checkpoint shards, source snapshots, log copies."""

    def put_blob(self, key: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """Write, hash and make durable in one pass; raises `StoreConflict` when it exists."""
        ...

    def get_blob(self, key: str) -> memoryview | None:
        """The bytes, mapped where the root can (a folder), else read; None when missing."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object, or a folder with all below it; missing is success."""
        ...


@runtime_checkable
class Links(Protocol):
    """A root that can give a blob a second key without a copy."""

    def link_blob(self, source: str, key: str) -> bool:
        """Durable on return; False when there is no `source`. Raises `StoreConflict`."""
        ...


@runtime_checkable
class Bulk(Protocol):
    """A root in which many blobs of one folder are announced together, and settled once.

    Until `settle` a crash of the machine may take their names away; their bytes are whole.
    """

    def put_loose(self, key: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """As `put_blob`, but for the name. Safe for many threads."""
        ...

    def link_loose(self, source: str, key: str) -> bool:
        """As `link_blob`, but for the name."""
        ...

    def settle(self, prefix: str) -> None:
        """Make all names in a folder durable, and the folder itself."""
        ...


@runtime_checkable
class Watch(Protocol):
    """A hint that something below some folders may have changed. Never the truth."""

    def fileno(self) -> int:
        """Readable when there is news; for `select`."""
        ...

    def drain(self) -> None:
        """Forget the news read so far."""
        ...

    def cover(self, prefixes: Sequence[str]) -> None:
        """Watch exactly these folders (they are created when missing)."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...
