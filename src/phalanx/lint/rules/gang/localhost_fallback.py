"""A rendezvous address that falls back to localhost."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_LOCAL = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1)"
_FALLBACK = Pattern(
    rf"\$\{{\w+:?[-=]\"?{_LOCAL}|\|\|\s*(?:echo\s+|\w+=)\"?{_LOCAL}|\w+=\"?{_LOCAL}\"?\s*;?\s*fi\b"
    rf"|get(?:env)?\(\s*['\"]\w+['\"]\s*,\s*['\"]{_LOCAL}['\"]"
)
_FIXED = Pattern(rf"--(?:rdzv[-_]endpoint|master[-_]addr|rdzv)[=\s]+{_LOCAL}")
_ADDRESS = ("MASTER_ADDR", "RDZV_ENDPOINT", "RDZV_HOST", "HEAD_ADDR", "MASTER_HOST")


@rule(
    id="GNG003",
    slug="rendezvous-localhost-fallback",
    severity="error",
    areas=("gang",),
    on=Container,
    message="The rendezvous address of a multi-node run falls back to localhost",
    why="When the name does not resolve yet, every node makes a world of its own, or waits for "
    "peers for ever, and nothing reports an error.",
    fix="Fail when the name has no answer, or repeat the lookup with a deadline; use a Cloud Map "
    "name, or the head task's address handed over at launch.",
    sources=(
        ("https://github.com/mlc-ai/pith-train/pull/91", "undated"),
        ("https://docs.pytorch.org/docs/stable/elastic/run.html", "undated"),
    ),
    facts=("TRN-53", "TRN-56"),
)
def rendezvous_localhost_fallback(container: Container, world: World) -> Found:
    """Error for more than one node; silent for one node or an unsaid number."""
    nodes = container.workload.nodes
    if nodes is None or nodes < 2:
        return
    command = container.command
    if command.script and (_FALLBACK.search(command.script) or _FIXED.search(command.script)):
        yield Hit(command.script_node or command.node)
        return
    for argument, after in zip(command.arguments, [*command.arguments[1:], None], strict=False):
        word = argument.text() or ""
        if _FIXED.match(f"{word} {after.text() if after else ''}"):
            yield Hit(argument if "=" in word or after is None else after)
            return
    for name in _ADDRESS:
        variable = container.environment.get(name)
        if variable and re.match(_LOCAL, variable.content or ""):
            yield Hit(variable, message=f"{name} is {variable.content} in a run of {nodes} nodes")
