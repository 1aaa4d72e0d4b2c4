"""One Terraform module: its files, variables, locals and resources, and the modules it calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from phalanx.lint.readers.hcl import Block, Body, HclFile, Syntax, text_of
from phalanx.lint.readers.hcl_eval import Evaluator
from phalanx.lint.readers.hcl_functions import Encoded, as_text
from phalanx.lint.readers.tf_known import known_output, known_source
from phalanx.lint.readers.tf_shapes import Blocks
from phalanx.lint.values import UNKNOWN, Ref, Unknown

_INSTANCES_MAX = 64
_META = frozenset({"count", "for_each", "provider", "providers", "depends_on", "source", "version"})
_MANY = frozenset({"count", "for_each"})
_DEPTH_MAX = 8


class Tree:
    """All files of the call: modules by folder, and texts that functions may read."""

    def __init__(self, modules: dict[str, list[HclFile]], texts: dict[str, str]) -> None:
        self.modules = modules
        self.texts = texts


class Module:
    """A module with the inputs of one caller. `prefix` is `module.a.` below the root."""

    def __init__(
        self,
        tree: Tree,
        folder: str,
        inputs: dict[str, Any],
        prefix: str = "",
        depth: int = 0,
    ) -> None:
        self.tree = tree
        self.folder = folder
        self.inputs = inputs
        self.prefix = prefix
        self.depth = depth
        self.evaluator = Evaluator(self, {})
        self._locals: dict[str, Any] = {}
        self._open: set[str] = set()

    @cached_property
    def blocks(self) -> list[Block]:
        """Every block of its files."""
        return [block for file in self.tree.modules[self.folder] for block in file.body.blocks]

    @cached_property
    def variables(self) -> dict[str, Block]:
        """Declarations of its variables."""
        return {b.labels[0]: b for b in self.blocks if b.kind == "variable" and b.labels}

    @cached_property
    def locals(self) -> dict[str, tuple[Block, Syntax, Syntax]]:
        """name → (block, the attribute, its expression)."""
        found = (b for b in self.blocks if b.kind == "locals")
        return {name: (b, *pair) for b in found for name, pair in b.body.attributes.items()}

    @cached_property
    def resources(self) -> dict[str, Block]:
        """`aws_subnet.a` → its block."""
        found = (b for b in self.blocks if b.kind == "resource" and len(b.labels) == 2)
        return {".".join(b.labels): b for b in found}

    @cached_property
    def children(self) -> dict[str, Module]:
        """Modules that it calls and that are in the tree."""
        out: dict[str, Module] = {}
        for block in self.blocks:
            if block.kind != "module" or not block.labels or self.depth >= _DEPTH_MAX:
                continue
            source = self.source_of(block)
            folder = join(self.folder, source) if isinstance(source, str) else ""
            if not isinstance(source, str) or not source.startswith("."):
                continue
            if folder in self.tree.modules:
                inputs = {k: self.evaluator.value(v[1]) for k, v in block.body.attributes.items()}
                prefix = f"{self.prefix}module.{block.labels[0]}."
                name = block.labels[0]
                out[name] = Module(self.tree, folder, inputs, prefix, self.depth + 1)
        return out

    def source_of(self, block: Block) -> Any:
        """Where a module block's code comes from; None for any other block."""
        return self._attribute(block.body, "source") if block.kind == "module" else None

    def output(self, name: str) -> Any:
        """The value of an output."""
        for block in self.blocks:
            if block.kind == "output" and block.labels == (name,):
                return self._attribute(block.body, "value")
        return UNKNOWN

    def _known_output(self, called: str, output: str) -> Any:
        """An output of a well-known module of the registry; None when it cannot be told."""
        block = next((b for b in self.blocks if b.labels == (called,) and b.kind == "module"), None)
        mark = f"module.{called}"
        name = known_source(block, self.source_of(block)) if block else ""
        if block is None or not name or mark in self._open or {*block.body.attributes} & _MANY:
            return None
        self._open.add(mark)
        try:
            native = self.contents(block.body, self.evaluator)
        finally:
            self._open.discard(mark)
        return known_output(name, native, self.prefix + mark, output)

    def _attribute(self, body: Body, name: str) -> Any:
        pair = body.attributes.get(name)
        return self.evaluator.value(pair[1]) if pair else None

    # The names of expressions.

    def root(self, name: str, path: Sequence[str]) -> tuple[Any, int] | None:
        """What a name and the attributes after it mean."""
        first = path[0] if path else ""
        if name == "var":
            return self._variable(first), 1
        if name == "local":
            return self._local(first), 1
        if name == "module":
            child = self.children.get(first)
            if child is None:
                made = self._known_output(*path[:2]) if len(path) > 1 else None
                own = Ref(f"{self.prefix}module.{first}", "")
                return (made, 2) if made is not None else (own, 1)
            return (child.output(path[1]) if len(path) > 1 else UNKNOWN), 2
        if name == "data":
            address = ".".join(["data", *path[:2]])
            document = self._policy_document(path)
            if document is None:
                document = self._public_parameter(path) or self._image_name(path)
            return (document, 3) if document is not None else (Ref(self.prefix + address, ""), 2)
        if name in ("path", "terraform"):
            return (self.folder if first in ("module", "root") else UNKNOWN), 1
        if path and f"{name}.{first}" in self.resources:
            return Ref(f"{self.prefix}{name}.{first}", ""), 1
        if path and "_" in name:
            return Ref(f"{self.prefix}{name}.{first}", ""), 1
        return None

    def expand(self, value: Ref) -> list[Any] | None:
        """The instances of a counted resource."""
        address = value.address.removeprefix(self.prefix)
        block = self.resources.get(address)
        if block is None or value.attribute:
            return None
        keys = [key for key, _ in self.instances(block)]
        if keys == [None]:
            counted = "count" in block.body.attributes or "for_each" in block.body.attributes
            return None if counted else [value]
        return [Ref(f"{value.address}[{json.dumps(key)}]", "") for key in keys]

    def call(self, name: str, arguments: list[Any]) -> Any:
        """`file` and `templatefile` of files in the tree."""
        if name not in ("file", "templatefile", "filebase64") or not arguments:
            return UNKNOWN
        path = arguments[0]
        if not isinstance(path, str):
            return UNKNOWN
        text = self.tree.texts.get(normal(path))
        if text is None:
            text = self.tree.texts.get(join(self.folder, path))
        if text is None or name != "templatefile":
            return UNKNOWN if text is None else text
        values = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], dict) else {}
        return fill(text, values)

    def _variable(self, name: str) -> Any:
        if name in self.inputs:
            return self.inputs[name]
        block = self.variables.get(name)
        if block is None or "default" not in block.body.attributes:
            return UNKNOWN
        return self._attribute(block.body, "default")

    def _local(self, name: str) -> Any:
        if name in self._locals:
            return self._locals[name]
        found = self.locals.get(name)
        if found is None or name in self._open:
            return UNKNOWN
        self._open.add(name)
        try:
            value = self.evaluator.value(found[2])
        finally:
            self._open.discard(name)
        self._locals[name] = value
        return value

    def _policy_document(self, path: Sequence[str]) -> Any:
        if len(path) < 3 or path[0] != "aws_iam_policy_document" or path[2] != "json":
            return None
        for block in self.blocks:
            if block.kind == "data" and block.labels == tuple(path[:2]):
                return Encoded(policy(self.contents(block.body, self.evaluator)))
        return None

    def _public_parameter(self, path: Sequence[str]) -> Any:
        """A public parameter's value as the dynamic reference that means the same."""
        if len(path) < 3 or path[0] != "aws_ssm_parameter" or "value" not in path[2]:
            return None
        for block in self.blocks:
            if block.kind == "data" and block.labels == tuple(path[:2]):
                name = self._attribute(block.body, "name")
                if not isinstance(name, str) or not name.startswith("/aws/service/"):
                    return None
                if name.endswith("/recommended"):
                    return json.dumps({"image_id": f"resolve:ssm:{name}/image_id"})
                return f"resolve:ssm:{name}"
        return None

    def _image_name(self, path: Sequence[str]) -> Any:
        """The name, or pattern of names, of the image that a data source looks up."""
        if len(path) < 3 or path[0] != "aws_ami" or path[2] not in ("id", "image_id"):
            return None
        for block in self.blocks:
            if block.kind == "data" and block.labels == tuple(path[:2]):
                held = self.contents(block.body, self.evaluator).get("filter")
                for item in held if isinstance(held, list) else ():
                    values = item.get("values")
                    if item.get("name") == "name" and isinstance(values, list) and len(values) == 1:
                        return values[0] if isinstance(values[0], str) else None
        return None

    # Resources.

    def instances(self, block: Block) -> list[tuple[Any, Evaluator]]:
        """(key, evaluator) of every instance; one with key None where they cannot be counted."""
        count = block.body.attributes.get("count")
        each = block.body.attributes.get("for_each")
        if count is not None:
            return self._counted(count[1])
        if each is not None:
            return self._for_each(each[1])
        return [(None, self.evaluator)]

    def _counted(self, expression: Syntax) -> list[tuple[Any, Evaluator]]:
        number = self.evaluator.value(expression)
        if text_of(expression).strip() == "0":
            return []
        if isinstance(number, int) and 0 < number <= _INSTANCES_MAX:
            return [(n, Evaluator(self, {"count": {"index": n}})) for n in range(number)]
        return [(None, Evaluator(self, {"count": {"index": UNKNOWN}}))]

    def _for_each(self, expression: Syntax) -> list[tuple[Any, Evaluator]]:
        over = self.evaluator.value(expression)
        pairs = list(over.items()) if isinstance(over, dict) else []
        if isinstance(over, list) and all(isinstance(item, str) for item in over):
            pairs = [(item, item) for item in over]
        if not 0 < len(pairs) <= _INSTANCES_MAX:
            pairs = [(None, UNKNOWN)]
        return [
            (key, Evaluator(self, {"each": {"key": UNKNOWN if key is None else key, "value": v}}))
            for key, v in pairs
        ]

    def contents(self, body: Body, evaluator: Evaluator) -> dict[str, Any]:
        """Attributes and blocks of a body as data; repeated blocks as `Blocks`."""
        out: dict[str, Any] = {}
        for name, (_, expression) in body.attributes.items():
            if name not in _META:
                out[name] = evaluator.value(expression)
        for block in body.blocks:
            if block.kind in ("lifecycle", "provisioner", "connection", "timeouts"):
                continue
            if block.kind == "dynamic" and block.labels:
                made = self._dynamic(block, evaluator)
                if made is None:
                    out.setdefault(block.labels[0], UNKNOWN)
                elif not isinstance(out.get(block.labels[0]), Unknown):
                    out.setdefault(block.labels[0], Blocks()).extend(made)
            elif not isinstance(out.get(block.kind), Unknown):
                held = out.setdefault(block.kind, Blocks())
                if isinstance(held, Blocks):
                    held.append(self.contents(block.body, evaluator))
        return out

    def _dynamic(self, block: Block, evaluator: Evaluator) -> list[dict[str, Any]] | None:
        each = block.body.attributes.get("for_each")
        content = next((b for b in block.body.blocks if b.kind == "content"), None)
        if each is None or content is None:
            return None
        named = block.body.attributes.get("iterator")
        name = text_of(named[1]).strip() if named else block.labels[0]
        over = evaluator.value(each[1])
        if not isinstance(over, (list, dict)) or len(over) > _INSTANCES_MAX:
            return None
        pairs = over.items() if isinstance(over, dict) else enumerate(over)
        out = []
        for key, item in pairs:
            bound = {**evaluator.local, name: {"key": key, "value": item}}
            out.append(self.contents(content.body, Evaluator(self, bound)))
        return out


def policy(data: dict[str, Any]) -> dict[str, Any]:
    """An `aws_iam_policy_document` as the policy that it renders."""
    statements = []
    for raw in data.get("statement") or []:
        made: dict[str, Any] = {"Effect": raw.get("effect", "Allow")}
        for key, name in (("actions", "Action"), ("resources", "Resource")):
            if key in raw:
                made[name] = raw[key]
        for who in raw.get("principals") or []:
            made.setdefault("Principal", {})[as_text(who.get("type"))] = who.get("identifiers")
        for test in raw.get("condition") or []:
            inner = made.setdefault("Condition", {}).setdefault(as_text(test.get("test")), {})
            inner[as_text(test.get("variable"))] = test.get("values")
        statements.append(made)
    return {"Version": "2012-10-17", "Statement": statements}


def fill(text: str, values: dict[str, Any]) -> str:
    """A template file with its variables; directives and unknown parts become holes."""
    import re

    def one(match: re.Match[str]) -> str:
        name = match[1].strip()
        return as_text(values[name]) if name in values else as_text(UNKNOWN)

    text = re.sub(r"%\{[^}]*\}", as_text(UNKNOWN), text)
    return re.sub(r"(?<!\$)\$\{([^}]*)\}", one, text).replace("$${", "${")


def normal(path: str) -> str:
    """`a/./b/../c` → `a/c`."""
    out: list[str] = []
    for part in path.split("/"):
        if part == ".." and out and out[-1] != "..":
            out.pop()
        elif part not in (".", "") or (part == "" and not out and path.startswith("/")):
            out.append(part)
    return "/".join(out) or ("/" if path.startswith("/") else ".")


def join(folder: str, path: str) -> str:
    """A path below, or beside, a folder."""
    return normal(path if path.startswith("/") else f"{folder}/{path}")
