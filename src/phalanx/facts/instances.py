"""EC2 instance types that ML on ECS meets: accelerators, memory, EFA, disks."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from phalanx.frozen import frozen

API_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html"


@frozen
class InstanceType:
    """One row of DescribeInstanceTypes; sizes in MiB, `nvme_gb` per disk.

    `share` is the part of a device that one holds (1/8 to 1/2 on fractional types).
    """

    name: str
    maker: str
    accelerator: str
    count: int
    share: float
    device_memory_mib: int
    cores: int
    vcpus: int
    memory_mib: int
    efa: int
    network_cards: int
    interfaces: int
    nvme_count: int
    nvme_gb: int
    architecture: str
    usage: tuple[str, ...]

    @property
    def family(self) -> str:
        """`g5` of `g5.xlarge`."""
        return self.name.partition(".")[0]

    @property
    def gpus(self) -> int:
        """Whole NVIDIA GPUs; 0 for fractional types and other makers."""
        return self.count if self.maker == "NVIDIA" and self.share == 1.0 else 0

    @property
    def neuron_devices(self) -> int:
        """Inferentia or Trainium devices."""
        return self.count if self.maker == "AWS" else 0

    @property
    def is_fractional(self) -> bool:
        """Holds a part of a GPU."""
        return self.share < 1.0


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return _data("instances.json")


@lru_cache(maxsize=1)
def _by_hand() -> dict[str, Any]:
    made: dict[str, Any] = _data("instances-by-hand.json")["rows"]
    return made


def _data(name: str) -> dict[str, Any]:
    text = (Path(__file__).parent / "data" / name).read_text("utf-8")
    made: dict[str, Any] = json.loads(text)
    return made


def _names() -> list[str]:
    rows = _table()["rows"]
    return [*rows, *(name for name in _by_hand() if name not in rows)]


@lru_cache(maxsize=512)
def instance(name: str) -> InstanceType | None:
    """The type of that name; None when the tables do not hold it."""
    row = _table()["rows"].get(name)
    if row is None and name in _by_hand():
        row = _by_hand()[name]["row"]
    if row is None:
        return None
    members = dict(zip(_table()["columns"], row, strict=True))
    return InstanceType(name=name, **{**members, "usage": tuple(members["usage"])})


@lru_cache(maxsize=64)
def family(name: str) -> tuple[InstanceType, ...]:
    """Every type of a family, smallest first."""
    found = (instance(key) for key in _names() if key.partition(".")[0] == name)
    return tuple(row for row in found if row)


def all_instances() -> tuple[InstanceType, ...]:
    """Every type of the tables."""
    found = (instance(key) for key in _names())
    return tuple(row for row in found if row)


def source_of(name: str) -> tuple[str, str, str]:
    """(where the row of a type comes from, its page, the day that it says)."""
    made = _table()
    if name in made["rows"]:
        return str(made["source"]), API_PAGE, str(made["verified"])
    row = _by_hand()[name]
    return str(row["source"]), str(row["url"]), str(row["verified"])
