"""Image repositories that are not scanned, or whose tags can be written over."""

from __future__ import annotations

from phalanx.lint.infra import EcrRepository
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_SCAN = "imageScanningConfiguration.scanOnPush"
_TAGS = "imageTagMutability"


@rule(
    id="SEC013",
    slug="repository-not-scanned",
    severity="warning",
    areas=("security",),
    on=EcrRepository,
    message="Images of the repository are not scanned",
    why="GPU images carry thousands of packages; without a scan known holes ship unseen. ECR only "
    "reports: the pipeline must refuse what is critical.",
    fix="Switch enhanced scanning on for the registry (or scanOnPush for the repository), and make "
    "tags IMMUTABLE.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-scanning-enhanced.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html",
            "2026-07-10",
        ),
    ),
    guards=("SB3",),
    facts=("SCY-11", "SCY-12"),
)
def repository_not_scanned(repository: EcrRepository, world: World) -> Found:
    """Switched off: a warning. Left to the registry, or mutable tags: an info."""
    if repository.flag(_SCAN) is False:
        yield Hit(repository, _SCAN)
    elif not repository.has(_SCAN) and not repository.has("imageScanningConfiguration"):
        text = "Nothing says that images are scanned (unless the registry scans them all)"
        yield Hit(repository, message=text, severity="info")
    mutable = repository.text(_TAGS) == "MUTABLE" or not repository.has(_TAGS)
    if mutable:
        yield Hit(repository, _TAGS, "Tags of the repository can be written over", severity="info")
