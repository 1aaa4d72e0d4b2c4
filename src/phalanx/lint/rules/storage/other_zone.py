"""File systems that stand in another zone than the hosts that use them."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup, Subnet
from phalanx.lint.infra import FileSystem, MountTarget
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World


@rule(
    id="STO004",
    slug="file-system-in-another-zone",
    severity="warning",
    areas=("storage",),
    on=FileSystem,
    message="The file system stands in another zone than the accelerated hosts",
    why="FSx for Lustre lives in one zone and EFS has one mount target for each: reading across "
    "zones is slower, starves the cards, and is paid by the byte.",
    fix="Create the file system in a subnet of the hosts' zone (that of the Capacity Block or "
    "placement group), and one EFS mount target in every zone of the hosts.",
    sources=(
        ("https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/efs-volumes.html",
            "2026-07-10",
        ),
    ),
    facts=("STO-04", "STO-15", "CST-13"),
)
def file_system_in_another_zone(system: FileSystem, world: World) -> Found:
    """Only where the zones of the file system and of all accelerated groups are known."""
    hosts = _hosts(system, world)
    own = _own(system, world) if hosts else set()
    if not own or not _comparable(own | hosts):
        return
    missing = sorted(hosts - own)
    is_efs = system.text("fileSystemType") == "EFS"
    if is_efs and missing:
        yield Hit(system, message=f"EFS has no mount target in {', '.join(missing)}")
    elif not is_efs and not own & hosts:
        said = f"It stands in {', '.join(sorted(own))}, the hosts in {', '.join(sorted(hosts))}"
        yield Hit(system, "subnetIds", said)


def _hosts(system: FileSystem, world: World) -> set[str]:
    """Zones of all accelerated groups; empty when one of them is unknown."""
    groups = [g for g in world.near(system, ScalingGroup) if has_accelerator(g.instance_types)]
    zones = [group.zones for group in groups]
    if not all(zones):
        return set()
    return {zone for found in zones for zone in found or ()}


def _own(system: FileSystem, world: World) -> set[str]:
    """Zones of the file system; empty when one of them is unknown."""
    if system.text("fileSystemType") != "EFS":
        wanted = system.items("subnetIds")
        found = world.links(system, system.node("subnetIds"), Subnet)
    else:
        targets = [
            t
            for t in world.near(system, MountTarget)
            if world.link(t, t.raw("fileSystemId"), FileSystem) is system
        ]
        wanted = [t.node("subnetId") for t in targets]
        linked = [world.link(t, t.raw("subnetId"), Subnet) for t in targets]
        found = [subnet for subnet in linked if subnet is not None]
    zones = {subnet.zone for subnet in found}
    if len(found) != len(wanted) or None in zones:
        return set()
    return {zone for zone in zones if zone}


def _comparable(zones: set[str]) -> bool:
    """All are names of zones (`us-east-1a`), or all are references."""
    named = [zone for zone in zones if "." not in zone]
    return len(named) in (0, len(zones))
