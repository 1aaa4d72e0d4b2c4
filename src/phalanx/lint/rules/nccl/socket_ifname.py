"""A filter of socket interfaces that leaves the wrong ones."""

from __future__ import annotations

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Environment, Workload
from phalanx.lint.world import World

_NAMES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
_LOCAL = Pattern(r"(?:lo|docker\w*|br-\w*|virbr\w*|veth\w*|ecs-bridge)$")
_HOSTS = Pattern(r"(?:en[sop]?\w*)$")
_FABRIC = Pattern(r"(?:efa|rdmap|ib)\w*$")


@rule(
    id="NCC002",
    slug="nccl-socket-ifname",
    severity="warning",
    areas=("nccl",),
    on=Environment,
    message="The filter of socket interfaces names the wrong ones",
    why="NCCL and Gloo bootstrap over an IP interface. Loopback and bridges do not reach other "
    "hosts, EFA devices carry no IP, and inside an awsvpc or bridge task the interface is "
    "called eth0, not by the host's name.",
    fix="With host networking NCCL_SOCKET_IFNAME=en (or ^lo,docker); in awsvpc tasks eth0; or "
    "leave it out and let NCCL choose.",
    sources=(
        (
            "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
            "undated",
        ),
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html", "2026-06-01"),
    ),
    facts=("TRN-52",),
)
def nccl_socket_ifname(environment: Environment, world: World) -> Found:
    """Single-node runs may use loopback, so that is a warning from two nodes up."""
    workload = environment.container.workload if environment.container else None
    for name in _NAMES:
        variable = environment.get(name)
        content = variable.content if variable else None
        if variable and content and HOLE not in content:
            wrong = _wrong(content.strip(), workload)
            if wrong:
                yield Hit(variable, message=f"{name}={content}: {wrong}")


def _wrong(content: str, workload: Workload | None) -> str:
    single = workload is None or not workload.is_multi_node
    names = [name.strip() for name in content.lstrip("^=").split(",") if name.strip()]
    if content.startswith("^"):
        bridges = any(name.startswith("docker") for name in names)
        hides = any("lo".startswith(name) for name in names)
        return "" if hides or not bridges or single else "lo stays, and may be chosen"
    return _wrong_names(names, single, workload) if names else ""


def _wrong_names(names: list[str], single: bool, workload: Workload | None) -> str:
    if all(_FABRIC.match(name) for name in names):
        return "an RDMA device has no IP address"
    if all(_LOCAL.match(name) for name in names):
        return "" if single else "this interface reaches no other host"
    inside = workload is not None and workload.network_mode in ("awsvpc", "bridge")
    if inside and all(_HOSTS.match(name) for name in names):
        return "inside the task the interface is eth0"
    return ""
