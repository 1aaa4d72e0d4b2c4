"""Costs that are written down as one number."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate, ScalingGroup
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Environment
from phalanx.lint.world import World

_NAME = Pattern(
    r"(?:^|_)(?:HOURLY|DAILY|MONTHLY|GPU|INSTANCE|NODE|ESTIMATED|TOTAL|RUN|UNIT|SPOT)_?"
    r"(?:COST|PRICE|RATE_USD)(?:_|$)|(?:^|_)(?:COST|PRICE|USD)_PER_\w+|(?:COST|PRICE)_(?:USD|EUR)$"
)


@rule(
    id="CST006",
    slug="cost-as-one-number",
    severity="info",
    areas=("cost", "spot"),
    on=Entity,
    message="A cost stands here as one number, without region, date and purchase option",
    why="Prices differ by region, purchase option and day. One number is wrong soon, and is then "
    "taken for a promise; a fixed maximum price of Spot also means more interruptions and "
    "hosts that never come.",
    fix="State a range with its drivers, region and date, or read prices when they are needed "
    "(Price List API, Spot price history); leave the maximum Spot price out.",
    sources=(
        (
            "https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html",
            "2026-05-20",
        ),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-instances-request.html",
            "undated",
        ),
    ),
    guards=("GR8",),
    facts=("CST-08", "CST-09"),
)
def cost_as_one_number(entity: Entity, world: World) -> Found:
    """Variables that hold a price, and maximum prices of Spot in templates and groups."""
    if isinstance(entity, Environment):
        for variable in entity.variables:
            if _NAME.search(variable.key.upper()) and variable.value.number() is not None:
                yield Hit(variable, message=f"{variable.key} is a cost as one number")
    elif isinstance(entity, LaunchTemplate):
        for path in ("instanceMarketOptions.spotOptions.maxPrice", "spotPrice"):
            if entity.number(path) is not None:
                yield Hit(entity, path, "A fixed maximum price for Spot")
    elif isinstance(entity, ScalingGroup):
        for path in ("mixedInstancesPolicy.instancesDistribution.spotMaxPrice", "spotPrice"):
            if entity.number(path) is not None:
                yield Hit(entity, path, "A fixed maximum price for Spot")
