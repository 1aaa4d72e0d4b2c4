"""Checkpoints that die with the host."""

from __future__ import annotations

import re

from phalanx.lint.entity import Node
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import trains
from phalanx.lint.values import HOLE, Unknown
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_FLAG = Pattern(
    r"--(?:[\w-]*(?:checkpoint|ckpt|snapshot)[\w-]*|(?:output|save)s?)"
    r"(?<!interval)(?<!every)(?<!freq)(?<!steps)"
    r"(?:[-_](?:dir|path|folder|root))?[=\s]+[\"']?([\w./${}:@\ue000-]+)",
    re.IGNORECASE,
)
_NAME = Pattern(
    r"(?:CHECKPOINT|CKPT|OUTPUT|SNAPSHOT|SAVE)S?_?(?:DIR|PATH|FOLDER|ROOT|LOCATION|URI)S?$"
)
_READ = Pattern(r"resum|load|restor|pretrain|init|from|base|convert|tokenizer", re.IGNORECASE)
"""Flags that name a checkpoint to begin from."""
_SHARED = Pattern(r"fsx|lustre|efs|nfs|shared|s3|gpfs|weka|beegfs|home", re.IGNORECASE)
_PLACE = Pattern(r"(?:/|\./|\.\./)?[\w.-]+(?:/[\w.@-]*)*")


@rule(
    id="STO003",
    slug="checkpoint-only-on-instance",
    severity="warning",
    areas=("storage",),
    on=Container,
    message="Checkpoints stand on the instance alone",
    why="The container's own file system and the disks of a host are gone when the task moves or "
    "the host is lost: there is nothing to resume from.",
    fix="Write checkpoints to S3, EFS or FSx for Lustre (mounted on the host), or copy them there "
    "in the background before they count.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-spot.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/InstanceStorage.html",
            "2026-07-10",
        ),
    ),
    guards=("GR6",),
    facts=("TRN-04", "STO-01", "STO-29"),
)
def checkpoint_only_on_instance(container: Container, world: World) -> Found:
    """Training whose checkpoint path is known and under no shared mount; nothing names S3.

    A path on a host volume is an info: who copies it elsewhere cannot be seen.
    """
    if container.workload.flavour not in ("ecs", "batch") or not container.is_accelerated:
        return
    text = container.command.text
    if not trains(container) or "s3://" in text or "aws s3" in text or HOLE in text:
        return
    if any("s3://" in (v.content or HOLE + "s3://") for v in container.environment.variables):
        return
    if not container.environment.is_known or len(container.workload.containers) > 1:
        return
    target = _target(container)
    if target is None:
        return
    node, path = target
    verdict = _judge(container, path)
    if verdict:
        yield Hit(node, message=f"Checkpoints go to {path}, {verdict[0]}", severity=verdict[1])


def _target(container: Container) -> tuple[Node, str] | None:
    for variable in container.environment.variables:
        if _NAME.search(variable.key.upper()) and _PLACE.fullmatch(variable.content or ""):
            return variable, variable.content or ""
    for match in _FLAG.finditer(container.command.text):
        if _READ.search(match[0].replace(match[1], "")):
            continue
        if _PLACE.fullmatch(match[1]) and "/" in match[1]:
            return container.command.node, match[1]
    return None


def _judge(container: Container, path: str) -> tuple[str, str] | None:
    """(what is wrong, severity); None where it is right or cannot be known."""
    raw = container.raw("mountPoints")
    if isinstance(raw, Unknown) or (raw and not isinstance(raw, list)):
        return None
    mounts = container.items("mountPoints")
    if any(m.text("containerPath") is None for m in mounts):
        return None
    if not path.startswith("/"):
        return None if mounts else ("inside the container: they end with the task", "")
    holding = [m for m in mounts if _is_below(path, m.text("containerPath") or "")]
    if not holding:
        return "inside the container: they end with the task", ""
    mount = max(holding, key=lambda m: len(m.text("containerPath") or ""))
    if _SHARED.search(path):
        return None
    return _volume(container, mount.text("sourceVolume"))


def _volume(container: Container, name: str | None) -> tuple[str, str] | None:
    lists = ("volumes", "containerProperties.volumes")
    volumes = [v for key in lists for v in container.workload.items(key)]
    for volume in volumes:
        if name is None or volume.text("name") != name:
            continue
        if any(key not in ("name", "host") for key, _ in volume.members()):
            return None
        source = volume.text("host.sourcePath")
        if source is None:
            known = not volume.has("host.sourcePath")
            return ("on a volume that ends with the task", "") if known else None
        if _SHARED.search(source) or HOLE in source:
            return None
        return f"on {source} of the host (unless something copies them elsewhere)", "info"
    return None


def _is_below(path: str, mount: str) -> bool:
    return bool(mount) and (path + "/").startswith(mount.rstrip("/") + "/")
