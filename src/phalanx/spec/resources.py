"""What a job runs on: nodes, resources of each, and the target."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from phalanx.spec.fields import COUNT_MAX, Devices, Number, Part, Size, Text, Truth, Whole
from phalanx.spec.wrong import Wrong, shown


class Nodes(Part):
    """How many tasks the job has; `min` below `max` lets it shrink and grow."""

    min: Whole = Field(ge=1, le=COUNT_MAX, description="Fewest nodes that the job goes on with.")
    max: Whole = Field(ge=1, le=COUNT_MAX, description="Most nodes that the job uses.")

    @model_validator(mode="after")
    def _ordered(self) -> Nodes:
        if self.min > self.max:
            raise Wrong("{path} must be at least nodes.min", below=("max",))
        return self


class _OrWhole:
    """Says in the JSON Schema that a plain number stands for both ends."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        number = {"type": "integer", "minimum": 1, "maximum": COUNT_MAX}
        return {"anyOf": [number, handler(schema)]}


def _range(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"min": value, "max": value}
    if not isinstance(value, dict):
        raise Wrong(
            f"{{path}} must be a whole number, not {shown(value)}", "write 4 or {min: 2, max: 4}"
        )
    return value


NodeCount = Annotated[Nodes, BeforeValidator(_range), _OrWhole()]


class Resources(Part):
    """What every node offers to its ranks."""

    accelerator: Devices | None = Field(
        default=None,
        description="Kind and number of accelerators of each node: H100:8, gpu:2 or cpu "
        "(default cpu).",
    )
    cpus: Number | None = Field(
        default=None, gt=0, le=4096, description="CPUs of each node (default 1)."
    )
    memory: Size | None = Field(
        default=None,
        description="Memory of each node, such as 64GiB (default 2GiB). Target local ends a rank "
        "of a task that uses more than is written here; without it nothing is enforced.",
    )
    efa: Truth | None = Field(
        default=None, description="Use Elastic Fabric Adapters between nodes (default false)."
    )
    shared_memory: Size | None = Field(
        default=None, description="Size of /dev/shm for data loaders (default: the target's own)."
    )


class Capacity(Part):
    """Which kind of capacity the target uses."""

    market: Literal["spot", "on_demand"] | None = Field(
        default=None, description="Spot capacity may be taken back at short notice."
    )
    provider: Text | None = Field(default=None, description="Name of a capacity provider.")


class Target(Part):
    """Where the job runs."""

    kind: Literal["local", "ecs", "batch", "ray"] | None = Field(
        default=None, description="The system that places and runs the tasks (default local)."
    )
    cluster: Text | None = Field(default=None, description="Name of the target's cluster.")
    capacity: Capacity | None = Field(default=None, description="Kind of capacity to use.")
