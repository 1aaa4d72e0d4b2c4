"""Variables that Batch keeps for itself."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Environment
from phalanx.lint.world import World


@rule(
    id="GNG015",
    slug="batch-reserved-variable",
    severity="error",
    areas=("gang",),
    on=Environment,
    message="A job definition sets a variable that Batch keeps for itself",
    why="Names that start with AWS_BATCH belong to the service; a definition that sets one is "
    "refused, and the node index cannot be set by hand.",
    fix="Use a name of your own, and read AWS_BATCH_JOB_NODE_INDEX and its siblings in the entry "
    "script.",
    sources=(
        (
            "https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeProperties.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-58",),
)
def batch_reserved_variable(environment: Environment, world: World) -> Found:
    """Environments of Batch containers."""
    container = environment.container
    if container is None or container.workload.flavour != "batch":
        return
    for variable in environment.variables:
        if variable.key.startswith("AWS_BATCH"):
            yield Hit(variable, message=f"{variable.key} belongs to Batch")
