"""Host ports that differ from the container's, and fixed ones that allow one task for each host."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.room import cards_of
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="SRV008",
    slug="host-port-mapping",
    severity="error",
    areas=("serving",),
    on=Container,
    message="The host port does not work with this network mode",
    why="With awsvpc and host networking the host port is the container's port: another one is "
    "refused. With bridge a fixed host port lets one task run on a host, however many cards "
    "are free, and no new task start beside the old one.",
    fix="Leave hostPort out (awsvpc, host), or set it to 0 for a dynamic port (bridge) and let "
    "the target group check traffic-port.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_PortMapping.html",
            "2026-05-20",
        ),
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/alb.html", "2026-07-10"),
    ),
    facts=("SRV-14",),
)
def host_port_mapping(container: Container, world: World) -> Found:
    """Differing ports: an error. A fixed port in a balanced service on bridge: warning or info."""
    workload = container.workload
    mode = workload.network_mode
    if workload.flavour != "ecs" or mode is None:
        return
    for mapping in container.items("portMappings"):
        host, own = mapping.number("hostPort"), mapping.number("containerPort")
        if not host or own is None:
            continue
        if mode in ("awsvpc", "host") and host != own:
            text = f"hostPort {host:g} differs from containerPort {own:g} with {mode} networking"
            yield Hit(mapping, "hostPort", text)
        elif mode == "bridge" and container.is_accelerated and _is_balanced(container):
            several = _several_fit(container)
            text = f"A fixed host port {host:g}: one task for each host"
            yield Hit(mapping, "hostPort", text, severity="warning" if several else "info")


def _is_balanced(container: Container) -> bool:
    return any(launcher.has("loadBalancers") for launcher in container.workload.launchers)


def _several_fit(container: Container) -> bool:
    cards = cards_of(container.workload)
    rows = [instance(name) for name in container.instance_types]
    return bool(cards and rows) and all(row and row.gpus >= 2 * (cards or 0) for row in rows)
