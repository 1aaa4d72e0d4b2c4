"""Images whose tag moves."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_MOVING = ("latest", "nightly", "main", "master", "dev", "edge")


@rule(
    id="SEC012",
    slug="image-not-pinned",
    severity="warning",
    areas=("security",),
    on=Container,
    message="The image has a tag that moves, or none",
    why="The tag is looked up anew for every task of a run and every deployment: ranks of one gang "
    "may run different code, a restart may bring a new driver need, and nobody can say what ran.",
    fix="Pin the digest (image@sha256:...), or at least a version tag in a repository with "
    "immutable tags.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/deployment-type-ecs.html",
            "2026-07-10",
        ),
    ),
    guards=("SB3",),
    facts=("SCY-12", "SRV-43"),
)
def image_not_pinned(container: Container, world: World) -> Found:
    """Accelerated containers; an info in compose files and job files."""
    image = container.text("image")
    if not image or not container.is_accelerated or "@" in image:
        return
    name = image.rpartition("/")[2]
    if not name or name == HOLE or "$" in name:
        return
    base, colon, tag = name.partition(":")
    if not colon and HOLE in base:
        return
    if colon and tag not in _MOVING:
        return
    severity = "info" if container.workload.flavour in ("compose", "job") else ""
    said = f"has the moving tag {tag}" if colon else "has no tag, which means latest"
    yield Hit(container, "image", f"The image {said}", severity=severity)
