"""Places of members of Terraform resources: through blocks, `jsonencode` and local values."""

from __future__ import annotations

from phalanx.lint.place import Path, Place, Span, spell
from phalanx.lint.readers.hcl import Block, Body, HclFile, Syntax, text_of
from phalanx.lint.readers.tf_module import Module
from phalanx.lint.readers.tf_shapes import JSON_TEXT, Moves, Shape, own_words, snake

_WRAPPERS = frozenset(
    {"jsonencode", "base64encode", "base64gzip", "tolist", "sensitive", "tostring"}
)


class Spot:
    """A point in a file: the words that lead there, and the expression behind it, if any."""

    def __init__(
        self, words: Path, file: HclFile, syntax: Syntax, expression: Syntax | None
    ) -> None:
        self.words = words
        self.file = file
        self.syntax = syntax
        self.expression = expression

    def place(self, more: Path = ()) -> Place:
        """As a place; `more` are words of missing members."""
        line, column = self.file.position(self.syntax)
        return Place(self.file.name, spell((*self.words, *more)), line, column)


class ResourceOrigin:
    """Finds the members of one resource."""

    def __init__(self, module: Module, block: Block, shape: Shape, moves: Moves) -> None:
        self.module = module
        self.block = block
        self.shape = shape
        self.moves = moves
        self.file = block.file.name

    def locate(self, path: Path) -> Place:
        """The place of a member; a missing one is where it belongs."""
        spot, rest = self._find(path)
        in_json = any(step in JSON_TEXT for step in spot.words) or spot.words[0] == "local"
        if not in_json:
            rest = tuple(snake(s) if isinstance(s, str) else s for s in rest)
        return spot.place(() if _is_listed(spot) else rest)

    def span(self, path: Path) -> Span | None:
        """Where a scalar is written literally."""
        spot, rest = self._find(path)
        return None if rest else literal_span(spot)

    def _find(self, path: Path) -> tuple[Spot, Path]:
        labels = self.block.labels
        words: Path = ("module", labels[0]) if self.block.kind == "module" else labels[:2]
        start = Spot(words, self.block.file, self.block.syntax, None)
        own, left = own_words(self.shape, path, self.moves)
        if not own:
            return start, left
        spot, rest = into_body(start, self.block.body, own)
        if spot.expression is not None:
            return follow(self.module, spot, (*rest, *left))
        return spot, (*rest, *left)


class LocalOrigin:
    """Finds the members of a local value."""

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        block, attribute, expression = module.locals[name]
        self.spot = Spot(("local", name), block.file, attribute, expression)
        self.file = block.file.name

    def locate(self, path: Path) -> Place:
        """The place of a member; the words stop at the local's name for a list of variables."""
        spot, _ = follow(self.module, self.spot, path)
        line, column = spot.file.position(spot.syntax)
        return Place(spot.file.name, spell(self.spot.words), line, column)

    def span(self, path: Path) -> Span | None:
        """Where a scalar is written literally."""
        spot, rest = follow(self.module, self.spot, path)
        return None if rest else literal_span(spot)


def into_body(spot: Spot, body: Body, own: Path) -> tuple[Spot, Path]:
    """Along blocks and attributes; stops at an attribute or a missing member."""
    n = 0
    while n < len(own):
        name = own[n]
        pair = body.attributes.get(str(name))
        if pair is not None:
            found = Spot((*spot.words, name), spot.file, pair[0], pair[1])
            return found, own[n + 1 :]
        same = [b for b in body.blocks if name in (b.kind, b.labels[0] if b.labels else "")]
        if not same:
            return spot, own[n:]
        index = own[n + 1] if n + 1 < len(own) and isinstance(own[n + 1], int) else None
        block = same[index] if isinstance(index, int) and index < len(same) else same[0]
        words: Path = (*spot.words, name)
        if index is not None and len(same) > 1:
            words = (*words, index)
        spot = Spot(words, spot.file, block.syntax, None)
        body = block.body
        if block.kind == "dynamic":
            body = next((b.body for b in block.body.blocks if b.kind == "content"), body)
        n += 1 if index is None else 2
    return spot, ()


def follow(module: Module, spot: Spot, path: Path, depth: int = 0) -> tuple[Spot, Path]:
    """Along an expression: wrappers, locals, objects and lists; stops at anything computed."""
    spot = _unwrap(module, spot, depth)
    if not path or spot.expression is None:
        return spot, path
    inner = _only(spot.expression)
    step = path[0]
    if inner is None or inner.type != "collection_value":
        return spot, path
    holder = inner.named_children[0]
    found: tuple[Syntax, Syntax] | None = None
    if holder.type == "tuple" and isinstance(step, int):
        items = [c for c in holder.named_children if c.type == "expression"]
        found = (items[step], items[step]) if step < len(items) else None
    elif holder.type == "object" and isinstance(step, str):
        for element in holder.named_children:
            if element.type != "object_elem":
                continue
            if module.evaluator.key(element.named_children[0]) == step:
                found = (element, element.named_children[-1])
    if found is None:
        return spot, path
    words = spot.words if _is_listed(spot) else (*spot.words, step)
    return follow(module, Spot(words, spot.file, *found), path[1:], depth + 1)


def _unwrap(module: Module, spot: Spot, depth: int) -> Spot:
    while spot.expression is not None and depth < 40:
        depth += 1
        inner = _only(spot.expression)
        if inner is not None and inner.type == "function_call":
            name = text_of(inner.named_children[0])
            holder = next((c for c in inner.named_children if c.type == "function_arguments"), None)
            first = holder.named_children[0] if holder and holder.named_children else None
            if name not in _WRAPPERS or first is None:
                return spot
            spot = Spot(spot.words, spot.file, spot.syntax, first)
            continue
        local = _local_name(spot.expression)
        if local is None or local not in module.locals:
            return spot
        block, attribute, expression = module.locals[local]
        spot = Spot(("local", local), block.file, attribute, expression)
    return spot


def _is_listed(spot: Spot) -> bool:
    """A local that is a list of variables is reported as a whole."""
    return len(spot.words) == 2 and spot.words[0] == "local"


def _only(expression: Syntax) -> Syntax | None:
    children = [c for c in expression.children if c.type != "comment"]
    return children[0] if len(children) == 1 else None


def _local_name(expression: Syntax) -> str | None:
    children = [c for c in expression.children if c.type != "comment"]
    if len(children) == 2 and text_of(children[0]) == "local" and children[1].type == "get_attr":
        return text_of(children[1].named_children[0])
    return None


def literal_span(spot: Spot) -> Span | None:
    """The span of an expression that is one literal without interpolation."""
    inner = _only(spot.expression) if spot.expression is not None else None
    if inner is None or inner.type != "literal_value":
        return None
    start, end = spot.file.offset(inner.start_byte), spot.file.offset(inner.end_byte)
    return Span(spot.file.name, start, end, text_of(inner).startswith('"'))
