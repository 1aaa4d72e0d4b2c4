"""The main node of a multi-node parallel job asks for a variable that it has not got."""

from __future__ import annotations

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, JobDefinition
from phalanx.lint.world import World

_NAME = "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"
_HANDLED = Pattern(rf"\$\{{{_NAME}:?-|AWS_BATCH_JOB_MAIN_NODE_INDEX|-[zn]\s+\"?\$\{{?{_NAME}")


@rule(
    id="GNG002",
    slug="main-node-address-missing-on-main",
    severity="warning",
    areas=("gang",),
    on=Container,
    message=f"{_NAME} is absent on the main node",
    why="Batch sets the address of the main node on the child nodes only; the main node must "
    "find its own address, else it starts with an empty one.",
    fix="In the entry script use the address when it is set, else the node's own: "
    f"${{{_NAME}:-$(hostname -i)}}.",
    sources=(
        ("https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html", "2026-05-20"),
    ),
    facts=("TRN-57",),
)
def main_node_address_missing_on_main(container: Container, world: World) -> Found:
    """Arguments of the node range that holds the main node."""
    job = container.workload
    if not isinstance(job, JobDefinition) or not job.is_multinode:
        return
    if _HANDLED.search(container.command.text) or not _runs_main(job, container):
        return
    for argument in container.command.arguments:
        if _NAME in (argument.text() or ""):
            yield Hit(argument)
            return


def _runs_main(job: JobDefinition, container: Container) -> bool:
    main = job.number("nodeProperties.mainNode") or 0
    for group in job.items("nodeProperties.nodeRangeProperties"):
        if container.base[: len(group.base)] == group.base:
            first, _, last = (group.text("targetNodes") or "0:").partition(":")
            upper = int(last) if last.isdigit() else 10**6
            lower = int(first) if first.isdigit() else 0
            return lower <= main <= (upper if ":" in (group.text("targetNodes") or ":") else lower)
    return True
