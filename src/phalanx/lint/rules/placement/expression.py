"""Placement expressions that match no host."""

from __future__ import annotations

from phalanx.lint.entity import Entity, Node
from phalanx.lint.launch import Launcher
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World

_BARE = Pattern(r"(?:^|[\s(])(ecs\.[\w-]+)\s*(?:==|=~|!=|in\b|equals)")
_STAR = Pattern(r"(==|equals)\s*[\"']?([\w.-]*\*[\w.*-]*)")
_GLOB = Pattern(r"=~\s*[\"']?(\*[\w.*-]*)")


@rule(
    id="PLC006",
    slug="placement-expression-matches-nothing",
    severity="error",
    areas=("placement",),
    on=Entity,
    message="The placement expression can match no host",
    why="== compares text, a pattern needs =~ with a regular expression, and built-in attributes "
    "are written attribute:ecs.<name>. Otherwise the task is never placed.",
    fix="Write attribute:ecs.instance-type == g5.xlarge, or attribute:ecs.instance-type =~ g5.*",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/cluster-query-language.html",
            "2023-06-15",
        ),
    ),
    facts=("TRN-32", "TRN-33", "TRN-36"),
)
def placement_expression_matches_nothing(entity: Entity, world: World) -> Found:
    """Constraints of task definitions, services and RunTask inputs."""
    if not isinstance(entity, (TaskDefinition, Launcher)):
        return
    for constraint in entity.items("placementConstraints"):
        text = constraint.text("expression") or ""
        wrong = _wrong(text)
        if wrong:
            yield _hit(constraint, wrong)


def _wrong(text: str) -> str:
    bare, star, glob = _BARE.search(text), _STAR.search(text), _GLOB.search(text)
    if bare:
        return f"{bare[1]} lacks the prefix attribute:"
    if star:
        return f"{star[1]} compares with the text {star[2]}; a pattern needs =~"
    return f"{glob[1]} is no regular expression" if glob else ""


def _hit(constraint: Node, wrong: str) -> Hit:
    return Hit(constraint, "expression", wrong)
