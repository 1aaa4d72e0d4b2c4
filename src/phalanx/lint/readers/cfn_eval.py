"""CloudFormation's intrinsic functions, under one assumption about the parameters."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Path
from phalanx.lint.values import HOLE, UNKNOWN, Ref, Unknown

NO_VALUE = object()
_SUB = Pattern(r"\$\{([^!}][^}]*)\}")
_ASSUMPTIONS_MAX = 24
_ZONES = 6


def tag_meaning(tag: str, value: object) -> tuple[str, object] | None:
    """`!Ref`, `!Sub`, ... as the long form of the same function."""
    name = tag.removeprefix("!")
    if not tag.startswith("!") or not name.isalnum():
        return None
    if name == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return (name if name in ("Ref", "Condition") else f"Fn::{name}"), value


class Template:
    """Parameters, mappings and conditions of a template; `assume` fixes parameter values."""

    def __init__(self, value: dict[str, Any], assume: dict[str, Any] | None = None) -> None:
        self.parameters = _section(value, "Parameters")
        self.mappings = _section(value, "Mappings")
        self.conditions = _section(value, "Conditions")
        self.resources = _section(value, "Resources")
        self.assume = assume or {}
        self._open: set[str] = set()

    def resolve(self, value: Any) -> Any:
        """The value with every function worked out; `NO_VALUE` members are left out."""
        if isinstance(value, dict):
            name = function(value)
            if name is not None:
                return self._call(name, value[name])
            pairs = ((key, self.resolve(item)) for key, item in value.items())
            return {key: item for key, item in pairs if item is not NO_VALUE}
        if isinstance(value, list):
            items = (self.resolve(item) for item in value)
            return [item for item in items if item is not NO_VALUE]
        return value

    def enter(self, value: object) -> tuple[object, Path] | None:
        """Steps into the branch of `Fn::If` that the assumption takes, and into `Fn::Base64`."""
        if not isinstance(value, dict):
            return None
        name = function(value)
        inner = value[name] if name else None
        if name == "Fn::If" and isinstance(inner, list) and len(inner) == 3:
            branch = 1 if self.holds(inner[0]) else 2
            return inner[branch], (name, branch)
        return None

    def holds(self, condition: object) -> bool:
        """Whether a named or written condition holds; what cannot be known counts as true."""
        if isinstance(condition, str):
            if condition not in self.conditions or condition in self._open:
                return True
            self._open.add(condition)
            try:
                return self.holds(self.conditions[condition])
            finally:
                self._open.discard(condition)
        if not isinstance(condition, dict) or len(condition) != 1:
            return True
        name, inner = next(iter(condition.items()))
        parts = inner if isinstance(inner, list) else [inner]
        if name == "Fn::And":
            return all(self.holds(part) for part in parts)
        if name == "Fn::Or":
            return any(self.holds(part) for part in parts)
        if name == "Fn::Not":
            return not self.holds(parts[0])
        if name == "Fn::Equals" and len(parts) == 2:
            left, right = self.resolve(parts[0]), self.resolve(parts[1])
            return str(left) == str(right)
        return self.holds(inner) if name == "Condition" else True

    def _call(self, name: str, inner: Any) -> Any:
        if name == "Ref":
            return self._ref(inner)
        if name == "Fn::GetAtt":
            return _attribute_of(inner)
        if name == "Fn::If" and isinstance(inner, list) and len(inner) == 3:
            return self.resolve(inner[1] if self.holds(inner[0]) else inner[2])
        if name in ("Fn::Base64", "Fn::ToJsonString"):
            return self.resolve(inner)
        if name == "Fn::Sub":
            return self._sub(inner)
        return self._pure(name, inner)

    def _pure(self, name: str, inner: Any) -> Any:
        if name == "Fn::GetAZs":
            return [Ref("Fn::GetAZs", str(n)) for n in range(_ZONES)]
        parts = self.resolve(inner)
        pure = {"Fn::Join": _join, "Fn::Select": _select, "Fn::Split": _split}.get(name)
        if pure is not None and isinstance(parts, list) and len(parts) == 2:
            return pure(parts[0], parts[1])
        if name == "Fn::FindInMap" and isinstance(parts, list) and len(parts) >= 3:
            return self._find(parts)
        return UNKNOWN

    def _ref(self, name: Any) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        if not isinstance(name, str):
            return UNKNOWN
        if name in self.assume:
            return self.assume[name]
        if name in self.resources:
            return Ref(name)
        return parameter_value(self.parameters.get(name))

    def _sub(self, inner: Any) -> Any:
        names: dict[str, Any] = {}
        if isinstance(inner, list) and len(inner) == 2 and isinstance(inner[1], dict):
            inner, names = inner[0], inner[1]
        if not isinstance(inner, str):
            return UNKNOWN

        def value_of(key: str) -> Any:
            key = key.strip()
            if key in names:
                return self.resolve(names[key])
            return Ref(*key.split(".", 1)) if "." in key else self._ref(key)

        whole = _SUB.fullmatch(inner)
        if whole:
            return value_of(whole[1])
        return _SUB.sub(lambda m: _as_text(value_of(m[1])), inner).replace("${!", "${")

    def _find(self, parts: list[Any]) -> Any:
        found: Any = self.mappings
        for part in parts[:3]:
            if not isinstance(part, (str, int)) or not isinstance(found, dict):
                return UNKNOWN
            if str(part) not in found:
                return UNKNOWN
            found = found[str(part)]
        return self.resolve(found)


def function(value: dict[str, Any]) -> str | None:
    """The name of the intrinsic function that a mapping is; None for plain data."""
    if len(value) != 1:
        return None
    name = next(iter(value))
    return name if name == "Ref" or (isinstance(name, str) and name.startswith("Fn::")) else None


def parameter_value(parameter: Any) -> Any:
    """The default of a parameter, typed; unknown without one."""
    if not isinstance(parameter, dict) or "Default" not in parameter:
        return UNKNOWN
    kind = str(parameter.get("Type", "String"))
    default = parameter["Default"]
    if kind.startswith("AWS::SSM::") and str(default).startswith("/aws/service/"):
        # A public parameter: the same as the dynamic reference, and its name says what it holds.
        return f"{{{{resolve:ssm:{default}}}}}"
    if "SSM" in kind or parameter.get("NoEcho") in (True, "true"):
        return UNKNOWN
    if kind.startswith("List<") or kind == "CommaDelimitedList":
        return [part.strip() for part in str(default).split(",")] if default != "" else []
    return default


def assumptions(template: Template) -> list[dict[str, Any]]:
    """Parameter values to try, so that every condition is once true and once false."""
    compared: dict[str, list[Any]] = {}
    _collect(template.conditions, compared)
    for name, values in compared.items():
        default = parameter_value(template.parameters.get(name))
        others = [default if not isinstance(default, Unknown) else "(another value)"]
        parameter = template.parameters.get(name)
        allowed = parameter.get("AllowedValues", []) if isinstance(parameter, dict) else []
        values[:] = list(dict.fromkeys(others + (list(allowed)[:6] or values)))
        if len(values) == 1:
            values.append("(another value)")
    if not compared:
        return [{}]
    size = 1
    for values in compared.values():
        size *= len(values)
    names = list(compared)
    if size <= _ASSUMPTIONS_MAX:
        return [dict(zip(names, chosen, strict=True)) for chosen in product(*compared.values())]
    base = {name: values[0] for name, values in compared.items()}
    single = [{**base, name: value} for name in names for value in compared[name][1:]]
    return [base, *single][:_ASSUMPTIONS_MAX]


def _collect(value: Any, compared: dict[str, list[Any]]) -> None:
    if isinstance(value, dict):
        pair = value.get("Fn::Equals")
        if isinstance(pair, list) and len(pair) == 2:
            for this, other in (pair, pair[::-1]):
                name = this.get("Ref") if isinstance(this, dict) else None
                if isinstance(name, str) and isinstance(other, (str, int, bool)):
                    compared.setdefault(name, []).append(other)
        for item in value.values():
            _collect(item, compared)
    elif isinstance(value, list):
        for item in value:
            _collect(item, compared)


def _section(value: dict[str, Any], name: str) -> dict[str, Any]:
    section = value.get(name)
    return section if isinstance(section, dict) else {}


def _attribute_of(inner: Any) -> Any:
    parts = inner.split(".", 1) if isinstance(inner, str) else inner
    whole = isinstance(parts, list) and all(isinstance(p, str) for p in parts)
    return Ref(parts[0], ".".join(parts[1:])) if whole and parts else UNKNOWN


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    return json.dumps(value) if isinstance(value, dict) and value else HOLE


def _join(separator: Any, parts: Any) -> Any:
    if not isinstance(separator, str) or not isinstance(parts, list):
        return UNKNOWN
    return separator.join(_as_text(part) for part in parts)


def _select(index: Any, parts: Any) -> Any:
    if not isinstance(parts, list) or not str(index).isdigit() or int(index) >= len(parts):
        return UNKNOWN
    return parts[int(index)]


def _split(separator: Any, text: Any) -> Any:
    if not isinstance(separator, str) or not isinstance(text, str) or not separator:
        return UNKNOWN
    return [UNKNOWN if part == HOLE else part for part in text.split(separator)]
