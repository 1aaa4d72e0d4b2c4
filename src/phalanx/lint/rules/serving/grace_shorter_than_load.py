"""A grace period that ends before the model is loaded."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, Workload
from phalanx.lint.world import World

_LOAD = Pattern(
    r"(?:LOAD|STARTUP|START_?UP|WARM_?UP|READY|BOOT)\w*_(SECONDS|SECS?|S|MINUTES|MINS?)$"
)
_GRACE = "healthCheckGracePeriodSeconds"


@rule(
    id="SRV003",
    slug="grace-shorter-than-model-load",
    severity="warning",
    areas=("serving",),
    on=Service,
    message="The health check grace period is shorter than the model takes to load",
    why="Checks that fail after the grace period end the task, which then loads the model again, "
    "for ever.",
    fix="Set healthCheckGracePeriodSeconds above the slowest usual load time, with room for the "
    "image pull and a cold cache.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service_definition_parameters.html",
            "2026-07-10",
        ),
    ),
    facts=("SRV-10", "SRV-11"),
)
def grace_shorter_than_model_load(service: Service, world: World) -> Found:
    """A variable states the load time; a load balancer or a container health check judges it."""
    task = service.task
    if task is None or not task.is_accelerated:
        return
    load = stated_load(task)
    if load is None:
        return
    if service.has("loadBalancers"):
        grace = service.number(_GRACE)
        if grace is not None and 0 < grace < load:
            yield Hit(service, _GRACE, f"The grace period is {grace:g} s, loading takes {load:g} s")
    elif not service.has(_GRACE):
        for container in task.containers:
            patience = _patience(container)
            if patience is not None and patience < load:
                text = f"The health check gives up after {patience:g} s, loading takes {load:g} s"
                yield Hit(container, "healthCheck", text)


def stated_load(task: Workload) -> float | None:
    """Seconds that a variable of the task gives for loading; None when none does."""
    for container in task.containers:
        for variable in container.environment.variables:
            match = _LOAD.search(variable.key.upper())
            count = variable.value.number() if match else None
            if match and count is not None and "TIMEOUT" not in variable.key.upper():
                return count * (60.0 if match[1].startswith("M") else 1.0)
    return None


def _patience(container: Container) -> float | None:
    if not container.items("healthCheck.command"):
        return None
    defaults = {"startPeriod": 0.0, "interval": 30.0, "retries": 3.0}
    found: dict[str, float] = {}
    for key, default in defaults.items():
        value = container.number(f"healthCheck.{key}")
        if value is None and container.has(f"healthCheck.{key}"):
            return None
        found[key] = default if value is None else value
    return found["startPeriod"] + found["interval"] * found["retries"]
