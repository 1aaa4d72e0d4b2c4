"""EFA on Managed Instances."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import uses_efa
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="EFA010",
    slug="efa-on-managed-instances",
    severity="warning",
    areas=("efa", "host"),
    on=Container,
    message="EFA is asked for on Managed Instances, which attach no EFA interface",
    why="The launch template of Managed Instances takes subnets and security groups only: no "
    "interface type, no placement group. Collectives between hosts run over TCP.",
    fix="Run multi-node training on the EC2 launch type, with EFA interfaces in the launch "
    "template and a cluster placement group.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateManagedInstancesProviderConfiguration.html",
            "2026-07-10",
        ),
    ),
    guards=("GR5",),
    facts=("TRN-49", "CMP-10"),
)
def efa_on_managed_instances(container: Container, world: World) -> Found:
    """Tasks for Managed Instances alone, or whose every provider is one."""
    workload = container.workload
    providers = workload.providers
    only = workload.launch_types == {"MANAGED_INSTANCES"}
    if not only and not (providers and all(p.is_managed_instances for p in providers)):
        return
    if uses_efa(container):
        variable = container.environment.get("FI_PROVIDER")
        yield Hit(variable) if variable else Hit(container, "linuxParameters.devices")
