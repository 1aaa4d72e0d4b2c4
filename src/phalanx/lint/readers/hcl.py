"""HCL: files as blocks and attributes, with the syntax tree behind every expression."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from phalanx.errors import InputError, SpecError

Syntax = Any
"""A node of the syntax tree (tree-sitter's `Node`)."""
_DEPTH_MAX = 50


@dataclass
class Body:
    """Attributes and blocks between two braces."""

    attributes: dict[str, tuple[Syntax, Syntax]] = field(default_factory=dict)
    """name → (the attribute, its expression)."""
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Block:
    """One block: `resource "aws_subnet" "a" { ... }`."""

    kind: str
    labels: tuple[str, ...]
    body: Body
    syntax: Syntax
    file: HclFile


@dataclass
class HclFile:
    """One parsed file."""

    name: str
    text: str
    body: Body = field(default_factory=Body)

    def position(self, syntax: Syntax) -> tuple[int, int]:
        """Line and column of a node, from 1."""
        row, column = syntax.start_point
        line = self.text.split("\n", row + 1)[row]
        return row + 1, len(line.encode()[:column].decode("utf-8", "replace")) + 1

    def offset(self, byte: int) -> int:
        """Offset in characters of an offset in bytes."""
        return len(self.text.encode()[:byte].decode("utf-8", "replace"))


@lru_cache(maxsize=1)
def _parser() -> Any:
    try:
        import tree_sitter
        import tree_sitter_hcl
    except ImportError as error:
        raise InputError(
            "reading Terraform files needs tree-sitter and tree-sitter-hcl",
            hint="install both, or lint the output of terraform show -json",
        ) from error
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_hcl.language()))


def parse(name: str, text: str) -> HclFile:
    """The blocks of a file. Raises `SpecError` where it is not HCL."""
    root = _parser().parse(text.encode()).root_node
    file = HclFile(name, text)
    if root.has_error:
        bad = _first_error(root)
        at = file.position(bad)
        raise SpecError("is not HCL from here on", file=name, at=at, hint="terraform fmt shows it")
    for child in root.named_children:
        if child.type == "body":
            file.body = _body(child, file)
    return file


def text_of(syntax: Syntax) -> str:
    """The source text of a node."""
    raw: bytes = syntax.text
    return raw.decode("utf-8", "replace")


def label(syntax: Syntax) -> str:
    """A block label or object key: an identifier, or a text in quotes."""
    return text_of(syntax).strip('"')


def _body(syntax: Syntax, file: HclFile, depth: int = 0) -> Body:
    if depth > _DEPTH_MAX:
        raise SpecError("is nested too deeply", file=file.name, at=file.position(syntax))
    body = Body()
    for child in syntax.named_children:
        if child.type == "attribute":
            name, expression = child.named_children[0], child.named_children[-1]
            body.attributes[text_of(name)] = (child, expression)
        elif child.type == "block":
            parts = child.named_children
            labels = [p for p in parts[1:] if p.type in ("string_lit", "identifier")]
            inner = next((p for p in parts if p.type == "body"), None)
            body.blocks.append(
                Block(
                    kind=text_of(parts[0]),
                    labels=tuple(label(p) for p in labels),
                    body=_body(inner, file, depth + 1) if inner is not None else Body(),
                    syntax=child,
                    file=file,
                )
            )
    return body


def _first_error(syntax: Syntax) -> Syntax:
    while True:
        bad = [c for c in syntax.children if c.has_error or c.is_error or c.is_missing]
        if not bad or syntax.is_error:
            return syntax
        syntax = bad[0]
