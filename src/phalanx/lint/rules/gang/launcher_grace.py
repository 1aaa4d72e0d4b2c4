"""A launcher that kills its ranks before the stop time is over."""

from __future__ import annotations

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_LAUNCHER = Pattern(r"\btorchrun\b|torch\.distributed\.(?:run|launch)\b")
_OWN = Pattern(r"--shutdown[-_]timeout[=\s]+[\"']?(\d+)")
_DEFAULT_S = 30


@rule(
    id="GNG010",
    slug="launcher-grace-below-stop-timeout",
    severity="warning",
    areas=("gang", "stop"),
    on=Container,
    message="The launcher kills the ranks long before stopTimeout is over",
    why="After SIGTERM torchrun gives its ranks 30 s of its own (--shutdown-timeout) and then "
    "kills them: a save that takes longer is lost, however long stopTimeout is.",
    fix="Set --shutdown-timeout a few seconds below stopTimeout.",
    sources=(
        ("https://docs.pytorch.org/docs/stable/elastic/run.html", "undated"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-67", "TRN-68"),
)
def launcher_grace_below_stop_timeout(container: Container, world: World) -> Found:
    """A warning on Spot, or where the launcher's time is written; elsewhere an info."""
    text, limit = container.command.text, container.number("stopTimeout")
    if limit is None or limit <= _DEFAULT_S or not _LAUNCHER.search(text):
        return
    if container.workload.flavour not in ("ecs", "compose"):
        return
    own = _OWN.search(text)
    if own is None and ("shutdown-timeout" in text or "shutdown_timeout" in text):
        return
    grace = int(own[1]) if own else _DEFAULT_S
    if grace < limit / 2:
        sure = bool(own) or container.workload.is_spot
        message = f"The launcher kills the ranks after {grace} s; stopTimeout is {limit:g} s"
        yield Hit(container.command.node, "", message, severity="" if sure else "info")
