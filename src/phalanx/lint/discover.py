"""Finds the rules: every module below `phalanx.lint.rules` may hold some."""

from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from phalanx.lint import rules as package
from phalanx.lint.rule import Rule


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule[Any], ...]:
    """Every rule, by id. Two rules of one id or slug are an error of ours."""
    found: dict[str, Rule[Any]] = {}
    slugs: set[str] = set()
    for name in _modules():
        for value in vars(importlib.import_module(name)).values():
            if not isinstance(value, Rule) or found.get(value.id) is value:
                continue
            if value.id in found or value.slug in slugs:
                raise ValueError(f"two rules are called {value.id} or {value.slug}")
            found[value.id] = value
            slugs.add(value.slug)
    return tuple(found[key] for key in sorted(found))


def find_rule(word: str) -> Rule[Any] | None:
    """The rule of that id or slug."""
    folded = word.lower()
    return next((r for r in all_rules() if folded in (r.id.lower(), r.slug)), None)


def _modules() -> list[str]:
    names = []
    for folder in package.__path__:
        for area in Path(folder).iterdir():
            if area.suffix or area.name.startswith("_"):
                continue
            for path in area.iterdir():
                if path.suffix == ".py" and path.stem != "__init__":
                    names.append(f"{package.__name__}.{area.name}.{path.stem}")
    return sorted(names)
