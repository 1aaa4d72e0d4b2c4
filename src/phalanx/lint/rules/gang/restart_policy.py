"""A restart policy on a training container."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import is_ray, trains
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="GNG008",
    slug="restart-policy-on-rank",
    severity="warning",
    areas=("gang", "stop"),
    on=Container,
    message="A restart policy brings a training rank back alone",
    why="The agent restarts the container in place, after exit code 0 as well. One rank that "
    "comes back alone cannot join the old world, and a run that ended well starts over.",
    fix="Turn the policy off for ranks and let the job's controller relaunch the gang. For one "
    "node, put 0 into ignoredExitCodes.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-restart-policy.html",
            "2026-06-29",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerRestartPolicy.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-72", "TRN-73"),
)
def restart_policy_on_rank(container: Container, world: World) -> Found:
    """Ranks of several nodes always; of one node where 0 is not ignored."""
    workload = container.workload
    if container.flag("restartPolicy.enabled") is not True or is_ray(container):
        return
    if workload.is_multi_node and container.is_accelerated and not container.is_server:
        yield Hit(container, "restartPolicy", "A rank of several nodes is restarted alone")
    elif trains(container) and container.is_accelerated:
        known = isinstance(container.raw("restartPolicy.ignoredExitCodes"), (list, type(None)))
        codes = container.texts("restartPolicy.ignoredExitCodes")
        if known and "0" not in codes:
            yield Hit(container, "restartPolicy", "The run starts over after exit code 0")
