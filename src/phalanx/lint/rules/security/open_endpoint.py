"""Model servers on the internet without authentication."""

from __future__ import annotations

from phalanx.lint.capacity import SecurityGroup, open_to_world
from phalanx.lint.entity import Node
from phalanx.lint.infra import Listener, ListenerRule, LoadBalancer, TargetGroup
from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_AUTH = ("authenticate-cognito", "authenticate-oidc", "jwt-validation")
_PLAIN = ("HTTP", "TCP")
_SOURCES = (
    *("cidrIp", "cidrBlocks", "cidrIpv6", "ipv6CidrBlocks", "sourceSecurityGroupId"),
    *("securityGroups", "sourcePrefixListId", "prefixListId", "prefixListIds"),
)


@rule(
    id="SEC009",
    slug="inference-endpoint-without-authentication",
    severity="error",
    areas=("security", "serving"),
    on=Listener,
    message="A model server is reachable from the internet without authentication",
    why="Model servers have no real authentication. Whoever finds the address uses the cards, "
    "reads what the model may read, and pays nothing.",
    fix="Make the load balancer internal; else use an HTTPS listener with authenticate-oidc or "
    "authenticate-cognito (or an API gateway, mTLS, signed requests) and a web ACL.",
    sources=(
        (
            "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/"
            "listener-authenticate-users.html",
            "2026-07-10",
        ),
    ),
    guards=("SB6",),
    facts=("SCY-24", "SCY-25"),
)
def inference_endpoint_without_authentication(listener: Listener, world: World) -> Found:
    """Internet-facing without TLS and open to all: an error. With TLS only: an info. Not said
    whether internal or internet-facing: an info."""
    balancer = world.link(listener, listener.raw("loadBalancerArn"), LoadBalancer)
    if (
        balancer is None
        or not _forwards_to_model(listener, world)
        or _authenticates(listener, world)
    ):
        return
    scheme = balancer.text("scheme")
    if scheme is None and (balancer.has("scheme") or balancer.has("internal")):
        return
    if scheme == "internal" or balancer.has("mutualAuthentication"):
        return
    if listener.has("mutualAuthentication"):
        return
    if scheme is None:
        text = "The load balancer of a model server does not say internal or internet-facing (the "
        yield Hit(balancer, "scheme", f"{text}default is internet-facing)", severity="info")
        return
    exposure = _exposure(balancer, world)
    if exposure == "closed":
        return
    if listener.text("protocol") in _PLAIN:
        yield Hit(listener, "protocol", severity="" if exposure == "open" else "warning")
    elif listener.text("protocol") in ("HTTPS", "TLS"):
        text = "An internet-facing model server has TLS, but the load balancer authenticates nobody"
        yield Hit(listener, message=text, severity="info")


def _exposure(balancer: LoadBalancer, world: World) -> str:
    """`open`, `closed` or `unknown`, by the load balancer's security groups."""
    groups = world.links(balancer, balancer.node("securityGroups"), SecurityGroup)
    if not groups or len(groups) != len(balancer.items("securityGroups")):
        return "unknown"
    rules = [rule_ for group in groups for rule_ in group.rules("ingress")]
    if any(open_to_world(rule_) for rule_ in rules):
        return "open"
    plain = all(any(isinstance(r.raw(key), (str, list)) for key in _SOURCES) for r in rules)
    return "closed" if rules and plain else "unknown"


def _forwards_to_model(listener: Listener, world: World) -> bool:
    actions = listener.items("defaultActions")
    for rule_ in _rules_of(listener, world):
        actions += rule_.items("actions")
    targets = [t for action in actions for t in _targets(action, listener, world)]
    for service in world.near(listener, Service):
        task = service.task
        if task is None or not task.is_accelerated:
            continue
        if any(target in service.target_groups for target in targets):
            return True
    return False


def _targets(action: Node, listener: Listener, world: World) -> list[TargetGroup]:
    values = [action.raw("targetGroupArn")]
    for base in ("forwardConfig.targetGroups", "forward.targetGroups", "forward.targetGroup"):
        for item in [*action.items(base), action.node(base)]:
            values += [item.raw("targetGroupArn"), item.raw("arn")]
    found = (world.link(listener, value, TargetGroup) for value in values if value is not None)
    return [group for group in found if group is not None]


def _rules_of(listener: Listener, world: World) -> list[ListenerRule]:
    return [
        rule_
        for rule_ in world.near(listener, ListenerRule)
        if world.link(rule_, rule_.raw("listenerArn"), Listener) is listener
    ]


def _authenticates(listener: Listener, world: World) -> bool:
    """Some action authenticates, or might: an unknown type keeps the rule silent."""
    actions = listener.items("defaultActions")
    for rule_ in _rules_of(listener, world):
        actions += rule_.items("actions")
    return any(action.text("type") in (None, *_AUTH) for action in actions)
