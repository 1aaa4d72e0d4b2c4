"""A CUDA that is too old for the card."""

from __future__ import annotations

import re

from phalanx.lint.hosts import allowed
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_CUDA = Pattern(
    r"(?:cuda[-_:/]?|nvidia/cuda:)v?(\d{1,2})(?:\.(\d{1,2}))?(?![\d])"
    r"|(?:^|[-_:.+])cu(\d{2})(\d)(?!\d)"
)


@rule(
    id="GPU008",
    slug="image-cuda-below-type",
    severity="error",
    areas=("gpu",),
    on=Container,
    message="The image's CUDA is too old for the cards of the only type allowed",
    why="A CUDA older than the card has no code for it: the first kernel fails.",
    fix="p4d and p4de need CUDA 11 or later; p5 and newer CUDA 12.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html",
            "2026-06-01",
        ),
    ),
    facts=("CMP-18", "TRN-52"),
)
def image_cuda_below_type(container: Container, world: World) -> Found:
    """The version in the image's name; p5 is a warning, as sources differ."""
    version = image_cuda(container)
    rows = allowed(container)
    if version is None or not rows or not container.is_accelerated:
        return
    need, severity = 0, ""
    if all(row.family in ("p4d", "p4de") for row in rows):
        need = 11
    elif all(re.match(r"p[56]", row.family) for row in rows):
        need, severity = 12, "warning"
    if version[0] < need:
        message = f"CUDA {version[0]}.{version[1]} on {rows[0].name}, which needs {need} or later"
        yield Hit(container, "image", message, severity=severity)


def image_cuda(container: Container) -> tuple[int, int] | None:
    """(major, minor) of the CUDA that the image's name tells."""
    match = _CUDA.search((container.text("image") or "").lower())
    if not match:
        return None
    if match[3]:
        return int(match[3]), int(match[4])
    return int(match[1]), int(match[2] or 0)
