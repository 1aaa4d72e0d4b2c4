"""NCCL variables that switch transports off."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import uses_efa
from phalanx.lint.workload import Environment
from phalanx.lint.world import World

_LEFT_OVERS = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")


@rule(
    id="NCC004",
    slug="nccl-transport-off",
    severity="warning",
    areas=("nccl",),
    on=Environment,
    message="An NCCL variable switches a transport off",
    why="NCCL_NET=Socket or an empty plugin keeps NCCL from EFA although it is there; "
    "P2P and shared memory switched off send traffic inside a host over the network.",
    fix="Remove the variable; set it only while looking for a fault.",
    sources=(("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", "undated"),),
    guards=("GR5",),
    facts=("TRN-51",),
)
def nccl_transport_off(environment: Environment, world: World) -> Found:
    """Sockets beside EFA are warnings, the others an info."""
    container = environment.container
    efa = uses_efa(container) if container else environment.content("FI_PROVIDER") == "efa"
    for name, value in (("NCCL_NET", "socket"), ("NCCL_NET_PLUGIN", "none")):
        variable = environment.get(name)
        if variable and (variable.content or "").lower() == value and efa:
            yield Hit(variable, message=f"{name}={variable.content} beside EFA")
    for name in _LEFT_OVERS:
        variable = environment.get(name)
        if variable and variable.content == "1":
            yield Hit(variable, message=f"{name}=1 slows ranks of one host down", severity="info")
