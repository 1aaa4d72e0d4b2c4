"""A stop time-out that is over before the last checkpoint is saved."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_SAVE = Pattern(r"SAVE|SAVING|CHECKPOINT|CKPT|SNAPSHOT|FLUSH|SHUTDOWN|GRACE|DRAIN")
_UNIT = Pattern(r"_(SECONDS|SECS?|S|MINUTES|MINS?)$")
_EVERY = Pattern(
    r"INTERVAL|EVERY|PERIOD|FREQ|CADENCE|STEPS?_|MIN_|MAX_AGE|KEEP|RETENTION|DELAY|BACKOFF|POLL"
)
_FLAG = Pattern(
    r"--(?:[\w-]*(?:save|checkpoint|ckpt|shutdown|grace)[\w-]*[-_](?:seconds|secs?|timeout)"
    r"|grace(?:ful)?[-_](?:period|shutdown[-_]timeout))[=\s]+(\d+)(?:s|\b)"
)


@rule(
    id="STP004",
    slug="stop-timeout-shorter-than-save",
    severity="warning",
    areas=("stop",),
    on=Container,
    message="The stop time-out is shorter than the last save takes",
    why="After SIGTERM the agent waits for stopTimeout (30 s by default) and then kills: the "
    "checkpoint that was being written is lost.",
    fix="Raise stopTimeout above the time of a save (below 120 s on Spot and Fargate), or save "
    "to local NVMe first and upload in the background.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_StopTask.html",
            "2026-05-20",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-67", "TRN-68"),
)
def stop_timeout_shorter_than_save(container: Container, world: World) -> Found:
    """A variable or a flag states how long saving or shutting down takes."""
    if container.workload.flavour != "ecs" or not container.is_accelerated:
        return
    stated = _stated(container)
    if stated is None:
        return
    name, needs = stated
    given = container.number("stopTimeout")
    if given is None:
        if container.has("stopTimeout") or _agent_says(container, world):
            return
        given = settled("stop.default-timeout-s")
    if needs > given:
        yield Hit(
            container,
            "stopTimeout",
            f"{name} says {needs:g} s, but the container is killed after {given:g} s",
        )


def _stated(container: Container) -> tuple[str, float] | None:
    for variable in container.environment.variables:
        key = variable.key.upper()
        unit = _UNIT.search(key)
        if unit and _SAVE.search(key) and not _EVERY.search(key):
            count = variable.value.number()
            if count is not None:
                factor = 60.0 if unit[1].startswith("M") else 1.0
                return variable.key, count * factor
    match = _FLAG.search(container.command.text)
    if match:
        return match[0].split("=")[0].split()[0], float(match[1])
    return None


def _agent_says(container: Container, world: World) -> bool:
    """Some host beside it sets the agent's own default, or might."""
    for template in world.near(container, LaunchTemplate):
        data = template.user_data
        if data is None or not data.is_whole or "ECS_CONTAINER_STOP_TIMEOUT" in data.settings:
            return True
    return False
