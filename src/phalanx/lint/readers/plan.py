"""`terraform show -json`: planned values, with what is only known after apply kept unknown."""

from __future__ import annotations

from typing import Any

from phalanx.lint.entity import Entity
from phalanx.lint.place import Path, Place, Span, spell
from phalanx.lint.readers.terraform import make
from phalanx.lint.readers.tf_shapes import SHAPES, Blocks, Moves, Shape, own_words, snake, translate
from phalanx.lint.values import UNKNOWN, Ref
from phalanx.spec.places import Document


class PlanOrigin:
    """Finds the members of one planned resource in the JSON of the plan."""

    def __init__(
        self, document: Document, base: Path, words: Path, shape: Shape, moves: Moves
    ) -> None:
        self.document = document
        self.file = document.file
        self.base = base
        self.words = words
        self.shape = shape
        self.moves = moves

    def locate(self, path: Path) -> Place:
        """The place of a member; a missing one is where it belongs."""
        own, left = own_words(self.shape, path, self.moves)
        steps = (*self.base, *own)
        line, column = self.document.key_place(steps)
        if not own:
            left = tuple(snake(s) if isinstance(s, str) else s for s in left)
        return Place(self.file, spell((*self.words, *self._shown(own), *left)), line, column)

    def span(self, path: Path) -> Span | None:
        """A plan is no source: nothing in it is repaired."""
        return None

    def _shown(self, own: Path) -> Path:
        """Without the index of a block that stands alone, as people write it."""
        out: list[str | int] = []
        value: Any = self._value()
        for n, step in enumerate(own):
            alone = isinstance(step, int) and isinstance(value, list) and len(value) == 1
            if not (alone and n and isinstance(value[0], dict)):
                out.append(step)
            value = _member(value, step)
        return tuple(out)

    def _value(self) -> Any:
        value: Any = self.document.value
        for step in self.base:
            value = _member(value, step)
        return value


def read_plan(document: Document) -> list[Entity]:
    """The entities of a plan."""
    value = document.value
    assert isinstance(value, dict)
    planned = value.get("planned_values")
    root = planned.get("root_module") if isinstance(planned, dict) else None
    unknown = _after_apply(value)
    refs = _references(value)
    out: list[Entity] = []
    for base, resource in _resources(root, ("planned_values", "root_module")):
        shape = SHAPES.get(str(resource.get("type")))
        values = resource.get("values")
        if shape is None or not isinstance(values, dict) or resource.get("mode") == "data":
            continue
        address = str(resource.get("address", ""))
        native = _native(values, unknown.get(address), refs.get(_config_address(address), {}))
        data, moves = translate(shape, native)
        words = (str(resource.get("type")), str(resource.get("name")))
        origin = PlanOrigin(document, (*base, "values"), words, shape, moves)
        out += make(shape, data, origin, address, (document.file, 0))
    return out


def _resources(module: object, base: Path) -> list[tuple[Path, dict[str, Any]]]:
    if not isinstance(module, dict):
        return []
    out: list[tuple[Path, dict[str, Any]]] = []
    for n, resource in enumerate(_list(module.get("resources"))):
        if isinstance(resource, dict):
            out.append(((*base, "resources", n), resource))
    for n, child in enumerate(_list(module.get("child_modules"))):
        out += _resources(child, (*base, "child_modules", n))
    return out


def _after_apply(value: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for change in _list(value.get("resource_changes")):
        if isinstance(change, dict) and isinstance(change.get("change"), dict):
            out[str(change.get("address"))] = change["change"].get("after_unknown")
    return out


def _references(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    configuration = value.get("configuration")
    root = configuration.get("root_module") if isinstance(configuration, dict) else None
    out: dict[str, dict[str, Any]] = {}
    _collect(root, "", out)
    return out


def _collect(module: object, prefix: str, out: dict[str, dict[str, Any]]) -> None:
    if not isinstance(module, dict):
        return
    for resource in _list(module.get("resources")):
        if isinstance(resource, dict) and isinstance(resource.get("expressions"), dict):
            found = _refs_of(resource["expressions"], prefix)
            out[prefix + str(resource.get("address"))] = found
    calls = module.get("module_calls")
    for name, call in calls.items() if isinstance(calls, dict) else ():
        if isinstance(call, dict):
            _collect(call.get("module"), f"{prefix}module.{name}.", out)


def _refs_of(expressions: dict[str, Any], prefix: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, expression in expressions.items():
        if isinstance(expression, list):
            out[name] = [_refs_of(e, prefix) for e in expression if isinstance(e, dict)]
        elif isinstance(expression, dict) and "references" in expression:
            out[name] = _ref_list(expression["references"], prefix)
        elif isinstance(expression, dict):
            out[name] = [_refs_of(expression, prefix)]
    return out


def _ref_list(references: object, prefix: str) -> list[Ref]:
    """The resources that an expression reads, the longest form of each once."""
    found: list[Ref] = []
    seen: set[str] = set()
    for text in _list(references):
        parts = str(text).split(".")
        if len(parts) < 3 or parts[0] in ("var", "local", "module", "each", "count", "path"):
            continue
        address = ".".join(parts[:2])
        if address not in seen and "_" in parts[0]:
            seen.add(address)
            found.append(Ref(prefix + address, ".".join(parts[2:])))
    return found


def _native(values: dict[str, Any], unknown: object, refs: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    held = unknown if isinstance(unknown, dict) else {}
    for key in {**values, **held}:
        value, gap, ref = values.get(key), held.get(key), refs.get(key)
        if gap is True:
            out[key] = _unknown(ref)
        elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            gaps = _list(gap)
            inner = _list(ref)
            out[key] = Blocks(
                _native(v, _at(gaps, n), _object(_at(inner, n))) for n, v in enumerate(value)
            )
        elif isinstance(value, list) and isinstance(gap, list) and True in gap:
            known = _list(ref)
            many = len(known) == len(gap)
            out[key] = [
                (known[n] if many else UNKNOWN) if _at(gap, n) is True else _at(value, n)
                for n in range(max(len(value), len(gap)))
            ]
        elif value is not None:
            out[key] = value
    return out


def _unknown(ref: object) -> Any:
    if isinstance(ref, list) and len(ref) == 1 and isinstance(ref[0], Ref):
        return ref[0]
    return UNKNOWN


def _config_address(address: str) -> str:
    out, depth = "", 0
    for char in address:
        depth += char == "["
        if not depth:
            out += char
        depth -= char == "]"
    return out


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _at(values: list[Any], n: int) -> Any:
    return values[n] if n < len(values) else None


def _member(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None
