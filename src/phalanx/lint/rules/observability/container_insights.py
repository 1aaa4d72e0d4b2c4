"""Container Insights switched off, or spelt wrongly."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider, LaunchTemplate, ScalingGroup
from phalanx.lint.entity import Entity, Node
from phalanx.lint.hosts import ACCELERATED
from phalanx.lint.infra import Cluster, ClusterProviders
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_VALUES = ("enhanced", "enabled", "disabled")
_ALLOWED = (
    "managedInstancesProvider.instanceLaunchTemplate.instanceRequirements.allowedInstanceTypes"
)
_SETTINGS = ("clusterSettings", "settings", "setting")


@rule(
    id="OBS001",
    slug="container-insights-off",
    severity="warning",
    areas=("observability", "security"),
    on=Cluster,
    message="Container Insights is off on a cluster with accelerators",
    why="Without it there are no task metrics and no record of what a stopped task did; the "
    "setting has no checked list of values, so a wrong word is silently off.",
    fix="Set containerInsights to enhanced (on Managed Instances that includes GPU metrics), or to "
    "enabled.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/"
            "deploy-container-insights-ECS-cluster.html",
            "2026-07-09",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ClusterSetting.html",
            "2026-05-20",
        ),
    ),
    guards=("SB7",),
    facts=("MON-01", "MON-02"),
)
def container_insights_off(cluster: Cluster, world: World) -> Found:
    """A wrong word or disabled: a warning. Left to the account's default: an info."""
    setting = _setting(cluster)
    if setting is None:
        unsure = any(cluster.has(k) and not isinstance(cluster.raw(k), list) for k in _SETTINGS)
        if not unsure and _has_accelerators(cluster, world):
            text = "Nothing sets containerInsights (unless the account's default does)"
            yield Hit(cluster, message=text, severity="info")
        return
    value = setting.text("value")
    if value == "disabled" and _has_accelerators(cluster, world):
        yield Hit(setting, "value")
    elif value is not None and value.isascii() and value not in _VALUES:
        text = f"containerInsights is {value!r}; it must be enhanced, enabled or disabled"
        yield Hit(setting, "value", text)


def _setting(cluster: Cluster) -> Node | None:
    for key in _SETTINGS:
        for item in cluster.items(key):
            if item.text("name") == "containerInsights":
                return item
    return None


def _has_accelerators(cluster: Cluster, world: World) -> bool:
    if any(workload.is_accelerated for workload in world.near(cluster, Workload)):
        return True
    hosts = _hosts(cluster, world)
    return any(ACCELERATED.match(name) for host in hosts for name in _types(host))


def _hosts(cluster: Cluster, world: World) -> list[Entity]:
    """What starts hosts for the cluster: all of a world with one cluster, else what is linked."""
    kinds = (CapacityProvider, ScalingGroup, LaunchTemplate)
    if len(world.near(cluster, Cluster)) == 1:
        return [host for kind in kinds for host in world.near(cluster, kind)]
    apart = [
        other
        for other in world.near(cluster, ClusterProviders)
        if world.link(other, other.raw("cluster"), Cluster) is cluster
    ]
    return [
        provider
        for holder in (cluster, *apart)
        for provider in world.links(holder, holder.node("capacityProviders"), CapacityProvider)
    ]


def _types(host: Entity) -> tuple[str, ...]:
    if isinstance(host, LaunchTemplate):
        return (host.instance_type,) if host.instance_type else ()
    if isinstance(host, CapacityProvider) and host.is_managed_instances:
        return tuple(host.texts(_ALLOWED))
    return host.instance_types if isinstance(host, (CapacityProvider, ScalingGroup)) else ()
