"""An image for another generation of Neuron."""

from __future__ import annotations

from phalanx.lint.hosts import allowed
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_NEW = Pattern(r"neuronx")
_OLD = Pattern(r"(?:torch|pytorch|tensorflow|mxnet)[-_]?(?:inference[-_])?neuron(?!x)")


@rule(
    id="NEU011",
    slug="neuron-package-for-other-generation",
    severity="warning",
    areas=("neuron",),
    on=Container,
    message="The image holds the Neuron packages of another generation",
    why="Inf1 needs torch-neuron, Trn1, Trn2 and Inf2 need torch-neuronx: a model compiled by one "
    "does not load on the other.",
    fix="Take the neuronx image for Trn and Inf2, the neuron image for Inf1.",
    sources=(
        (
            "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/index.html",
            "2026-07-10",
        ),
    ),
    facts=("NEU-19",),
)
def neuron_package_for_other_generation(container: Container, world: World) -> Found:
    """The image's name against the only types allowed."""
    rows, image = allowed(container), container.text("image") or ""
    if not rows or not all(row.neuron_devices for row in rows):
        return
    first = all(row.family == "inf1" for row in rows)
    later = all(row.family != "inf1" for row in rows)
    if first and _NEW.search(image):
        yield Hit(container, "image", f"A neuronx image on {rows[0].name}")
    elif later and _OLD.search(image) and not _NEW.search(image):
        yield Hit(container, "image", f"A torch-neuron image on {rows[0].name}")
