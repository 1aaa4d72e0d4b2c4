"""Models whose weights alone are larger than the cards asked for."""

from __future__ import annotations

import re

from phalanx.lint.engines import hub_model, weights_mib
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import types_of
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_OFFLOAD = Pattern(r"offload|pipeline[-_]parallel|quantiz|--load-format", re.IGNORECASE)


@rule(
    id="SRV012",
    slug="model-larger-than-gpus",
    severity="warning",
    areas=("serving",),
    on=Container,
    message="The weights of the model do not fit the memory of the GPUs asked for",
    why="Weights take two bytes for each parameter in half precision (one in 8 bits, half a byte "
    "in 4), before any key-value cache: the server ends with out of memory while it loads.",
    fix="Ask for more cards and split the model over them (tensor parallelism), use a larger type, "
    "or a quantised version of the model.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GpuDeviceMemoryInfo.html",
            "undated",
        ),
        ("https://docs.vllm.ai/en/latest/", "undated"),
    ),
    facts=("SRV-08", "CMP-48"),
)
def model_larger_than_gpus(container: Container, world: World) -> Found:
    """The size that the model's name says, against the only type that the task can land on."""
    model = hub_model(container)
    if model is None or not container.gpus or _OFFLOAD.search(container.command.text):
        return
    needs = weights_mib(container, model[1])
    rows = types_of(container)
    cards = container.gpus
    if needs is None or not rows or not all(row.gpus for row in rows):
        return
    if any(needs <= cards * row.device_memory_mib for row in rows):
        return
    best = max(rows, key=lambda row: row.device_memory_mib)
    has = cards * best.device_memory_mib
    text = f"{model[1]} needs about {needs / 1024:.0f} GiB for weights alone; {cards:g} GPUs of "
    yield Hit(model[0], message=f"{text}{best.name} have {has / 1024:.0f} GiB")
