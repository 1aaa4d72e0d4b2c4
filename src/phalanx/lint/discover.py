"""Finds the rules: every module below `phalanx.lint.rules` may hold some."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from phalanx.lint import rules as package
from phalanx.lint.rule import Rule

_ON = re.compile(r"^    on=(\w+),$", re.MULTILINE)


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule[Any], ...]:
    """Every rule, by id. Two rules of one id or slug are an error of ours."""
    return _rules(_modules())


def rules_on(kinds: frozenset[str]) -> tuple[Rule[Any], ...]:
    """The rules whose kind of entity is among these class names; others are not even imported."""
    wanted = [name for name, path in _modules().items() if _may_be_on(path, kinds)]
    return tuple(rule for rule in _rules(wanted) if rule.on.__name__ in kinds)


def find_rule(word: str) -> Rule[Any] | None:
    """The rule of that id or slug."""
    folded = word.lower()
    return next((r for r in all_rules() if folded in (r.id.lower(), r.slug)), None)


def _rules(names: Iterable[str]) -> tuple[Rule[Any], ...]:
    found: dict[str, Rule[Any]] = {}
    slugs: set[str] = set()
    for name in names:
        for value in vars(importlib.import_module(name)).values():
            if not isinstance(value, Rule) or found.get(value.id) is value:
                continue
            if value.id in found or value.slug in slugs:
                raise ValueError(f"two rules are called {value.id} or {value.slug}")
            found[value.id] = value
            slugs.add(value.slug)
    return tuple(found[key] for key in sorted(found))


def _may_be_on(path: Path, kinds: frozenset[str]) -> bool:
    """By the text of the module, as importing all of them costs more than linting one file."""
    try:
        text = path.read_text("utf-8")
    except OSError:
        return True
    found = _ON.findall(text)
    return len(found) != text.count("@rule(") or not kinds.isdisjoint(found)


@lru_cache(maxsize=1)
def _modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in package.__path__:
        for area in Path(folder).iterdir():
            if area.suffix or area.name.startswith("_"):
                continue
            for path in area.iterdir():
                if path.suffix == ".py" and path.stem != "__init__":
                    found[f"{package.__name__}.{area.name}.{path.stem}"] = path
    return dict(sorted(found.items()))
