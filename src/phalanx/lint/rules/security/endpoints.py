"""Sets of VPC endpoints that lack a member."""

from __future__ import annotations

from phalanx.lint.infra import VpcEndpoint
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_AGENT = ("ecs", "ecs-agent", "ecs-telemetry")
_PULL = ("ecr.api", "ecr.dkr", "s3")


@rule(
    id="SEC008",
    slug="incomplete-vpc-endpoints",
    severity="info",
    areas=("security",),
    on=VpcEndpoint,
    message="The set of VPC endpoints lacks a member",
    why="Pulling needs ECR api and dkr and, for the layers, the S3 gateway; hosts need ecs, "
    "ecs-agent and ecs-telemetry together; logs and secrets need theirs. What is missing goes "
    "through NAT, or fails in a private subnet without it.",
    fix="Add the missing endpoints: S3 (gateway), ecr.api, ecr.dkr, logs, secretsmanager, ssm, "
    "ecs, ecs-agent, ecs-telemetry, and bedrock-runtime if it is used.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html",
            "2026-07-10",
        ),
    ),
    guards=("SB5",),
    facts=("SCY-21", "SCY-22", "STO-25"),
)
def incomplete_vpc_endpoints(endpoint: VpcEndpoint, world: World) -> Found:
    """Reported once, at the first endpoint of a world that has some, and whose names are known."""
    every = world.near(endpoint, VpcEndpoint)
    if not every or every[0] is not endpoint:
        return
    names = [_service(e.text("serviceName")) for e in every]
    if None in names:
        return
    there = {name for name in names if name}
    missing = sorted(_wanted(there, world.near(endpoint, Container)) - there)
    if missing:
        text = f"VPC endpoints are missing: {', '.join(missing)} (unless NAT takes their place)"
        yield Hit(endpoint, message=text)


def _wanted(there: set[str], containers: list[Container]) -> set[str]:
    """What belongs to the endpoints that are there, and to what containers use."""
    wanted: set[str] = set()
    for group in (_AGENT, _PULL):
        if there & set(group):
            wanted.update(group)
    if there & {"ecr.dkr", "ecr.api"}:
        drivers = {container.text("logConfiguration.logDriver") for container in containers}
        secrets = " ".join(str(container.raw("secrets")) for container in containers)
        wanted |= {"logs"} if "awslogs" in drivers else set()
        wanted |= {"secretsmanager"} if "secretsmanager" in secrets else set()
    return wanted


def _service(text: str | None) -> str | None:
    """`ecr.api` of `com.amazonaws.eu-west-1.ecr.api`; None when it cannot be known."""
    if text is None:
        return None
    parts = text.split(".", 3)
    if len(parts) == 4 and HOLE not in parts[3] and text.startswith("com.amazonaws."):
        return parts[3]
    return None if HOLE in text else ""
