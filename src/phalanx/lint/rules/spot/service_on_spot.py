"""A load-balanced service whose cards can all be taken away at once."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import trains
from phalanx.lint.world import World


@rule(
    id="SPT003",
    slug="spot-for-latency-bound-serving",
    severity="warning",
    areas=("spot", "serving"),
    on=Service,
    message="A load-balanced service stands on Spot capacity alone",
    why="Spot may take every card of a pool within two minutes, and a new host needs longer than "
    "that to pull the image and load the model: requests fail until capacity is back.",
    fix="Give the service a base on On-Demand or reserved capacity (base in the strategy), and "
    "keep Spot for training that resumes, or for work that may wait.",
    sources=(
        ("https://aws.amazon.com/ec2/spot/instance-advisor/", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-placement-score.html",
            "2026-07-10",
        ),
    ),
    guards=("GR6",),
    facts=("CAP-50", "CST-03"),
)
def spot_for_latency_bound_serving(service: Service, world: World) -> Found:
    """Accelerated services behind a load balancer; every provider of the strategy known as Spot."""
    task = service.task
    if task is None or not task.is_accelerated or any(trains(c) for c in task.containers):
        return
    connected = service.flag("serviceConnectConfiguration.enabled") is True
    if not service.has("loadBalancers") and not connected:
        return
    providers = service.capacity_providers
    if not providers or len(providers) != len(service.strategy):
        return
    if all(provider.is_spot for provider in providers):
        yield Hit(service, "capacityProviderStrategy")
