"""Frozen data classes that cost little to define.

`dataclasses` takes most of an agent's start: it imports `inspect` and compiles six methods for
every class. `@frozen` compiles one. The classes behave like `@dataclass(frozen=True)`: same
constructor, equality, hash and repr, and `dataclasses.replace` or `fields` work on them too
(only then is that module imported). Defaults must be immutable.
"""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from typing import dataclass_transform

    @dataclass_transform(frozen_default=True)
    def frozen(cls: type[T]) -> type[T]:
        """A frozen data class."""
        ...

    def replace(value: T, /, **changes: Any) -> T:
        """A copy with some fields changed. Raises `TypeError` for unknown names."""
        ...
else:

    def frozen(cls):
        """A frozen data class."""
        names = tuple(cls.__dict__.get("__annotations__", ()))  # noqa: RUF063 - inspect is slow
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        cls.__frozen_fields__ = names
        cls.__match_args__ = names
        cls.__init__ = _constructor(cls, names, defaults)
        values = _values(names)
        cls.__eq__ = lambda self, other: (
            values(self) == values(other) if other.__class__ is cls else NotImplemented
        )
        cls.__hash__ = lambda self: hash(values(self))
        cls.__repr__ = _repr
        cls.__setattr__ = _refuse
        cls.__delattr__ = _refuse
        cls.__dataclass_fields__ = _LazyFields()
        cls.__dataclass_params__ = None
        return cls

    def replace(value, /, **changes):
        """A copy with some fields changed. Raises `TypeError` for unknown names."""
        kept = {name: getattr(value, name) for name in value.__frozen_fields__}
        return value.__class__(**{**kept, **changes})


def field_names(kind: Any) -> tuple[str, ...] | None:
    """Names of a frozen class's (or its instance's) fields; None for any other type."""
    return getattr(kind, "__frozen_fields__", None)


class FrozenError(AttributeError):
    """A field of a frozen value was assigned."""


def _constructor(cls: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    words = ", ".join(f"{n}=_defaults[{n!r}]" if n in defaults else n for n in names)
    lines = [f"def __init__(self{', ' if names else ''}{words}):", " d = self.__dict__"]
    lines += [f" d[{name!r}] = {name}" for name in names]
    scope: dict[str, Any] = {"_defaults": defaults}
    exec("\n".join(lines), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _values(names: tuple[str, ...]) -> Any:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _repr(self: Any) -> str:
    words = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__frozen_fields__)
    return f"{self.__class__.__qualname__}({words})"


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise FrozenError(f"{self.__class__.__qualname__}.{name} cannot be changed; use replace()")


class _LazyFields:
    """`__dataclass_fields__`, made when somebody asks: for `dataclasses` and its friends."""

    def __get__(self, instance: Any, owner: Any) -> Any:
        import dataclasses

        names = owner.__frozen_fields__
        hints = sys.modules[owner.__module__].__dict__
        values = {n: owner.__dict__.get(n, dataclasses.MISSING) for n in names}
        twin = dataclasses.make_dataclass(
            owner.__name__,
            [
                (n, owner.__annotations__[n])
                if d is dataclasses.MISSING
                else (n, owner.__annotations__[n], dataclasses.field(default=d))
                for n, d in values.items()
            ],
            frozen=True,
            namespace={"__module__": hints.get("__name__", owner.__module__)},
        )
        found = twin.__dataclass_fields__  # type: ignore[attr-defined]
        owner.__dataclass_fields__ = found
        return found
