"""The whole RDMA directory mounted."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, TaskDefinition, Workload
from phalanx.lint.world import World

_FOLDERS = ("/dev/infiniband", "/dev")


@rule(
    id="EFA012",
    slug="whole-rdma-directory",
    severity="warning",
    areas=("efa",),
    on=Workload,
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
def whole_rdma_directory(workload: Workload, world: World) -> Found:
    """A host volume that a container mounts, or a device entry that is the folder itself."""
    for container in workload.containers:
        for device in container.devices:
            if device.host_path.rstrip("/") == _FOLDERS[0]:
                yield Hit(device, "hostPath", "The whole /dev/infiniband is mapped as a device")
        yield from _mounted(workload, container)


def _mounted(workload: Workload, container: Container) -> Found:
    path = "volumes"
    if not isinstance(workload, TaskDefinition):
        path = f"{container.base}" and "volumes"
    holder = container if container.has("volumes") else workload
    for volume in holder.items(path):
        source = (volume.text("host.sourcePath") or "").rstrip("/")
        names = {mount.text("sourceVolume") for mount in container.items("mountPoints")}
        if source in _FOLDERS[:1] and volume.text("name") in names:
            message = f"{source} is mounted as a volume"
            yield Hit(volume, "host.sourcePath", message)
