"""A Neuron model that is compiled when the task starts."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.signs import serves
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_COMPILES = Pattern(
    r"\bneuronx?-cc\b|\bneuron_parallel_compile\b|optimum-cli\s+export\s+neuronx?\b"
    r"|torch_neuronx?\.trace\b|\bcompile[-_](?:model|neuron)\w*|--compile(?:[-_]model)?\b"
    r"|\bneuron[-_]compile\b"
)
_READY = Pattern(r"compiled|artifact|neff|compile_cache_url=s3:", re.IGNORECASE)
_HUB = Pattern(
    r"(?:--model(?:[-_]id)?|serve|MODEL_ID|MODEL)[=\s]+[A-Za-z0-9][\w.-]*/[\w.-]+(?=\s|$)"
)
_ENGINE = Pattern(r"\bvllm\b|text-generation-launcher|\btgi\b|optimum", re.IGNORECASE)


@rule(
    id="NEU008",
    slug="neuron-compile-at-start",
    severity="warning",
    areas=("neuron", "serving"),
    on=Container,
    message="The model is compiled for Neuron when the task starts",
    why="Compilation takes from minutes to hours. At the start of a task it trips health checks, "
    "and every new task pays it again.",
    fix="Compile ahead (on a build machine), keep the artefact in S3 or in the image under a key "
    "of compiler, model, sequence length, batch and cores, and load it at start.",
    sources=((PAGE, "2026-07-10"),),
    guards=("GR4",),
    facts=("NEU-22", "NEU-23", "NEU-24"),
)
def neuron_compile_at_start(container: Container, world: World) -> Found:
    """Compiling commands of servers, engines that load from a hub; other engines are an info."""
    if not (container.wants_neuron or container.maps("/dev/neuron")):
        return
    text = container.command.text
    match = _COMPILES.search(text)
    if match and (serves(container) or container.workload.launchers):
        yield Hit(container.command.node, message=f"{match[0]} runs at the start of the task")
        return
    words = [text, *(f"{v.key}={v.content or ''}" for v in container.environment.variables)]
    known = container.environment.is_known
    if serves(container) and _ENGINE.search(text + " " + (container.text("image") or "")):
        ready = any(_READY.search(word) or "neuron/" in word for word in words)
        if known and not ready:
            hub = any(_HUB.search(word) and "neuron" not in word for word in words)
            message = "Nothing names a compiled model, so the engine compiles at start"
            yield Hit(container.command.node, message=message, severity="" if hub else "info")
