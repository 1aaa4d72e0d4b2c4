"""Long-lived AWS keys handed to a task, even from a secret store."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, JobFile, Workload
from phalanx.lint.world import World

_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@rule(
    id="SEC002",
    slug="static-keys-in-secret-store",
    severity="warning",
    areas=("security",),
    on=Workload,
    message="A task is handed static AWS keys, although it can have a role",
    why="Keys of a user live until somebody rotates them, are the same for every task, and take "
    "the place of the task role. Keys in a secret store are still static keys.",
    fix="Give the task a taskRoleArn (jobRoleArn in Batch) with what it needs, remove the keys and "
    "delete them in IAM. Credentials of the role rotate by themselves.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html",
            "2026-07-10",
        ),
    ),
    guards=("SB1", "SB2"),
    facts=("SCY-01", "SCY-07"),
)
def static_keys_in_secret_store(workload: Workload, world: World) -> Found:
    """`secrets` of containers and of job files; keys of a task that runs elsewhere are an info."""
    if isinstance(workload, JobFile):
        for key, node in workload.members("secrets"):
            if key in _KEYS[:2]:
                yield Hit(node, message=f"{key} is a static key; use a role", severity="info")
                return
    severity = "info" if workload.launch_types == {"EXTERNAL"} else ""
    for container in workload.containers:
        yield from _secrets(container, severity)


def _secrets(container: Container, severity: str) -> Found:
    for item in container.items("secrets"):
        if item.text("name") in _KEYS[:2]:
            yield Hit(
                item,
                message=f"{item.text('name')} comes from a secret store, but stays a static key",
                severity=severity,
            )
