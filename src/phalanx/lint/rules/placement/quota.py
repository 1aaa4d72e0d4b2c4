"""The quota that accelerated hosts are counted against."""

from __future__ import annotations

from phalanx.facts.instances import InstanceType, instance
from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import is_instance
from phalanx.lint.world import World

_INDEX = Pattern(r"\[[^\]]*\]")
_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/"
_CODES = {
    ("P", False): "L-417A185B",
    ("P", True): "L-7212CCBC",
    ("P5", True): "L-C4BD4855",
    ("G and VT", False): "L-DB2E81BA",
    ("G and VT", True): "L-3819A6DF",
    ("Inf", False): "L-1945791B",
}


@rule(
    id="PLC008",
    slug="accelerated-quota",
    severity="info",
    areas=("placement", "capacity", "spot"),
    on=ScalingGroup,
    message="These hosts count against an EC2 quota of their own",
    why="P, G and VT, Inf, Trn and DL each have a vCPU quota, once for On-Demand and once for "
    "Spot, and the default may be 0. A raised On-Demand quota does nothing for Spot.",
    fix="Look the quota up in Service Quotas (service code ec2) before the first launch, and ask "
    "for the vCPUs of the largest size of the group.",
    sources=((_PAGE + "ec2-on-demand-instances.html", "2026-07-10"),),
    facts=("CAP-29", "CAP-30"),
)
def accelerated_quota(group: ScalingGroup, world: World) -> Found:
    """One line for each group of accelerated types; blocks have no such quota.

    Groups that one block makes (`for_each`, `count`) are added up for each quota.
    """
    largest = _largest(group)
    if largest is None:
        return
    is_spot = group.is_spot
    bucket = _bucket(largest, is_spot)
    code = _CODES.get((bucket, is_spot), "look up its code")
    market = "Spot" if is_spot else "On-Demand"
    need = _need(_same_quota(group, bucket, world))
    yield Hit(group, "maxSize", f"{need} of the {market} quota for {bucket} ({code})")


def _largest(group: ScalingGroup) -> InstanceType | None:
    rows = [row for row in map(instance, group.instance_types) if row and row.count]
    template = group.launch_template
    if template is not None and template.market == "capacity-block":
        return None
    return max(rows, key=lambda row: row.vcpus, default=None)


_Sized = tuple["float | None", InstanceType]


def _same_quota(group: ScalingGroup, bucket: str, world: World) -> list[_Sized]:
    """(largest size, type) of the group, and of its sisters that count against the same quota."""
    sisters = [group]
    if is_instance(group):
        stem = _stem(group)
        near = world.near(group, ScalingGroup)
        sisters = [g for g in near if g.scope == group.scope and _stem(g) == stem]
    found = [(g, _largest(g)) for g in sisters if g.is_spot == group.is_spot]
    return [
        (g.number("maxSize"), row)
        for g, row in found
        if row is not None and _bucket(row, g.is_spot) == bucket
    ]


def _need(groups: list[_Sized]) -> str:
    """`4 x g6.xlarge + 8 x g5.xlarge need 48 vCPU`."""
    sizes: dict[str, float] = {}
    vcpus = 0.0
    for size, row in groups:
        if not size:
            each = list(dict.fromkeys(row for _, row in groups))
            return ", ".join(f"each {row.name} needs {row.vcpus} vCPU" for row in each)
        sizes[row.name] = sizes.get(row.name, 0.0) + size
        vcpus += size * row.vcpus
    said = " + ".join(f"{size:g} x {name}" for name, size in sizes.items())
    return f"{said} need {vcpus:g} vCPU"


def _stem(group: ScalingGroup) -> str:
    return _INDEX.sub("", group.address)


def _bucket(row: InstanceType, is_spot: bool) -> str:
    if row.family.startswith("p5") and is_spot:
        return "P5"
    for start, name in (("p", "P"), ("g", "G and VT"), ("inf", "Inf"), ("trn", "Trn")):
        if row.family.startswith(start):
            return name
    return "DL"
