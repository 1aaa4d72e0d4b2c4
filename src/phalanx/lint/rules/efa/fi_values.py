"""Values of FI_ variables that turn EFA off."""

from __future__ import annotations

from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, Environment
from phalanx.lint.world import World

_OFF = frozenset({"0", "false", "no", "off"})


@rule(
    id="EFA013",
    slug="fi-values",
    severity="warning",
    areas=("efa", "nccl"),
    on=Environment,
    message="A libfabric variable turns EFA, or its RDMA, off",
    why="FI_PROVIDER chooses the fabric: any other value than efa leaves the mapped devices "
    "unused. FI_EFA_USE_DEVICE_RDMA=0 takes away direct memory access, which P4d and newer have.",
    fix="FI_PROVIDER=efa, or leave it out with a current aws-ofi-nccl; leave "
    "FI_EFA_USE_DEVICE_RDMA at 1 or out; leave RDMAV_ variables out.",
    sources=(
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html", "2026-07-10"),
        ("https://github.com/aws-samples/awsome-distributed-training", "2026-06-01"),
    ),
    guards=("GR5",),
    facts=("TRN-51", "TRN-52"),
)
def fi_values(environment: Environment, world: World) -> Found:
    """FI_PROVIDER beside mapped devices, RDMA switched off, and left-over RDMAV_ variables."""
    container = environment.container
    provider = environment.get("FI_PROVIDER")
    content = (provider.content or "efa").lower() if provider else "efa"
    if provider and container and container.maps("/dev/infiniband") and "efa" not in content:
        yield Hit(provider, message=f"FI_PROVIDER is {content}, beside mapped EFA devices")
    elif provider and content.startswith("^") and "efa" in content:
        yield Hit(provider, message=f"FI_PROVIDER={content} leaves efa out")
    direct = environment.get("FI_EFA_USE_DEVICE_RDMA")
    if direct and (direct.content or "1").lower() in _OFF and _may_rdma(container):
        yield Hit(direct, message="FI_EFA_USE_DEVICE_RDMA turns direct memory access off")
    for variable in environment.variables:
        if variable.key.startswith("RDMAV_"):
            message = f"{variable.key} is a left-over; current libfabric handles fork by itself"
            yield Hit(variable, message=message, severity="info")


def _may_rdma(container: Container | None) -> bool:
    rows = allowed(container) if container else []
    return not rows or all(row.family.startswith(("p4", "p5", "p6", "trn")) for row in rows)
