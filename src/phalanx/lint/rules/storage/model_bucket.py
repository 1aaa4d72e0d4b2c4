"""A bucket of models that keeps no old versions."""

from __future__ import annotations

import re

from phalanx.lint.infra import Bucket
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_MODELS = Pattern(r"model|weight|artifact|artefact|registry|lora|adapter", re.IGNORECASE)


@rule(
    id="STO009",
    slug="model-bucket-without-versioning",
    severity="warning",
    areas=("storage", "security"),
    on=Bucket,
    message="A bucket for models keeps no versions",
    why="A model that is written over cannot be got back, and nobody can prove which bytes a "
    "server has loaded.",
    fix="Switch versioning on (versioning_configuration status Enabled), read models by version, "
    "verify a checksum, and lock approved versions with Object Lock.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html", "2026-07-10"),
    ),
    guards=("SB4",),
    facts=("SCY-13", "STO-01"),
)
def model_bucket_without_versioning(bucket: Bucket, world: World) -> Found:
    """By the bucket's name. Switched off: a warning; never switched on: an info."""
    if not _MODELS.search(f"{bucket.name or ''} {bucket.address}"):
        return
    if bucket.is_versioned is not False:
        return
    off = bucket.text("versioningConfiguration.status") == "Suspended"
    off = off or bucket.flag("versioning.enabled") is False
    path = "versioning" if bucket.has("versioning") else "versioningConfiguration"
    yield Hit(bucket, path if off else "", severity="" if off else "info")
