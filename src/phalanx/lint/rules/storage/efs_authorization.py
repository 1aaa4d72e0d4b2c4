"""EFS authorization without the encryption that it needs."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World


@rule(
    id="STO010",
    slug="efs-authorization-without-encryption",
    severity="error",
    areas=("storage", "security"),
    on=Workload,
    message="EFS with IAM or an access point needs transitEncryption ENABLED",
    why="Without it the task definition is refused; and with an access point the root directory "
    "must be left out or /.",
    fix="Set transitEncryption to ENABLED in efsVolumeConfiguration, and drop rootDirectory where "
    "an access point is named.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_EFSVolumeConfiguration.html",
            "2026-05-20",
        ),
    ),
    facts=("STO-14",),
)
def efs_authorization_without_encryption(workload: Workload, world: World) -> Found:
    """Every volume of a task definition; unknown values keep it silent."""
    if workload.flavour != "ecs":
        return
    for volume in workload.items("volumes"):
        efs = volume.node("efsVolumeConfiguration")
        point = efs.has("authorizationConfig.accessPointId")
        iam = efs.text("authorizationConfig.iam") == "ENABLED"
        plain = efs.text("transitEncryption") == "DISABLED" or not efs.has("transitEncryption")
        if (point or iam) and plain:
            yield Hit(efs, "transitEncryption")
        root = efs.text("rootDirectory")
        if point and root not in (None, "", "/") and isinstance(efs.raw("rootDirectory"), str):
            yield Hit(efs, "rootDirectory", f"An access point takes no rootDirectory ({root})")
