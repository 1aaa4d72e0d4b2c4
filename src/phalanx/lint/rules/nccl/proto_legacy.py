"""NCCL_PROTO=simple, a leftover."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Environment
from phalanx.lint.world import World


@rule(
    id="NCC001",
    slug="nccl-proto-legacy",
    severity="warning",
    areas=("nccl",),
    on=Environment,
    message="NCCL_PROTO=simple turns faster protocols off",
    why="It was a workaround for early EFA plugins. Today it disables LL and LL128, which small "
    "and middle-sized messages need.",
    fix="Remove NCCL_PROTO and let NCCL choose.",
    sources=(
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html", "2026-07-10"),
    ),
    facts=("TRN-51",),
)
def nccl_proto_legacy(environment: Environment, world: World) -> Found:
    """Any spelling of `simple`."""
    variable = environment.get("NCCL_PROTO")
    if variable and (variable.content or "").lower() == "simple":
        yield Hit(variable)
