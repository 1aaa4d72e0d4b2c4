"""Any state comes back as it was, or is refused with its place."""

from __future__ import annotations

import json
import math
import random
import struct
import subprocess
import sys
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest
import torch

from phalanx.checkpoint import shard
from phalanx.checkpoint.hostcopy import HostCopy
from phalanx.checkpoint.tree import DEEPEST, encode
from phalanx.checkpoint.untree import decode
from phalanx.errors import CheckpointUnreadable, StateUnsupported


def through(state: Any) -> Any:
    """The state after a trip through the bytes of a shard."""
    frozen = HostCopy().take(state, {})
    data = b"".join(shard.chunks(frozen.header, frozen.data))
    parsed = shard.parse(memoryview(data), "shard")
    return decode(parsed.tree(), parsed.bytes)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1,
        1 << 52,
        (1 << 53) + 1,
        -(1 << 64),
        1 << 20_000,
        0.1,
        -0.0,
        5e-324,
        math.inf,
        -math.inf,
        "",
        "tree \N{DECIDUOUS TREE} \ud800 \x00",
        b"",
        b"short",
        b"long" * 1000,
        bytearray(b"x"),
        bytearray(b"x" * 5000),
        1 + 2j,
        [],
        [1, [2.0, [None]]],
        (),
        (1, "a", (2,)),
        {},
        {"a": 1, "b": {"tensor": {"entry": "no"}}},
        {1: "a", "1": "b", (2, "x"): "c", None: "d", 2.5: "e", b"k": "f"},
        {1, 2},
        frozenset({"a"}),
        deque([1, 2], maxlen=3),
        OrderedDict(b=1, a=2),
        random.Random(1).getstate(),
        torch.Size([2, 3]),
        torch.bfloat16,
        torch.device("cpu"),
        np.float32(0.1),
        np.int64(-3),
        np.bool_(True),
        np.str_("é"),
        np.str_(""),
        np.datetime64("2020-01-02T03:04:05"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_plain_values_keep_type_and_value(value: Any) -> None:
    back = through({"value": value})["value"]
    assert type(back) is type(value)
    assert back == value
    if isinstance(value, float):
        assert math.copysign(1, back) == math.copysign(1, value)
    if isinstance(value, deque):
        assert back.maxlen == value.maxlen
    if isinstance(value, dict):
        assert list(back) == list(value)


def test_a_nan_keeps_its_bits() -> None:
    strange = struct.unpack(">d", bytes.fromhex("7ff8dead0000beef"))[0]
    assert struct.pack(">d", through([strange])[0]).hex() == "7ff8dead0000beef"


DTYPES = [
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_of_every_type_are_bit_equal(dtype: str) -> None:
    kind = getattr(torch, dtype)
    raw = torch.arange(96, dtype=torch.uint8)
    tensor = (raw % 2).bool() if kind is torch.bool else raw.view(kind)
    back = through({"odd": torch.ones(3, dtype=torch.uint8), "tensor": tensor})["tensor"]
    assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(back.view(torch.uint8), tensor.view(torch.uint8))


def test_odd_shapes_and_layouts() -> None:
    base = torch.arange(24.0).view(2, 3, 4)
    state = {
        "scalar": torch.tensor(3.5),
        "empty": torch.empty(0, 3),
        "turned": base.clone().permute(2, 0, 1),
        "strided": base.clone()[:, ::2, 1:],
        "expanded": torch.ones(1).expand(4),
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False),
        "leaf": torch.ones(2, requires_grad=True),
    }
    back = through(state)
    for name, tensor in state.items():
        assert torch.equal(back[name], tensor), name
        assert type(back[name]) is type(tensor)
        assert back[name].requires_grad == tensor.requires_grad
    assert torch.equal(through([torch.ones(2, requires_grad=True) * 2])[0], torch.full((2,), 2.0))


def test_tied_tensors_are_written_once_and_stay_tied() -> None:
    weight = torch.arange(10.0)
    state = {"one": weight, "two": [weight], "part": weight[2:5], "bytes": weight.view(torch.uint8)}
    assert sum(entry.size for entry in encode(state).entries) == 40
    back = through(state)
    back["one"][3] = 99
    assert back["two"][0][3] == 99
    assert back["part"].tolist() == [2, 99, 4]
    assert torch.equal(back["bytes"], back["one"].view(torch.uint8))


def test_neighbours_in_one_storage_are_not_tied() -> None:
    flat = torch.arange(10.0)
    encoded = encode({"left": flat[:5], "right": flat[5:]})
    assert [(e.name, e.shape) for e in encoded.entries] == [("left", (5,)), ("right", (5,))]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.array(3.5),
        np.zeros((0, 2)),
        np.array(["ab", "c"]),
        np.array([b"ab", b"c"]),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
        np.array([True, False]),
        np.arange(3, dtype=np.complex64),
        np.arange(3, dtype=np.longdouble),
    ],
    ids=lambda array: f"{array.dtype}",
)
def test_arrays_keep_type_shape_and_bytes(array: np.ndarray) -> None:
    back = through({"a": array, "again": array})
    assert (back["a"].dtype, back["a"].shape) == (array.dtype, array.shape)
    assert back["a"].tobytes() == array.tobytes()
    assert back["again"] is back["a"]


def test_names_never_collide() -> None:
    state = {
        "a": {"b": torch.zeros(1)},
        "a.b": torch.ones(1),
        "__metadata__": torch.full((1,), 2.0),
        "": torch.full((1,), 3.0),
        "\ud800": torch.full((1,), 4.0),
    }
    back = through(state)
    values = [back["a"]["b"], *(back[name] for name in list(state)[1:])]
    assert [value.item() for value in values] == [0, 1, 2, 3, 4]


class Foo:
    pass


class Keeper:
    def state_dict(self) -> dict[str, int]:
        return {}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (Foo(), "state['sampler'][0]['x'] holds a tests.unit.checkpoint.test_tree.Foo; save numbe"),
        (Keeper(), "save its state_dict() in its place"),
        (print, "a function or class (print)"),
        (defaultdict(list), "holds a collections.defaultdict"),
        (torch.eye(2).to_sparse(), "a sparse tensor; save tensor.to_dense()"),
        (torch.empty(2, device="meta"), "without data"),
        (np.array([object()]), "numpy elements of object"),
        (np.zeros(2, dtype=[("a", "i4")]), "numpy elements of"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_carried_is_refused_with_its_place(value: Any, says: str) -> None:
    with pytest.raises(StateUnsupported) as caught:
        encode({"sampler": [{"x": value}]})
    assert says in caught.value.line()
    assert caught.value.line().startswith("state['sampler'][0]['x'] holds ")


def test_a_state_that_holds_itself_is_refused() -> None:
    state: dict[str, Any] = {}
    state["me"] = [state]
    with pytest.raises(StateUnsupported, match=r"state\['me'\]\[0\] holds itself"):
        encode(state)


def test_the_deepest_state_comes_back_and_a_deeper_one_is_refused() -> None:
    def nested(levels: int) -> Any:
        state: Any = 1
        for _ in range(levels):
            state = {"a": state}
        return state

    assert through(nested(DEEPEST)) == nested(DEEPEST)
    with pytest.raises(StateUnsupported, match="more than 100 levels"):
        encode(nested(DEEPEST + 1))


@pytest.mark.parametrize(
    "tree",
    [
        {"unknown": 1},
        {"tuple": 1},
        {"dict": []},
        {"int": "zz"},
        {"float": "00"},
        {"bytes": "!"},
        {"dtype": "os"},
        {"dtype": 3},
        {"tensor": {"entry": "t", "dtype": "float32", "shape": [3]}},
        {"tensor": {"entry": "t", "dtype": "system", "shape": [2]}},
        {"tensor": {"entry": "missing", "dtype": "float32", "shape": [2]}},
        {"view": {"entry": "t", "dtype": "uint8", "shape": [9], "stride": [9], "offset": 0}},
        {"view": {"entry": "t", "dtype": "uint8", "shape": [1], "stride": [1], "offset": -1}},
        {"array": {"entry": "t", "dtype": "O", "shape": [1]}},
        {"array": {"entry": "t", "dtype": "<f4", "shape": [9]}},
        {"array": {"entry": "t", "dtype": "<f4", "shape": [1 << 50]}},
        {"array": {"entry": "t", "dtype": "<f4", "shape": [-1, -2]}},
        {"view": {"entry": "t", "dtype": "uint8", "shape": [1 << 50], "stride": [1], "offset": 0}},
        {"run": {"entry": "t", "type": "Foo"}},
        {"a": 1, "b": 2},
        {},
        json.loads("[" * 900 + "]" * 900),
    ],
)
def test_a_hostile_tree_is_refused(tree: Any) -> None:
    entries = {"t": memoryview(bytes(8))}
    with pytest.raises(CheckpointUnreadable, match="tree of the state is malformed"):
        decode(tree, entries.__getitem__)


def test_plain_states_need_no_torch() -> None:
    program = (
        "import sys; from phalanx.checkpoint.hostcopy import HostCopy;"
        "HostCopy().take({'a': [1, (2.5, b'x' * 2000)]}, {});"
        "print(sorted({'torch', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
