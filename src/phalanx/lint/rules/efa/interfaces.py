"""EFA interfaces of a launch template that the type has not got."""

from __future__ import annotations

from phalanx.facts.instances import API_PAGE
from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.hosts import template_types
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="EFA009",
    slug="efa-interfaces-of-type",
    severity="error",
    areas=("efa",),
    on=LaunchTemplate,
    message="The launch template attaches EFA interfaces that the type cannot have",
    why="A type has a fixed number of EFA interfaces, some have none; and an efa-only interface "
    "has no IP address, so it cannot be the primary one. The launch is refused.",
    fix="Attach at most the number of the type, the first one as interface or efa on card 0, "
    "device 0.",
    sources=(
        (API_PAGE, "undated"),
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html", "undated"),
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html", "2026-05-20"),
    ),
    guards=("GR5", "GR9"),
    facts=("INS-09", "INS-10", "TRN-38"),
)
def efa_interfaces_of_type(template: LaunchTemplate, world: World) -> Found:
    """Too many, or efa-only first; fewer than the type has is an info."""
    for interface in template.interfaces:
        first = interface.number("deviceIndex") == 0 and not interface.number("networkCardIndex")
        unsure = interface.has("networkCardIndex") and interface.number("networkCardIndex") is None
        if interface.text("interfaceType") == "efa-only" and first and not unsure:
            yield Hit(interface, "interfaceType", "An efa-only interface cannot be the primary one")
    rows, attached = template_types(template), template.efa_interfaces
    if not rows or not attached:
        return
    least = min(rows, key=lambda row: row.efa)
    path = "networkInterfaces"
    if attached > least.efa:
        has = str(least.efa) if least.efa else "none"
        yield Hit(template, path, f"{attached} EFA interfaces are attached; {least.name} has {has}")
    elif attached < least.efa:
        message = f"Of the {least.efa} EFA interfaces of {least.name}, {attached} attached"
        yield Hit(template, path, message, severity="info")
