"""Terraform's functions that need nothing but their arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from phalanx.lint.values import HOLE, UNKNOWN, Unknown


@dataclass(frozen=True)
class Encoded:
    """What `jsonencode` was given: a text whose content is known as data."""

    value: Any


def as_text(value: Any) -> str:
    """A value inside a template; an unknown one is a hole."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Encoded):
        try:
            return json.dumps(value.value)
        except (TypeError, ValueError):
            return HOLE
    return HOLE


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        if any(isinstance(a, Unknown) for a in arguments):
            return UNKNOWN
        return function(*arguments)

    return call


def _concat(*lists: Any) -> Any:
    out: list[Any] = []
    for part in lists:
        if isinstance(part, list):
            out += part
        else:
            out.append(UNKNOWN)
    return out


def _merge(*maps: Any) -> Any:
    if any(isinstance(part, Unknown) for part in maps):
        return UNKNOWN
    out: dict[str, Any] = {}
    for part in maps:
        out.update(part or {})
    return out


def _join(separator: Any, parts: Any) -> Any:
    if not isinstance(separator, str) or not isinstance(parts, list):
        return UNKNOWN
    return separator.join(as_text(part) for part in parts)


def _format(pattern: Any, *arguments: Any) -> Any:
    if not isinstance(pattern, str):
        return UNKNOWN
    rest = list(arguments)
    out, n = "", 0
    while n < len(pattern):
        if pattern[n] == "%" and n + 1 < len(pattern):
            end = n + 1
            while end < len(pattern) and not (pattern[end].isalpha() or pattern[end] == "%"):
                end += 1
            out += "%" if pattern[end : end + 1] == "%" else as_text(rest.pop(0))
            n = end + 1
        else:
            out += pattern[n]
            n += 1
    return out


def _lookup(mapping: Any, key: Any, *default: Any) -> Any:
    if isinstance(mapping, dict) and isinstance(key, str):
        return mapping.get(key, default[0] if default else UNKNOWN)
    return UNKNOWN


def _flatten(value: Any) -> Any:
    out: list[Any] = []
    for item in value:
        out += _flatten(item) if isinstance(item, list) else [item]
    return out


def _coalesce(*values: Any) -> Any:
    for value in values:
        if isinstance(value, Unknown):
            return UNKNOWN
        if value not in (None, "", []):
            return value
    return None


def _try(*values: Any) -> Any:
    return next((v for v in values if not isinstance(v, Unknown)), UNKNOWN)


def _decode(text: Any) -> Any:
    if isinstance(text, Encoded):
        return text.value
    return json.loads(text) if isinstance(text, str) else UNKNOWN


def _same(value: Any, *_rest: Any) -> Any:
    return value


def _unique(values: Any) -> Any:
    out: list[Any] = []
    for value in values:
        if value not in out:
            out.append(value)
    return out


def _number(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return value
    return float(value) if "." in value else int(value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "jsonencode": Encoded,
    "jsondecode": _decode,
    "base64encode": _same,
    "base64gzip": _same,
    "base64decode": _same,
    "sensitive": _same,
    "nonsensitive": _same,
    "tolist": _same,
    "tomap": _same,
    "tostring": lambda v: v if isinstance(v, Unknown) else as_text(v),
    "tonumber": _strict(_number),
    "tobool": _strict(lambda v: v if isinstance(v, bool) else {"true": True, "false": False}[v]),
    "toset": _strict(_unique),
    "distinct": _strict(_unique),
    "concat": _concat,
    "merge": _merge,
    "join": _join,
    "format": _format,
    "lookup": _lookup,
    "flatten": _strict(_flatten),
    "coalesce": _coalesce,
    "coalescelist": _coalesce,
    "try": _try,
    "can": lambda v: UNKNOWN if isinstance(v, Unknown) else True,
    "split": _strict(lambda separator, text: text.split(separator)),
    "element": _strict(lambda values, n: values[n % len(values)]),
    "length": _strict(len),
    "compact": _strict(lambda values: [v for v in values if v not in (None, "")]),
    "keys": _strict(lambda m: sorted(m)),
    "values": _strict(lambda m: [m[k] for k in sorted(m)]),
    "contains": _strict(lambda values, v: v in values),
    "reverse": _strict(lambda values: values[::-1]),
    "sort": _strict(sorted),
    "slice": _strict(lambda values, a, b: values[a:b]),
    "one": _strict(lambda values: values[0] if values else None),
    "range": _strict(lambda *a: list(range(*a))),
    "zipmap": _strict(lambda k, v: dict(zip(k, v, strict=True))),
    "max": _strict(max),
    "min": _strict(min),
    "ceil": _strict(lambda v: int(-(-v // 1))),
    "floor": _strict(lambda v: int(v // 1)),
    "abs": _strict(abs),
    "lower": _strict(lambda t: t.lower()),
    "upper": _strict(lambda t: t.upper()),
    "title": _strict(lambda t: t.title()),
    "trimspace": _strict(lambda t: t.strip()),
    "chomp": _strict(lambda t: t.rstrip("\r\n")),
    "trimprefix": _strict(lambda t, p: t.removeprefix(p)),
    "trimsuffix": _strict(lambda t, p: t.removesuffix(p)),
    "replace": _strict(lambda t, a, b: UNKNOWN if a.startswith("/") else t.replace(a, b)),
    "substr": _strict(lambda t, a, n: t[a:] if n < 0 else t[a : a + n]),
    "startswith": _strict(lambda t, p: t.startswith(p)),
    "endswith": _strict(lambda t, p: t.endswith(p)),
    "indent": _strict(lambda n, t: t.replace("\n", "\n" + " " * n)),
}
