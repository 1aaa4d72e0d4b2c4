"""Standalone tasks that draining leaves alone."""

from __future__ import annotations

from phalanx.lint.launch import RunTask
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="SPT006",
    slug="draining-leaves-standalone-task",
    severity="info",
    areas=("spot", "stop"),
    on=RunTask,
    message="Draining does not stop a standalone task: it must watch for the Spot notice itself",
    why="DRAINING stops and replaces the tasks of services. Tasks of RunTask and StartTask are "
    "left alone on EC2 hosts: they get no SIGTERM from it and run until the host is gone.",
    fix="Let the training poll spot/instance-action of the instance metadata every five seconds, "
    "or stop the task from a rule on the Spot interruption warning; keep checkpoints recent.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-draining.html",
            "2026-05-20",
        ),
    ),
    guards=("GR6",),
    facts=("CAP-54", "TRN-94"),
)
def draining_leaves_standalone_task(run: RunTask, world: World) -> Found:
    """RunTask inputs whose strategy names a provider of a Spot scaling group."""
    for item, provider in zip(run.strategy, run.capacity_providers, strict=False):
        if provider.is_spot and provider.has("autoScalingGroupProvider"):
            yield Hit(item, "capacityProvider")
            return
