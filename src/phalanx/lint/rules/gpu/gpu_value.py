"""A GPU count that is none."""

from __future__ import annotations

from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gpu.sharing_mixed import API
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="GPU007",
    slug="gpu-value",
    severity="error",
    areas=("gpu",),
    on=Container,
    message="The value of a GPU requirement is no count",
    why="value is a whole number written as text; newer pages add ALL, and a decimal for types "
    "that hold a part of a card. Whole cards cannot be split by a decimal.",
    fix="Write a whole number. To share a whole card use sharingStrategy.nvidiaMps.",
    sources=((API + "API_ResourceRequirement.html", "2026-05-20"),),
    guards=("GR3",),
    facts=("CMP-29", "CMP-30", "CMP-45"),
)
def gpu_value(container: Container, world: World) -> Found:
    """Words and numbers below 0 are errors; decimals on types with whole cards are warnings.

    A decimal below 1 is an info where the type is not known: it depends on the type.
    """
    if container.workload.flavour not in ("ecs", "batch"):
        return
    for need in container.items("resourceRequirements"):
        text, number = need.text("value"), need.number("value")
        if need.text("type") != "GPU" or text is None or HOLE in text or text.upper() == "ALL":
            continue
        if number is None or number < 0:
            yield Hit(need, "value", f"GPU value {text!r} is no number")
        elif number == 0:
            yield Hit(need, "value", "A GPU requirement of 0 asks for nothing", severity="info")
        elif number != int(number):
            rows = allowed(container)
            part = max((row.share for row in rows if row.is_fractional), default=0.0)
            if (rows and number > part) or number > 1:
                message = f"{text} GPU: a decimal is for types that hold a part of a card"
                yield Hit(need, "value", message, severity="warning")
            elif not rows and not container.instance_types:
                message = (
                    f"{text} GPU is right only on types that hold a part of a card (g6f, gr6f); no "
                    "other host can take the task, and nothing here names the type"
                )
                yield Hit(need, "value", message, severity="info")
