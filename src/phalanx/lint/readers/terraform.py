"""Terraform configurations: every root module of the tree, with the modules it calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phalanx.errors import InputError
from phalanx.lint import workload
from phalanx.lint.entity import Entity, Scope
from phalanx.lint.place import Origin
from phalanx.lint.readers.build import job_definition, task_definition
from phalanx.lint.readers.hcl import Block, HclFile, parse
from phalanx.lint.readers.hcl_functions import Encoded
from phalanx.lint.readers.tf_known import known_resources, known_source
from phalanx.lint.readers.tf_module import Module, Tree, join, normal
from phalanx.lint.readers.tf_origin import LocalOrigin, ResourceOrigin
from phalanx.lint.readers.tf_shapes import SHAPES, Shape, translate
from phalanx.lint.source import SourceFile
from phalanx.lint.workload import Environment

_ENVIRONMENT = ("NCCL_", "FI_", "OFI_", "TORCH_", "AWS_", "CUDA_", "NVIDIA_", "NEURON_", "HF_")


def read_terraform(
    files: Sequence[SourceFile],
) -> tuple[list[Entity], list[tuple[str, str]], dict[str, str]]:
    """(entities, files left out and why, texts that were read). Raises `InputError`."""
    modules: dict[str, list[HclFile]] = {}
    skipped: list[tuple[str, str]] = []
    texts: dict[str, str] = {}
    values: dict[str, dict[str, Any]] = {}
    for file in files:
        folder = normal(file.name.rpartition("/")[0] or ("/" if file.name[:1] == "/" else "."))
        if not file.name.endswith((".tf", ".tfvars")):
            continue
        try:
            parsed = parse(file.name, file.text)
        except InputError as error:
            if file.named:
                raise
            skipped.append((file.name, error.line()))
            continue
        texts[file.name] = file.text
        if file.name.endswith(".tf"):
            modules.setdefault(folder, []).append(parsed)
        elif file.name.endswith((".auto.tfvars", "/terraform.tfvars")):
            held = Module(Tree({folder: [parsed]}, {}), folder, {})
            pairs = parsed.body.attributes.items()
            values.setdefault(folder, {}).update(
                {name: held.evaluator.value(pair[1]) for name, pair in pairs}
            )
    tree = Tree(modules, {normal(file.name): file.text for file in files})
    entities: list[Entity] = []
    for folder in _roots(tree):
        entities += _module(Module(tree, folder, values.get(folder, {})), (folder, 0))
    return entities, skipped, texts


def _roots(tree: Tree) -> list[str]:
    called: set[str] = set()
    for folder in tree.modules:
        module = Module(tree, folder, {})
        for block in module.blocks:
            source = module.source_of(block)
            if isinstance(source, str) and source.startswith("."):
                called.add(join(folder, source))
    return [folder for folder in tree.modules if folder not in called] or list(tree.modules)


def _module(module: Module, scope: Scope) -> list[Entity]:
    out: list[Entity] = []
    for address, block in module.resources.items():
        shape = SHAPES.get(block.labels[0])
        if shape is None:
            continue
        for key, evaluator in module.instances(block):
            native = module.contents(block.body, evaluator)
            data, moves = translate(shape, native)
            origin = ResourceOrigin(module, block, shape, moves)
            name = f"{module.prefix}{address}{instance_words(key)}"
            out += make(shape, data, origin, name, scope)
    for block in module.blocks:
        out += _known(module, block, scope)
    for name in module.locals:
        out += _loose_environment(module, name, scope)
    for child in module.children.values():
        out += _module(child, scope)
    return out


def instance_words(key: object) -> str:
    """`[0]`, `["a"]`, or nothing for a resource that is not counted."""
    if key is None:
        return ""
    return f"[{key}]" if isinstance(key, int) else f'["{key}"]'


def _known(module: Module, block: Block, scope: Scope) -> list[Entity]:
    source = known_source(block, module.source_of(block))
    out: list[Entity] = []
    for key, evaluator in module.instances(block) if source else ():
        address = f"{module.prefix}module.{block.labels[0]}{instance_words(key)}"
        native = module.contents(block.body, evaluator)
        for shape, data, moves, more in known_resources(source, native, address):
            origin = ResourceOrigin(module, block, shape, moves)
            out += make(shape, data, origin, address + more, scope)
    return out


def make(
    shape: Shape, data: dict[str, Any], origin: Origin, address: str, scope: Scope
) -> list[Entity]:
    """The entity of a resource, with what belongs to it."""
    if shape.kind is workload.TaskDefinition:
        return task_definition(data, origin, address=address, scope=scope)
    if shape.kind is workload.JobDefinition:
        return job_definition(data, origin, address=address, scope=scope)
    return [shape.kind(data, origin, address=address, scope=scope)]


def _loose_environment(module: Module, name: str, scope: Scope) -> list[Entity]:
    value = module.root("local", [name])
    data = value[0] if value else None
    if isinstance(data, Encoded):
        data = data.value
    if isinstance(data, list):
        pairs = [item for item in data if isinstance(item, dict) and "name" in item]
        if not pairs or any("value" not in item or len(item) > 2 for item in pairs):
            return []
    elif not isinstance(data, dict) or not any(k.startswith(_ENVIRONMENT) for k in data):
        return []
    return [Environment(data, LocalOrigin(module, name), (), scope=scope)]
