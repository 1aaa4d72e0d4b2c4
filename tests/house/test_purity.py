"""What no import rule can see: clocks and chance inside pure rooms, and pickles anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.house.tree import modules

IMPURE_CALLS = frozenset(
    {
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "time.monotonic_ns",
        "time.sleep",
        "uuid.uuid4",
        "uuid4",
        "SystemClock",
        "os.environ.get",
        "os.getenv",
        "os.urandom",
        "print",
        "input",
        "id",
        "hash",
    }
)
"""Calls whose answer depends on when, where or how often they are made (or that speak up)."""

PICKLING = frozenset({"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"})

FOR_OTHERS = {"phalanx.checkpoint.torch_file": "torch.save"}
"""Where such a file is written for others, outside of every root, and never read."""


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """(dotted name, node) of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def impure(tree: ast.AST) -> list[str]:
    """Calls that a pure room must not make."""
    found = []
    for name, node in calls(tree):
        short = ".".join(ast.unparse(node.func).split(".")[-2:])
        if {name, short} & IMPURE_CALLS or name.split(".")[0] == "random":
            found.append(f"line {node.lineno}: {name}")
    return found


def pickles(tree: ast.AST) -> list[str]:
    """Imports of pickling modules, and `torch.load` without `weights_only=True`."""
    found = []
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found += [f"line {node.lineno}: {n}" for n in names if n.split(".")[0] in PICKLING]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.load", "torch.save"):
            said = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if said.get("weights_only") != "True":
                found.append(f"line {node.lineno}: {ast.unparse(node.func)}")
        if isinstance(node, ast.keyword) and ast.unparse(node) == "allow_pickle=True":
            found.append(f"line {node.value.lineno}: allow_pickle")
    return found


def test_pure_rooms_know_no_clock_and_no_chance() -> None:
    found = {m.name: impure(m.tree) for m in modules() if m.is_pure}
    assert {name: what for name, what in found.items() if what} == {}


def test_nothing_is_pickled_or_unpickled() -> None:
    found = {
        m.name: [what for what in pickles(m.tree) if what.split()[-1] != FOR_OTHERS.get(m.name)]
        for m in modules()
    }
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "text",
    [
        "datetime.now()",
        "datetime.datetime.now(tz)",
        "date.today()",
        "time.time()",
        "uuid.uuid4()",
        "random.random()",
        "hash(x)",
    ],
)
def test_an_impure_call_is_seen(text: str) -> None:
    assert impure(ast.parse(text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import torch\ntorch.load(path)",
        "torch.load(path, weights_only=False)",
        "numpy.load(path, allow_pickle=True)",
    ],
)
def test_a_pickle_is_seen(text: str) -> None:
    assert pickles(ast.parse(text)) != []
