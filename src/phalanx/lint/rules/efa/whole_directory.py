"""The whole RDMA directory mounted."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_FOLDER = "/dev/infiniband"


@rule(
    id="EFA012",
    slug="whole-rdma-directory",
    severity="warning",
    areas=("efa",),
    on=Container,
    message="The whole directory of RDMA devices is handed over",
    why="A bind mount of /dev/infiniband gives files without the right to open them; and a host "
    "with other RDMA cards beside EFA then shows those too, which makes libfabric's EFA "
    "provider fail, so that NCCL falls back to TCP without an error.",
    fix="Remove it, and map each /dev/infiniband/uverbs<N> of an EFA interface in "
    "linuxParameters.devices.",
    sources=(
        ("https://github.com/aws-samples/aws-do-eks/pull/63", "2026-08-10"),
        ("https://docs.aws.amazon.com/batch/latest/userguide/efa.html", "2026-07-10"),
    ),
    guards=("GR5",),
    facts=("TRN-44",),
)
def whole_rdma_directory(container: Container, world: World) -> Found:
    """A host volume that the container mounts, or a device entry that is the folder itself."""
    workload = container.workload
    if workload.flavour not in ("ecs", "batch"):
        return
    for device in container.devices:
        if device.host_path.rstrip("/") == _FOLDER:
            yield Hit(device, "hostPath", f"The whole {_FOLDER} is mapped as a device")
    names = {mount.text("sourceVolume") for mount in container.items("mountPoints")}
    holder = container if container.has("volumes") else workload
    for volume in holder.items("volumes"):
        source = (volume.text("host.sourcePath") or "").rstrip("/")
        if source == _FOLDER and volume.text("name") in names:
            yield Hit(volume, "host.sourcePath", f"{_FOLDER} is mounted as a volume")
