"""A multi-node Batch job on Spot."""

from __future__ import annotations

from phalanx.lint.infra import ComputeEnvironment, JobQueue
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import JobDefinition
from phalanx.lint.world import World

_KIND = "computeResources.type"


@rule(
    id="SPT005",
    slug="batch-multi-node-on-spot",
    severity="error",
    areas=("spot",),
    on=JobDefinition,
    message="Batch runs no multi-node job on Spot",
    why="Multi-node parallel jobs are not supported on compute environments that use Spot "
    "Instances: the job stays RUNNABLE for ever.",
    fix="Use an On-Demand compute environment (type EC2), a reservation or a Capacity Block for "
    "multi-node jobs; or run the gang as ECS tasks that resume from a checkpoint.",
    sources=(("https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html", "undated"),),
    guards=("GR6",),
    facts=("TRN-58",),
)
def batch_multi_node_on_spot(job: JobDefinition, world: World) -> Found:
    """Every compute environment beside it is Spot: an error. A tag alone: a warning."""
    if not job.is_multinode:
        return
    environments = world.near(job, ComputeEnvironment)
    kinds = [(e.text(_KIND) or "").upper() for e in environments]
    if kinds and all(kind == "SPOT" for kind in kinds) and not _queues_elsewhere(job, world):
        yield Hit(job, "nodeProperties")
    elif not kinds and job.is_spot:
        yield Hit(job, "nodeProperties", severity="warning")


def _queues_elsewhere(job: JobDefinition, world: World) -> bool:
    """Some queue beside it uses an environment that the files do not hold."""
    for queue in world.near(job, JobQueue):
        for item in queue.items("computeEnvironmentOrder"):
            if world.link(queue, item.raw("computeEnvironment"), ComputeEnvironment) is None:
                return True
    return False
