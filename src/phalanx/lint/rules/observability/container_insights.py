"""Container Insights switched off, or spelt wrongly."""

from __future__ import annotations

from phalanx.lint.entity import Node
from phalanx.lint.infra import Cluster
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_VALUES = ("enhanced", "enabled", "disabled")
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
    return any(workload.is_accelerated for workload in world.near(cluster, Workload))
