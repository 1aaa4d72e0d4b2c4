"""Local disks that nothing uses."""

from __future__ import annotations

import re

from phalanx.facts.instances import InstanceType, instance
from phalanx.lint.capacity import CapacityProvider, LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_USES = Pattern(r"nvme|mkfs|mdadm|ephemeral|instance.?store|raid|/scratch|local.?ssd", re.I)
_LOCAL = "managedInstancesProvider.instanceLaunchTemplate.localStorageConfiguration"


@rule(
    id="STO008",
    slug="local-nvme-unused",
    severity="info",
    areas=("storage",),
    on=Entity,
    message="The local NVMe disks of the instance are not used",
    why="They come with the price of the instance and are its fastest storage, but ECS hosts do "
    "not format or mount them by themselves.",
    fix="Format and mount them in user data and bind them with host.sourcePath, for weights, data "
    "caches and fresh checkpoints; Managed Instances: localStorageConfiguration.useLocalStorage. "
    "Copy what must stay: they are empty after a stop.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/InstanceStorage.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/"
            "API_CreateManagedInstancesProviderConfiguration.html",
            "2026-05-20",
        ),
    ),
    facts=("STO-29", "STO-30", "STO-32"),
)
def local_nvme_unused(entity: Entity, world: World) -> Found:
    """Accelerated types with local disks; hosts whose whole user data is known."""
    if isinstance(entity, LaunchTemplate):
        data = entity.user_data
        if data is None or not data.is_whole or _USES.search(data.text):
            return
        if data.settings.get("ECS_CLUSTER") is None:
            return
        row = _with_disks((entity.instance_type or "",))
        if row is not None:
            yield Hit(entity, "userData", _says(row))
    elif isinstance(entity, CapacityProvider) and entity.is_managed_instances:
        if entity.has(_LOCAL):
            return
        row = _with_disks(entity.instance_types)
        if row is not None:
            yield Hit(entity, _LOCAL, _says(row))


def _with_disks(names: tuple[str, ...]) -> InstanceType | None:
    rows = [instance(name) for name in names]
    known = [row for row in rows if row]
    if not known or len(known) != len(names):
        return None
    return known[0] if all(r.nvme_count and r.accelerator for r in known) else None


def _says(row: InstanceType) -> str:
    count, size = row.nvme_count, row.nvme_gb
    return f"{row.name} has {count} x {size} GB of local NVMe, and nothing here uses it"
