"""The source as the house tests see it: parsed modules, functions and tracked files."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "phalanx"

PURE_ROOMS = frozenset(
    {"redaction", "spec", "plan", "verdict", "state", "reconcile", "facts", "lint", "explain"}
)
"""Rooms that decide, and never look, wait or act."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One parsed source file."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """`phalanx.state.gang`."""
        parts = self.path.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        """`state`; the module's own name at the top."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""

    @property
    def is_pure(self) -> bool:
        """Whether it is in a pure room, or renders."""
        return self.room in PURE_ROOMS or self.path.stem.startswith("render")

    @property
    def lines(self) -> int:
        """Lines of the file."""
        return self.text.count("\n")


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, sorted; not the script that `phalanx init` writes."""
    paths = sorted(set(PACKAGE.rglob("*.py")) - set(PACKAGE.rglob("starter/*.py")))
    texts = ((path, path.read_text()) for path in paths)
    return tuple(Module(path, text, ast.parse(text)) for path, text in texts)


def rooms() -> frozenset[str]:
    """Packages below `phalanx` that hold code."""
    return frozenset(m.room for m in modules() if m.path.parent != PACKAGE)


def functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Every function with its place, `phalanx.state.codec:build`; nested ones too."""
    for node, place in _walk(module.tree, ""):
        yield f"{module.name}:{place}", node


def _walk(tree: ast.AST, inside: str) -> Iterator[tuple[Function, str]]:
    for node in ast.iter_child_nodes(tree):
        name = inside
        if isinstance(node, (ast.ClassDef, Function)):
            name = f"{inside}.{node.name}" if inside else node.name
        if isinstance(node, Function):
            yield node, name
        yield from _walk(node, name)


def classes(module: Module) -> Iterator[ast.ClassDef]:
    """Every class of a module."""
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))


@cache
def project_files() -> tuple[Path, ...]:
    """Files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    paths = (ROOT / name for name in sorted(set(listed.stdout.split("\0"))) if name)
    return tuple(path for path in paths if path.is_file())
