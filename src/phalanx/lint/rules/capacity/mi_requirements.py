"""Instance requirements of Managed Instances that do not have the API's shape."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.entity import Node
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_PATH = "managedInstancesProvider.instanceLaunchTemplate.instanceRequirements"
_LISTS = (
    "acceleratorTypes",
    "acceleratorNames",
    "acceleratorManufacturers",
    "allowedInstanceTypes",
)
_REQUIRED = (("vCpuCount", "vcpuCount"), ("memoryMiB", "memoryMib"))
"""The API's word, and what Terraform's becomes."""
_TYPES = ("gpu", "fpga", "inference")


@rule(
    id="CAP012",
    slug="mi-requirements-shape",
    severity="error",
    areas=("capacity",),
    on=CapacityProvider,
    message="The instance requirements of Managed Instances do not have the API's shape",
    why="vCpuCount and memoryMiB are required, accelerator types and names are lists, "
    "acceleratorCount is an object with min and max, and newer cards have no name in the list: "
    "the call is refused before it is sent.",
    fix='Write "vCpuCount": {"min": n}, "memoryMiB": {"min": n}, "acceleratorTypes": ["gpu"], '
    '"acceleratorCount": {"min": 1}; choose L4, L40S, H200, Trainium and newer by '
    "allowedInstanceTypes.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_InstanceRequirementsRequest.html",
            "2026-05-20",
        ),
    ),
    facts=("CMP-51", "CMP-53", "CMP-08"),
)
def mi_requirements_shape(provider: CapacityProvider, world: World) -> Found:
    """Missing members, wrong shapes, unknown words; families that it does not offer: a warning."""
    needs = provider.node(_PATH)
    if not isinstance(needs.data, dict) or not needs.data:
        return
    for spellings in _REQUIRED:
        if not any(needs.has(word) for word in spellings):
            yield Hit(needs, message=f"instanceRequirements lack {spellings[0]}")
    yield from _shapes(needs)
    names = tuple(settled("mi.accelerator-names"))
    yield from _words(needs, "acceleratorNames", names)
    yield from _words(needs, "acceleratorTypes", _TYPES)
    for item in needs.items("allowedInstanceTypes"):
        family = (item.text() or "").partition(".")[0]
        if family in settled("gpu.mi-absent"):
            text = f"Managed Instances do not list {item.text()}"
            yield Hit(item, message=text, severity="warning")


def _words(needs: Node, key: str, allowed: tuple[str, ...]) -> Found:
    for item in needs.items(key):
        name = item.text() or ""
        if name and name.isascii() and name not in allowed:
            yield Hit(item, message=f"{name} is none of {key}: {', '.join(allowed)}")


def _shapes(needs: Node) -> Found:
    for key in _LISTS:
        if isinstance(needs.raw(key), (str, int, dict)):
            yield Hit(needs, key, f"{key} must be a list")
    if isinstance(needs.raw("acceleratorCount"), (int, float, str, list)):
        yield Hit(needs, "acceleratorCount", "acceleratorCount must be an object with min and max")
