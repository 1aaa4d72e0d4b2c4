"""Load balancers that point at a port that the container does not offer."""

from __future__ import annotations

from phalanx.lint.entity import Node
from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, TaskDefinition
from phalanx.lint.world import World


@rule(
    id="SRV007",
    slug="load-balancer-port-not-mapped",
    severity="error",
    areas=("serving",),
    on=Service,
    message="The load balancer names a container or port that the task does not offer",
    why="CreateService refuses a container name or port that is not in the task definition's port "
    "mappings.",
    fix="Add the port to portMappings of that container, or correct containerName and "
    "containerPort of the service.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/alb.html", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LoadBalancer.html",
            "2026-05-20",
        ),
    ),
    facts=("SRV-14",),
)
def load_balancer_port_not_mapped(service: Service, world: World) -> Found:
    """Where names and ports on both sides are known."""
    task = service.task
    if task is None or not task.containers:
        return
    for balancer in service.items("loadBalancers"):
        yield from _check(balancer, task)


def _check(balancer: Node, task: TaskDefinition) -> Found:
    name, port = balancer.text("containerName"), balancer.number("containerPort")
    names = [c.text("name") for c in task.containers]
    count = len(task.items("containerDefinitions"))
    if name is None or None in names or len(names) != count or not name.isascii():
        return
    container = next((c for c in task.containers if c.text("name") == name), None)
    if container is None:
        if all(n and n.isascii() for n in names):
            yield Hit(balancer, "containerName", f"The task has no container called {name}")
        return
    ports = _ports(container)
    if port is not None and ports is not None and port not in ports:
        yield Hit(balancer, "containerPort", f"Container {name} does not map port {port:g}")


def _ports(container: Container) -> set[float] | None:
    raw = container.raw("portMappings")
    if raw is None:
        return None if container.has("portMappings") else set()
    if not isinstance(raw, list):
        return None
    found = [item.number("containerPort") for item in container.items("portMappings")]
    if any(item.has("containerPortRange") for item in container.items("portMappings")):
        return None
    known = {port for port in found if port is not None}
    return known if None not in found else None
