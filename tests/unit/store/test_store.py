"""Stamps: who wrote, and the how-manieth write it was."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from phalanx.errors import StoreConflict, StoreUnavailable, StoreUnclear, StoreUnfit
from phalanx.store.base import Found
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.stores import Lossy


@pytest.fixture
def objects(tmp_path: Path) -> FilesObjects:
    return FilesObjects.open(tmp_path / "root", make=True)


def stamp(objects: FilesObjects, key: str) -> dict[str, object]:
    found = objects.get(key)
    assert found is not None
    line, _, _ = found.data.partition(b"\n")
    answer: dict[str, object] = json.loads(line)
    return answer


def test_every_write_has_a_stamp_that_grows(objects: FilesObjects) -> None:
    store = Store(objects, "me")
    store.create("a", b"x")
    store.swap("b", b"x", None)
    store.create("a", b"x")
    store.create("c", b"x")
    assert stamp(objects, "a") == {"writer": "me", "n": 1}
    assert stamp(objects, "b") == {"writer": "me", "n": 2}
    assert stamp(objects, "c") == {"writer": "me", "n": 4}


def test_a_forked_child_is_another_writer(objects: FilesObjects) -> None:
    store = Store(objects, "me")
    child = os.fork()
    if child == 0:
        store.create("a", b"x")
        os._exit(0)
    assert os.waitpid(child, 0) == (child, 0)
    assert store.create("a", b"x") is False
    assert stamp(objects, "a") == {"writer": f"me.{child}", "n": 1}


@pytest.mark.parametrize("writer", ["", 'a"b', "a\nb", "x" * 201])
def test_bad_writers_are_refused(objects: FilesObjects, writer: str) -> None:
    with pytest.raises(ValueError, match="writer"):
        Store(objects, writer)


def test_writer_ids_differ_and_fit(objects: FilesObjects) -> None:
    one, two = writer_id(), writer_id()
    assert one != two
    assert f"-{os.getpid()}-" in one
    Store(objects, one)


class Bare:
    """Objects alone, which cannot be read for a while after a write."""

    def __init__(self, objects: FilesObjects, deaf: int) -> None:
        self._objects = objects
        self._deaf = deaf

    def get(self, key: str) -> Found | None:
        self._deaf -= 1
        if self._deaf >= 0:
            raise StoreUnavailable("away")
        return self._objects.get(key)

    def put_new(self, key: str, data: bytes) -> None:
        self._objects.put_new(key, data)
        raise StoreUnclear("lost")

    def replace(self, key: str, data: bytes, version: str | None) -> str:
        self._objects.replace(key, data, version)
        raise StoreUnclear("lost")

    def list(self, prefix: str) -> tuple[str, ...]:
        return self._objects.list(prefix)


def test_reading_back_is_tried_again_and_not_for_ever(objects: FilesObjects) -> None:
    pauses: list[float] = []
    assert Store(Bare(objects, 3), "me", pause=pauses.append).create("a", b"x") is True
    assert len(pauses) == 3
    assert Store(Bare(objects, 3), "me", pause=pauses.append).swap("b", b"x", None) is not None
    with pytest.raises(StoreUnclear):
        Store(Bare(objects, 99), "me", pause=pauses.append).create("c", b"x")


def test_what_a_root_lacks_is_told(objects: FilesObjects) -> None:
    bare = Store(Bare(objects, 0), "me")
    assert bare.watch() is None
    with pytest.raises(StoreUnfit, match="beats"):
        bare.beat("a", b"x")
    with pytest.raises(StoreUnfit, match="blobs"):
        bare.get_blob("a")


class Plain(Lossy):
    """A root that keeps blobs and cannot link them."""

    def __init__(self, objects: FilesObjects) -> None:
        super().__init__(objects, iter(()))
        self.put_blob = objects.put_blob
        self.get_blob = objects.get_blob
        self.delete = objects.delete


@pytest.mark.parametrize("links", [True, False])
def test_a_blob_outlives_its_first_key(objects: FilesObjects, links: bool) -> None:
    store = Store(objects if links else Plain(objects), "me")
    store.put_blob("a/x", [b"data"])
    assert store.copy_blob("a/x", "b/y") is True
    assert store.copy_blob("a/none", "b/z") is False
    assert store.copy_blob("none/x", "b/z") is False
    with pytest.raises(StoreConflict):
        store.copy_blob("a/x", "b/y")
    store.delete("a")
    held = store.get_blob("b/y")
    assert held is not None
    assert bytes(held) == b"data"
    assert store.get_blob("b/z") is None
