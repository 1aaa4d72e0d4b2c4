"""Public names: what `import phalanx` offers, and words that the house does not use."""

from __future__ import annotations

import ast
import re

import phalanx
from tests.house.tree import PACKAGE, Module, classes, functions, modules

PUBLIC = [
    "PhalanxError",
    "checkpoints",
    "ledger",
    "logs",
    "metrics",
    "pause",
    "ps",
    "resume",
    "rm",
    "run",
    "stacks",
    "status",
    "stop",
    "wait",
    "why",
]
"""Names that scripts may rely on; a removal here is a break of the contract."""

UNWELCOME = frozenset({"util", "helper", "manager", "handler", "worker", "service"})


def test_the_public_names_are_exactly_these() -> None:
    assert phalanx.__all__ == PUBLIC
    assert sorted(phalanx.__all__) == phalanx.__all__


def test_every_public_name_is_there_and_documented() -> None:
    for name in phalanx.__all__:
        assert (getattr(phalanx, name).__doc__ or "").strip(), name


def says_nothing(module: Module) -> list[str]:
    """Names of a module that are only words of filling.

    What is read by lint and explain has words of its own: services of ECS, workers of a loader.
    """
    foreign = {"service", "worker"} if module.room in ("lint", "explain") else set()
    unwelcome = UNWELCOME - foreign
    names = [module.path.stem, *(node.name for node in classes(module))]
    names += [node.name for _, node in functions(module)]
    words = {name: set(re.findall(r"[A-Z]?[a-z]+", name)) for name in names}
    return [n for n in names if unwelcome & {w.lower().removesuffix("s") for w in words[n]}]


def test_no_name_says_nothing() -> None:
    found = {module.name: says_nothing(module) for module in modules()}
    assert {name: what for name, what in found.items() if what} == {}


def test_an_unwelcome_name_is_seen() -> None:
    path = PACKAGE / "state" / "small.py"
    text = "class RankManager:\n    def run_helpers(self): pass\n    def fine(self): pass\n"
    names = says_nothing(Module(path, text, ast.parse(text)))
    assert names == ["RankManager", "run_helpers"]


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
