from __future__ import annotations

import ast
from importlib.resources import files

from phalanx.plan.build import build_plan
from phalanx.spec.load import load

STARTER = files("phalanx").joinpath("spec", "starter")


def test_the_starter_job_makes_a_plan() -> None:
    loaded = load(STARTER.joinpath("job.yaml").read_text("utf-8"))
    plan = build_plan(loaded.spec)
    assert (plan.nodes, plan.ranks_per_node, plan.source) == (2, 1, ".")
    assert plan.checkpoint.every_steps == 50


def test_the_starter_script_is_short_and_ends_at_the_step_that_the_job_names() -> None:
    text = STARTER.joinpath("train.py").read_text("utf-8")
    assigned = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    (total,) = (ast.unparse(node.value) for node in assigned)
    job = load(STARTER.joinpath("job.yaml").read_text("utf-8")).spec
    assert total == f"int(os.environ.get('PHALANX_TOTAL_STEPS', '{job.total_steps}'))"
    assert len(text.splitlines()) <= 50
