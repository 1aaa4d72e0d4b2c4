"""Frozen data classes (`phalanx.frozen`) to JSON and back, without a library.

Only what the records need: str, int, float, bool, None, tuples, enums of strings and nested
frozen dataclasses. Unknown members are ignored when reading (a newer release may add some);
missing ones take the field's default.
"""

from __future__ import annotations

import json
from enum import Enum
from functools import cache, lru_cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from phalanx.frozen import field_names

T = TypeVar("T")


def dumps(value: Any) -> bytes:
    """Compact JSON with sorted keys: equal values give equal bytes."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":")).encode()


def loads(kind: type[T], data: bytes) -> T:
    """The value that `dumps` wrote. Raises `ValueError` when the bytes are something else."""
    try:
        key: Any = kind
        value: T = _parsed(key, data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from error
    return value


@lru_cache(maxsize=256)
def _parsed(kind: Any, data: bytes) -> Any:
    """Values are frozen, and the same few objects are read again at every look."""
    return build(kind, json.loads(data))


def plain(value: Any) -> Any:
    """Nested frozen classes, tuples and enums as plain JSON values."""
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
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _build_union(kind, raw)
    if origin is tuple:
        args = get_args(kind)
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(build(args[0], item) for item in raw)
        return tuple(build(arg, item) for arg, item in zip(args, raw, strict=True))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(raw)
    if field_names(kind) is not None:
        return _build_dataclass(kind, raw)
    return raw


def _build_union(kind: Any, raw: Any) -> Any:
    if raw is None:
        return None
    return build(next(arg for arg in get_args(kind) if arg is not type(None)), raw)


def _build_dataclass(kind: Any, raw: Any) -> Any:
    values = {}
    for name, hint, required in _shape(kind):
        if name in raw:
            values[name] = build(hint, raw[name])
        elif required:
            raise KeyError(name)
    return kind(**values)


@cache
def _shape(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    hints = get_type_hints(kind)
    return tuple((name, hints[name], name not in kind.__dict__) for name in field_names(kind) or ())
