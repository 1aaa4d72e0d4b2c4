"""The quota that accelerated hosts are counted against."""

from __future__ import annotations

from phalanx.facts.instances import InstanceType, instance
from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

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
    """One line for each group of accelerated types; blocks have no such quota."""
    rows = [row for row in map(instance, group.instance_types) if row and row.count]
    template = group.launch_template
    if not rows or (template is not None and template.market == "capacity-block"):
        return
    largest = max(rows, key=lambda row: row.vcpus)
    is_spot = group.is_spot
    bucket = _bucket(largest, is_spot)
    code = _CODES.get((bucket, is_spot), "look up its code")
    market = "Spot" if is_spot else "On-Demand"
    size = group.number("maxSize")
    need = (
        f"{size:g} x {largest.name} need {size * largest.vcpus:g} vCPU"
        if size
        else (f"each {largest.name} needs {largest.vcpus} vCPU")
    )
    yield Hit(group, "maxSize", f"{need} of the {market} quota for {bucket} ({code})")


def _bucket(row: InstanceType, is_spot: bool) -> str:
    if row.family.startswith("p5") and is_spot:
        return "P5"
    for start, name in (("p", "P"), ("g", "G and VT"), ("inf", "Inf"), ("trn", "Trn")):
        if row.family.startswith(start):
            return name
    return "DL"
