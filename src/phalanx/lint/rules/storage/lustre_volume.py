"""Lustre as a volume type that ECS does not have."""

from __future__ import annotations

from phalanx.lint.infra import FileSystem
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_WINDOWS = "fsxWindowsFileServerVolumeConfiguration"
_EFS = "efsVolumeConfiguration"


@rule(
    id="STO005",
    slug="lustre-is-no-volume-type",
    severity="error",
    areas=("storage",),
    on=Workload,
    message="ECS has no volume type for Lustre",
    why="Task volumes are host paths, Docker volumes, EFS, S3 Files, FSx for Windows and EBS. A "
    "Lustre file system given to one of them is refused, or cannot be mounted.",
    fix="Mount FSx for Lustre on the host in user data and bind it: "
    '"host": {"sourcePath": "/fsx"}. Hosts of your own only: Fargate has no way to do it.',
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Volume.html", "2026-05-20"),
    ),
    facts=("STO-05", "STO-19"),
)
def lustre_is_no_volume_type(workload: Workload, world: World) -> Found:
    """A member or driver called Lustre, or a Lustre file system given to EFS or Windows volumes."""
    if workload.flavour != "ecs":
        return
    for volume in workload.items("volumes"):
        for key, node in volume.members():
            if "lustre" in key.lower():
                yield Hit(volume, key, f"{key} is no member of a task volume")
            elif key == "dockerVolumeConfiguration" and node.text("driver") == "lustre":
                yield Hit(volume, f"{key}.driver", severity="warning")
            elif key in (_WINDOWS, _EFS):
                system = world.link(workload, node.raw("fileSystemId"), FileSystem)
                if system is not None and system.is_lustre:
                    yield Hit(volume, key, f"{key} is given a Lustre file system")
                elif key == _WINDOWS and workload.is_accelerated:
                    yield Hit(
                        volume,
                        key,
                        "FSx for Windows serves Windows tasks, which have no accelerators",
                        severity="warning",
                    )
