"""A launch type beside a capacity-provider strategy."""

from __future__ import annotations

from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="HST007",
    slug="launch-type-beside-strategy",
    severity="error",
    areas=("host", "capacity"),
    on=Launcher,
    message="A launch type and a capacity-provider strategy are both given",
    why="The two exclude each other: the service, the task or the target is refused.",
    fix="Remove launchType and keep the strategy, so that capacity can scale out.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html",
            "2026-05-20",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateService.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-12", "IAC-04"),
)
def launch_type_beside_strategy(launcher: Launcher, world: World) -> Found:
    """Both known and not empty."""
    if launcher.launch_type and launcher.strategy:
        yield Hit(launcher, "launchType", f"launchType {launcher.launch_type} beside a strategy")
