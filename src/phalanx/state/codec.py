"""Frozen data classes (`phalanx.frozen`) to JSON and back, without a library.

Only what the records need: str, int, float, bool, None, tuples, enums of strings and nested
frozen dataclasses. Unknown members are ignored when reading (a newer release may add some);
missing ones take the field's default.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from functools import cache, lru_cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from phalanx.errors import ObjectDamaged
from phalanx.frozen import field_names

T = TypeVar("T")
Builder = Callable[[Any], Any]
_AS_THEY_ARE = frozenset({str, int, float, bool, type(None)})
_LEAVES: dict[Any, frozenset[type]] = {
    str: frozenset({str}),
    int: frozenset({int}),
    bool: frozenset({bool}),
    float: frozenset({int, float}),
}


def dumps(value: Any) -> bytes:
    """Compact JSON with sorted keys: equal values give equal bytes."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":")).encode()


def loads(kind: type[T], data: bytes) -> T:
    """The value that `dumps` wrote.

    Raises `ObjectDamaged`, which is a `ValueError` too, when the bytes are something else.
    """
    try:
        key: Any = kind
        value: T = _parsed(key, data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ObjectDamaged(f"not a {kind.__name__}: {error}") from error
    return value


@lru_cache(maxsize=256)
def _parsed(kind: Any, data: bytes) -> Any:
    """Values are frozen, and the same few objects are read again at every look."""
    return build(kind, json.loads(data))


def plain(value: Any) -> Any:
    """Nested frozen classes, tuples and enums as plain JSON values."""
    if value.__class__ in _AS_THEY_ARE:
        return value
    names = field_names(value)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def build(kind: Any, raw: Any) -> Any:
    """The typed value of a plain one."""
    built = _builder(kind)
    return raw if built is None else built(raw)


@cache
def _builder(kind: Any) -> Builder | None:
    """What makes values of a type from plain ones; None when they are left as they are."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        inner = _builder(next(arg for arg in get_args(kind) if arg is not type(None)))
        return None if inner is None else lambda raw: None if raw is None else inner(raw)
    if origin is tuple:
        return _tuple_builder(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if kind in _LEAVES:
        return _leaf_builder(kind)
    return None if field_names(kind) is None else _class_builder(kind)


def _leaf_builder(kind: Any) -> Builder:
    """Whatever somebody else wrote under the root, a text is a text and a number a number."""
    allowed, name = _LEAVES[kind], kind.__name__

    def same(raw: Any) -> Any:
        if raw.__class__ not in allowed:
            raise TypeError(f"{raw.__class__.__name__} where {name} should be")
        return raw

    return same


def _tuple_builder(args: tuple[Any, ...]) -> Builder:
    if len(args) == 2 and args[1] is Ellipsis:
        item = _builder(args[0])
        return lambda raw: tuple(_items(raw) if item is None else map(item, _items(raw)))
    return lambda raw: tuple(build(arg, one) for arg, one in zip(args, _items(raw), strict=True))


def _items(raw: Any) -> Any:
    if raw.__class__ is not list and raw.__class__ is not tuple:
        raise TypeError(f"{raw.__class__.__name__} where a list should be")
    return raw


def _class_builder(kind: Any) -> Builder:
    hints = get_type_hints(kind)
    # A class may hold values of its own type: their builder is looked up when it is needed.
    members = [(name, hints[name], name not in kind.__dict__) for name in field_names(kind) or ()]
    ready: list[tuple[str, Builder | None, bool]] = []

    def made(raw: Any) -> Any:
        if not ready:
            ready[:] = [(name, _builder(hint), required) for name, hint, required in members]
        values = {}
        for name, built, required in ready:
            if name in raw:
                values[name] = raw[name] if built is None else built(raw[name])
            elif required:
                raise KeyError(name)
        return kind(**values)

    return made
