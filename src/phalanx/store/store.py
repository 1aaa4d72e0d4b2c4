"""What everybody writes through: a lost answer never changes the outcome.

Every conditional body starts with a stamp, one JSON line of the writer's id and a number that
only grows. After any answer that is not a plain yes the object is read back; the stamp tells
our own write from an equal body by somebody else. A write is repeated only after a look showed
that nothing has happened yet, with the same bytes and the same condition: should the first copy
arrive late, at most one of the two is granted, and either is ours.

A-B-A cannot happen: versions are never used again (a folder's numbers grow, and carry the file's
identity; an S3 ETag covers the stamp, which is unique).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from itertools import count
from typing import Protocol, runtime_checkable

from phalanx.errors import (
    StoreConflict,
    StoreError,
    StoreUnavailable,
    StoreUnclear,
    StoreUnfit,
)
from phalanx.store.base import Beats, Blobs, Bulk, Found, Links, Objects, Watch, Written

_WRITER = r"[A-Za-z0-9._:@-]{1,200}"
_STAMP = b'{"writer":"'
_PAUSES_S = (0.0, 0.01, 0.04, 0.15, 0.6)
"""Rounds of write and look, and the pause after each."""


@runtime_checkable
class Lineage(Protocol):
    """A root that keeps old versions and can tell what came after one."""

    def successor(self, key: str, version: str | None) -> Found | None:
        """The value that replaced `version` (None: the first value)."""
        ...


@runtime_checkable
class Watchable(Protocol):
    """A root that tells news instead of being asked again and again."""

    def watch(self) -> Watch:
        """News of folders; covers none yet."""
        ...


class Store:
    """One writer's view of a root.

    `writer` is unique to this `Store` (`store.writer.writer_id`); in a forked child its process
    id is added. `pause` sleeps for seconds between rounds. Every method may raise
    `StoreUnavailable`.
    """

    def __init__(
        self, objects: Objects, writer: str, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        if not re.fullmatch(_WRITER, writer):
            raise ValueError(f"no writer id: {writer!r}")
        self.objects = objects
        self.writer = writer
        self._pause = pause
        self._pid = os.getpid()
        self._numbers = count(1)
        # Asked at every look: `isinstance` of a protocol is too slow for that.
        self._beating = objects if isinstance(objects, Beats) else None

    def read(self, key: str) -> Found | None:
        """Newest body (without its stamp) and version; None when there is none.

        Raises `StoreError` when the object carries no stamp.
        """
        found = self.objects.get(key)
        return None if found is None else Found(_body(key, found.data), found.version)

    def create(self, key: str, body: bytes) -> bool:
        """Create once. True: the object holds *our* write; False: somebody else's.

        Raises `StoreUnclear` when neither could be found out.
        """
        data = self._stamp() + body
        for pause_s in _PAUSES_S:
            try:
                self.objects.put_new(key, data)
            except (StoreConflict, StoreUnclear):
                found = self._look(key)
                if found is not None:
                    return found.data == data
                self._pause(pause_s)
            else:
                return True
        raise _unclear(key)

    def swap(self, key: str, body: bytes, version: str | None) -> str | None:
        """Replace the value whose version is `version` (None: there is none yet).

        Returns the new version, or None when somebody else replaced `version`. Where the root
        keeps old versions (`Lineage`) that is exact: a write of ours that was granted, whose
        answer was lost and which was then superseded, is still told as won. Elsewhere it is told
        as None in that one case, so a caller reads the value before it decides anew.
        Raises `StoreUnclear` when nothing could be found out; the write may then still arrive.
        """
        data = self._stamp() + body
        for pause_s in _PAUSES_S:
            try:
                return self.objects.replace(key, data, version)
            except (StoreConflict, StoreUnclear):
                found = self._look(key)
            if found is not None and found.data == data:
                return found.version
            if (found.version if found else None) != version:
                return self._superseded(key, data, version)
            self._pause(pause_s)  # nothing has happened yet
        raise _unclear(key)

    def list(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a folder, sorted, complete."""
        return self.objects.list(prefix)

    def beat(self, key: str, data: bytes) -> None:
        """Overwrite a small object, for liveness only; not stamped, not durable."""
        self._beats().beat(key, data)

    def pulse(self, key: str) -> tuple[bytes, int] | None:
        """Bytes of a beat and their age in nanoseconds by the store's own clock."""
        return self._beats().pulse(key)

    def now_ns(self) -> int:
        """The store's own clock, nanoseconds since 1970."""
        return self._beats().now_ns()

    def put_blob(self, key: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """Write a large create-once object, not stamped. Raises `StoreConflict`."""
        return self._blobs().put_blob(key, chunks)

    def get_blob(self, key: str) -> memoryview | None:
        """The bytes of a blob; None when missing."""
        return self._blobs().get_blob(key)

    def copy_blob(self, source: str, key: str) -> bool:
        """Give a blob a second key: a deletion of the first leaves it whole. Raises
        `StoreConflict` when `key` exists; False when there is no `source`.
        """
        if isinstance(self.objects, Links):
            return self.objects.link_blob(source, key)
        data = self.get_blob(source)
        if data is None:
            return False
        self.put_blob(key, [data])
        return True

    def put_loose(self, key: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """As `put_blob`, for one of many: nothing may refer to it before `settle` of its folder."""
        if isinstance(self.objects, Bulk):
            return self.objects.put_loose(key, chunks)
        return self.put_blob(key, chunks)

    def copy_loose(self, source: str, key: str) -> bool:
        """As `copy_blob`, for one of many: see `put_loose`."""
        if isinstance(self.objects, Bulk):
            return self.objects.link_loose(source, key)
        return self.copy_blob(source, key)

    def settle(self, prefix: str) -> None:
        """Make everything durable that was put loosely into a folder."""
        if isinstance(self.objects, Bulk):
            self.objects.settle(prefix)

    def delete(self, key: str) -> None:
        """Remove an object, or a folder with all below it; missing is success."""
        self._blobs().delete(key)

    def watch(self) -> Watch | None:
        """News of folders, or None where the root must be asked instead."""
        return self.objects.watch() if isinstance(self.objects, Watchable) else None

    def _stamp(self) -> bytes:
        pid = os.getpid()
        writer = self.writer if pid == self._pid else f"{self.writer}.{pid}"
        return f'{{"writer":"{writer}","n":{next(self._numbers)}}}\n'.encode()

    def _look(self, key: str) -> Found | None:
        """Read back; a root that cannot be read for a moment is asked again."""
        for pause_s in _PAUSES_S[:-1]:
            try:
                return self.objects.get(key)
            except (StoreUnavailable, StoreUnclear):
                self._pause(pause_s)
        try:
            return self.objects.get(key)
        except (StoreUnavailable, StoreUnclear) as error:
            raise _unclear(key) from error

    def _superseded(self, key: str, data: bytes, version: str | None) -> str | None:
        """Version of our write, when it was granted and then replaced by others."""
        if not isinstance(self.objects, Lineage):
            return None
        found = self.objects.successor(key, version)
        return found.version if found is not None and found.data == data else None

    def _beats(self) -> Beats:
        if self._beating is not None:
            return self._beating
        raise StoreUnfit("this root keeps no beats")

    def _blobs(self) -> Blobs:
        if isinstance(self.objects, Blobs):
            return self.objects
        raise StoreUnfit("this root keeps no blobs")


def _body(key: str, data: bytes) -> bytes:
    if not data.startswith(_STAMP):
        raise StoreError(
            f"{key}: its first line is no stamp, so phalanx did not write it",
            hint="objects of a root are not edited by hand",
        )
    return data[data.index(b"\n") + 1 :]


def _unclear(key: str) -> StoreUnclear:
    return StoreUnclear(
        f"{key}: no answer tells whether it was written", hint="read it before trying again"
    )
