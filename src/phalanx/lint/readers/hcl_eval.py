"""Works out HCL expressions as far as the files say; the rest is unknown, or a hole in a text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from phalanx.lint.readers.hcl import Syntax, text_of
from phalanx.lint.readers.hcl_functions import FUNCTIONS, as_text
from phalanx.lint.values import HOLE, UNKNOWN, Ref, Unknown

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_DEPTH = 60


class Names(Protocol):
    """What names mean in one module."""

    def root(self, name: str, path: Sequence[str]) -> tuple[Any, int] | None:
        """(value, how many steps of `path` were used); None when the name is not known."""

    def expand(self, value: Ref) -> list[Any] | None:
        """The instances of a counted resource; None when their number is not known."""

    def call(self, name: str, arguments: list[Any]) -> Any:
        """A function that reads files; `UNKNOWN` for any other."""


@dataclass
class Evaluator:
    """Evaluates in one module, with the variables of surrounding `for` expressions."""

    names: Names
    local: dict[str, Any]
    depth: int = 0

    def value(self, syntax: Syntax) -> Any:
        """The value of an expression."""
        if self.depth > _DEPTH:
            return UNKNOWN
        self.depth += 1
        try:
            return self._sequence([c for c in syntax.children if c.type != "comment"])
        finally:
            self.depth -= 1

    def _sequence(self, parts: list[Syntax]) -> Any:
        parts = [p for p in parts if p.type not in ("(", ")")]
        if not parts:
            return UNKNOWN
        first, rest = parts[0], parts[1:]
        if first.type == "variable_expr":
            return self._variable(text_of(first), rest)
        value = self._primary(first)
        return self._traverse(value, rest)

    def _primary(self, syntax: Syntax) -> Any:
        kind = syntax.type
        if kind == "expression":
            return self.value(syntax)
        if kind == "literal_value":
            return self._literal(syntax.named_children[0] if syntax.named_children else syntax)
        if kind == "template_expr":
            return self.template(syntax.named_children[0])
        if kind == "collection_value":
            inner = syntax.named_children[0]
            return self._object(inner) if inner.type == "object" else self._tuple(inner)
        if kind == "function_call":
            return self._function(syntax)
        if kind == "for_expr":
            return self._for(syntax.named_children[0])
        if kind == "operation":
            return self._operation(syntax.named_children[0])
        if kind == "conditional":
            return self._conditional(syntax)
        return UNKNOWN

    def _literal(self, syntax: Syntax) -> Any:
        text = text_of(syntax)
        if syntax.type == "numeric_lit":
            return float(text) if any(c in text for c in ".eE") else int(text)
        if syntax.type == "bool_lit":
            return text == "true"
        if syntax.type == "null_lit":
            return None
        return self.template(syntax)

    def template(self, syntax: Syntax) -> Any:
        """A quoted text or heredoc; a text that is one interpolation keeps its kind."""
        heredoc = syntax.type == "heredoc_template"
        raw: bytes = syntax.text
        at, end = _inside(syntax, raw)
        out: list[Any] = []
        for child in syntax.named_children:
            if child.type not in ("template_interpolation", "template_directive"):
                continue
            out.append(_plain(raw[at : child.start_byte - syntax.start_byte], heredoc))
            inner = _first(child, "expression")
            known = child.type == "template_interpolation" and inner is not None
            out.append(self.value(inner) if known else UNKNOWN)
            at = child.end_byte - syntax.start_byte
        out.append(_plain(raw[at:end], heredoc))
        if len(out) == 3 and not heredoc and out[0] == out[2] == "":
            return out[1]
        text = "".join(as_text(part) for part in out)
        return _dedent(text) if raw.startswith(b"<<-") else text

    def _tuple(self, syntax: Syntax) -> Any:
        return [self.value(c) for c in syntax.named_children if c.type == "expression"]

    def _object(self, syntax: Syntax) -> Any:
        out: dict[str, Any] = {}
        for element in syntax.named_children:
            if element.type == "object_elem":
                key = self.key(element.named_children[0])
                if key is not None:
                    out[key] = self.value(element.named_children[-1])
        return out

    def key(self, syntax: Syntax) -> str | None:
        """The key of an object element: a bare word is itself."""
        text = text_of(syntax)
        if text.replace("_", "a").replace("-", "a").isalnum():
            return text
        value = self.value(syntax)
        return value if isinstance(value, str) else None

    def _function(self, syntax: Syntax) -> Any:
        name = text_of(syntax.named_children[0])
        holder = next((c for c in syntax.named_children if c.type == "function_arguments"), None)
        given = [c for c in holder.named_children if c.type == "expression"] if holder else []
        arguments = [self.value(c) for c in given]
        if holder is not None and any(c.type == "ellipsis" for c in holder.children):
            last = arguments.pop() if arguments else UNKNOWN
            if not isinstance(last, list):
                return UNKNOWN
            arguments += last
        function = FUNCTIONS.get(name)
        if function is None:
            return self.names.call(name, arguments)
        try:
            return function(*arguments)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            return UNKNOWN

    def _variable(self, name: str, rest: list[Syntax]) -> Any:
        if name in self.local:
            return self._traverse(self.local[name], rest)
        path = []
        for part in rest:
            if part.type != "get_attr":
                break
            path.append(text_of(part.named_children[0]))
        found = self.names.root(name, path)
        if found is None:
            return UNKNOWN
        value, used = found
        return self._traverse(value, rest[used:])

    def _traverse(self, value: Any, rest: list[Syntax]) -> Any:
        for n, part in enumerate(rest):
            if part.type == "get_attr":
                value = member(value, text_of(part.named_children[0]))
            elif part.type == "index":
                value = self._index(value, part)
            elif part.type == "splat":
                inner = part.named_children[0]
                items = self.items(value)
                if items is None:
                    return UNKNOWN
                after = [*inner.named_children, *rest[n + 1 :]]
                return [self._traverse(item, after) for item in items]
        return value

    def _index(self, value: Any, part: Syntax) -> Any:
        inner = part.named_children[0]
        expression = next((c for c in inner.named_children if c.type == "expression"), None)
        if expression is None:
            digits = text_of(inner).strip(".[]")
            key: Any = int(digits) if digits.isdigit() else UNKNOWN
        else:
            key = self.value(expression)
        if isinstance(value, Ref) and not value.attribute and isinstance(key, (int, str)):
            return Ref(value.address + _bracketed(key), "")
        return member(value, key)

    def items(self, value: Any) -> list[Any] | None:
        """The members of a list, of an object's values, or of a counted resource."""
        if isinstance(value, Ref):
            return self.names.expand(value)
        if isinstance(value, list):
            return value
        if isinstance(value, dict):
            return list(value.values())
        return [] if value is None else None

    def _for(self, syntax: Syntax) -> Any:
        intro = _first(syntax, "for_intro")
        names = _texts(intro, "identifier")
        pairs = self._pairs(self.value(_first(intro, "expression")))
        if pairs is None:
            return UNKNOWN
        made: list[tuple[Any, Any]] = []
        for key, item in pairs:
            bound = {names[0]: item} if len(names) == 1 else {names[0]: key, names[1]: item}
            inner = Evaluator(self.names, {**self.local, **bound}, self.depth)
            wanted = inner.wants(syntax)
            if isinstance(wanted, Unknown):
                return UNKNOWN
            if wanted:
                values = [inner.value(c) for c in syntax.named_children if c.type == "expression"]
                made.append((values[0], values[-1]))
        if syntax.type == "for_tuple_expr":
            return [first for first, _ in made]
        return {as_text(first): last for first, last in made}

    def wants(self, syntax: Syntax) -> Any:
        """Whether the condition of a `for` expression holds; True without one."""
        condition = _first(syntax, "for_cond")
        return True if condition is None else self.value(condition.named_children[-1])

    def _pairs(self, source: Any) -> list[tuple[Any, Any]] | None:
        if isinstance(source, dict):
            return list(source.items())
        items = self.items(source)
        return list(enumerate(items)) if items is not None else None

    def _conditional(self, syntax: Syntax) -> Any:
        parts = [c for c in syntax.named_children if c.type == "expression"]
        if len(parts) != 3:
            return UNKNOWN
        condition = self.value(parts[0])
        if isinstance(condition, Unknown):
            return UNKNOWN
        return self.value(parts[1] if condition in (True, "true") else parts[2])

    def _operation(self, syntax: Syntax) -> Any:
        children = syntax.children
        if syntax.type == "unary_operation":
            value = self._sequence(list(children[1:]))
            if isinstance(value, Unknown):
                return UNKNOWN
            if children[0].type == "!":
                return not value
            return -value if isinstance(value, (int, float)) else UNKNOWN
        at = next((n for n, c in enumerate(children) if c.type in _OPERATORS), None)
        if at is None:
            return UNKNOWN
        left = self._sequence(list(children[:at]))
        right = self._sequence(list(children[at + 1 :]))
        return _apply(children[at].type, left, right)


def _texts(syntax: Syntax, kind: str) -> list[str]:
    return [text_of(c) for c in syntax.named_children if c.type == kind]


def _first(syntax: Syntax, kind: str) -> Syntax:
    return next((c for c in syntax.named_children if c.type == kind), None)


def member(value: Any, key: Any) -> Any:
    """`value.key` or `value[key]`; unknown when either cannot be known."""
    if isinstance(value, Ref):
        if isinstance(key, (Unknown, type(None))):
            return UNKNOWN
        if value.attribute:
            return Ref(value.address, f"{value.attribute}{_bracketed(key)}")
        return Ref(value.address, str(key))
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key, UNKNOWN)
    if isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
        return value[key]
    return UNKNOWN


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}


def _bracketed(key: int | str) -> str:
    return f"[{key}]" if isinstance(key, int) else f'["{key}"]'


def _apply(sign: str, left: Any, right: Any) -> Any:
    known = [v for v in (left, right) if not isinstance(v, Unknown)]
    if sign == "&&" and any(v is False for v in known):
        return False
    if sign == "||" and any(v is True for v in known):
        return True
    if len(known) < 2 or any(isinstance(v, str) and HOLE in v for v in known):
        return UNKNOWN
    try:
        return _OPERATORS[sign](left, right)
    except (TypeError, ZeroDivisionError):
        return UNKNOWN


def _inside(syntax: Syntax, raw: bytes) -> tuple[int, int]:
    """The bytes of a template between its quotes, or between the lines of its identifiers."""
    if syntax.type != "heredoc_template":
        return 1, len(raw) - 1
    last = syntax.named_children[-1].start_byte - syntax.start_byte
    return raw.find(b"\n") + 1, max(raw.rfind(b"\n", 0, last) + 1, raw.find(b"\n") + 1)


def _plain(raw: bytes, heredoc: bool) -> str:
    text = raw.decode("utf-8", "replace")
    return text.replace("$${", "${") if heredoc else _unescape(text)


def _unescape(text: str) -> str:
    if "\\" not in text and "$${" not in text:
        return text
    out, n = [], 0
    while n < len(text):
        if text[n] == "\\" and n + 1 < len(text):
            out.append(_ESCAPES.get(text[n + 1], text[n : n + 2]))
            n += 2
        else:
            out.append(text[n])
            n += 1
    return "".join(out).replace("$${", "${")


def _dedent(text: str) -> str:
    lines = text.split("\n")
    widths = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    width = min(widths, default=0)
    return "\n".join(line[width:] for line in lines)
