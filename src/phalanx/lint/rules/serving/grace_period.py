"""A load-balanced model server that gets no time to load."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="SRV001",
    slug="lb-no-grace-period",
    severity="error",
    areas=("serving",),
    on=Service,
    message="A load-balanced model server has no health check grace period",
    why="The default is 0 s: the load balancer's checks fail while the weights are loaded, and "
    "the task is replaced before it is ever ready, for ever.",
    fix="Set the health check grace period above the slowest usual load time of the model (its "
    "95th percentile), and keep the check interval short.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service_definition_parameters.html",
            "2026-07-10",
        ),
        ("https://github.com/aws/copilot-cli/issues/2506", "undated"),
    ),
    facts=("SRV-10", "SRV-13"),
)
def lb_no_grace_period(service: Service, world: World) -> Found:
    """Services with a load balancer whose task uses an accelerator."""
    task = service.task
    if task is None or not task.is_accelerated or not service.items("loadBalancers"):
        return
    path = "healthCheckGracePeriodSeconds"
    if service.has(path) and service.number(path) != 0:
        return
    load = next(
        (c.environment.number("MODEL_LOAD_P95_SECONDS") for c in task.containers if c.environment),
        None,
    )
    message = "A load-balanced model server has no health check grace period"
    yield Hit(service, path, f"{message}, and it loads for about {load:g} s" if load else message)
