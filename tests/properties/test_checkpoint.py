"""Whatever the state, the bytes and the order of events: right or refused, never wrong."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx.checkpoint import shard
from phalanx.checkpoint.commit import Done, Refused, SwapHead, WriteManifest, next_commit_move
from phalanx.checkpoint.hostcopy import HostCopy
from phalanx.checkpoint.manifest import Part, ShardFile, is_inside, order_of, read_manifest
from phalanx.checkpoint.untree import decode
from phalanx.errors import CheckpointUnreadable
from phalanx.names import checkpoint_name
from phalanx.state.gang import Head

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary(max_size=2000)
    | st.integers(-128, 127).map(np.int8)
    | st.floats(width=32).map(np.float32)
)


def array_of(kind: str, shape: list[int], data: bytes) -> np.ndarray:
    dtype = np.dtype(kind)
    size = math.prod(shape) * dtype.itemsize
    raw = bytes(byte & 1 for byte in data) if kind == "?" else data
    return np.frombuffer(raw[:size], dtype).reshape(shape).copy()


ARRAYS = st.builds(
    array_of,
    st.sampled_from(["<f4", ">f8", "u1", "<i8", "?", "<c8", "S2", "<M8[s]"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.binary(min_size=216, max_size=216),
)
KEYS = st.text() | st.integers() | st.tuples(st.integers(), st.text()) | st.none()
STATES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Equal in type and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return all(map(same, one.items(), other.items())) and len(one) == len(other)
    if isinstance(one, (np.ndarray, np.generic)):
        return one.dtype == other.dtype and one.shape == other.shape and bits(one) == bits(other)
    if isinstance(one, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    if isinstance(one, complex):
        return same((one.real, one.imag), (other.real, other.imag))
    return bool(one == other)


def bits(array: Any) -> bytes:
    return bytes(array.tobytes())


def written(state: Any) -> bytes:
    frozen = HostCopy().take(state, {})
    return b"".join(shard.chunks(frozen.header, frozen.data))


def read(data: bytes) -> Any:
    parsed = shard.parse(memoryview(data), "file")
    return decode(parsed.tree(), parsed.bytes)


@settings(deadline=None)
@given(STATES)
def test_every_state_comes_back(state: Any) -> None:
    assert same(read(written(state)), state)


@settings(deadline=None)
@given(STATES, st.data())
def test_a_damaged_file_is_read_or_refused_but_never_breaks(state: Any, data: Any) -> None:
    good = bytearray(written(state))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(good) - 1))
        good[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(good)))
    for damaged in (bytes(good), bytes(good[:cut])):
        try:
            read(damaged)
        except CheckpointUnreadable:
            continue


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_as_shard_and_manifest(data: bytes) -> None:
    for look in (lambda: read(data), lambda: read_manifest(data, "0000000001-0")):
        try:
            look()
        except CheckpointUnreadable:
            continue
        raise AssertionError("accepted")


@given(st.text(alphabet="ab./\\:\0 ", max_size=12))
def test_a_name_that_is_inside_stays_inside(name: str) -> None:
    import posixpath

    if is_inside(name):
        joined = posixpath.normpath(posixpath.join("/folder", name))
        assert joined == f"/folder/{name}"


@dataclass
class Model:
    """A root as the commit sees it: parts, manifests with their parents, HEAD and its history."""

    head: Head = field(default_factory=lambda: Head(0))
    parts: dict[str, set[int]] = field(default_factory=dict)
    manifests: dict[str, str | None] = field(default_factory=dict)
    history: list[Head] = field(default_factory=list)


NAMES = st.builds(checkpoint_name, st.integers(1, 4), st.integers(0, 2))
WORLD = 2


def part(name: str, rank: int) -> Part:
    attempt, step = order_of(name) or (0, 0)
    return Part(rank, name, attempt, step, WORLD, (ShardFile("x", 1, "0" * 64),))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("psdax"), NAMES, st.integers(0, 5)), max_size=40))
def test_any_order_of_parts_seals_and_half_done_commits_keeps_the_promises(events: Any) -> None:
    root = Model()
    seen: dict[int, tuple[Head, Any, str]] = {}
    for kind, name, number in events:
        order = order_of(name)
        assert order is not None
        if kind == "p":
            root.parts.setdefault(name, set()).add(number % WORLD)
        elif kind == "s":
            if order[0] > root.head.attempt:
                root.head = Head(order[0], root.head.checkpoint)
        elif kind == "d":  # somebody looks and decides now, and acts at some later time
            have = tuple(part(name, rank) for rank in root.parts.get(name, ()))
            move = next_commit_move(root.head, name, order[0], have, name in root.manifests, WORLD)
            seen[number] = root.head, move, name
        elif number in seen:
            _act(root, *seen.pop(number))
    for head in root.history:
        assert head.checkpoint is not None
        assert root.parts[head.checkpoint] == set(range(WORLD)), "committed without all parts"
        assert head.checkpoint in root.manifests
        assert (order_of(head.checkpoint) or (0,))[0] == head.attempt, "a stale attempt committed"
    orders = [order_of(head.checkpoint or "") or (0, 0) for head in root.history]
    assert orders == sorted(set(orders)), "HEAD went back"


def _act(root: Model, head: Head, move: Any, name: str) -> None:
    if isinstance(move, WriteManifest):
        root.manifests.setdefault(name, move.parent)
    elif isinstance(move, SwapHead):
        if root.head == head:
            root.head = move.head
            root.history.append(move.head)
    elif isinstance(move, Done):
        assert head.checkpoint == name
    elif isinstance(move, Refused):
        assert move.reason


def test_floats_are_told_apart() -> None:
    assert not same(0.0, -0.0)
    assert same(math.nan, math.nan)
    assert not same([1], (1,))
    assert not same({"a": 1}, {"a": 1, "b": 2})
