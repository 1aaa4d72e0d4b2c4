"""What ranks and launchers are told when some slots take no part."""

from __future__ import annotations

import pytest

from phalanx.agent.command import launcher_argv
from phalanx.agent.environment import Place, rank_environment
from phalanx.frozen import replace
from phalanx.plan.job import JobPlan
from phalanx.state.gang import World
from tests.support.records import PLAN, member

WORLD = World(3, (member(0, 3), member(2, 3)))
PLACE = Place("demo-1", "/root", 2, 3, "/files", "/run", "/run/agent")


def plan(launcher: str, ranks: int) -> JobPlan:
    return replace(PLAN, nodes=4, min_nodes=2, launcher=launcher, ranks_per_node=ranks)


@pytest.mark.parametrize(("launcher", "ranks"), [("ranks", 2), ("torchrun", 2), ("none", 1)])
def test_ranks_are_numbered_over_those_that_take_part(launcher: str, ranks: int) -> None:
    own = ranks if launcher == "ranks" else 1
    world = replace(WORLD, members=tuple(replace(m, ranks=own) for m in WORLD.members))
    env = rank_environment(plan(launcher, ranks), world, PLACE, 0)
    assert (env["RANK"], env["WORLD_SIZE"]) == (str(own), str(2 * own))
    assert (env["NODE_RANK"], env["GROUP_WORLD_SIZE"]) == ("1", "2")
    assert env["MASTER_PORT"] == str(world.members[0].port)
    assert env["PHALANX_MIN_WORLD_SIZE"] == str(2 * ranks)
    assert env["PHALANX_MAX_WORLD_SIZE"] == str(4 * ranks)


def test_torchrun_is_started_for_the_nodes_of_this_world() -> None:
    argv = launcher_argv(plan("torchrun", 2), WORLD, 2, "python")
    assert "--nnodes=2" in argv
    assert "--node-rank=1" in argv


def test_a_fixed_job_and_one_without_a_batch_are_told_nothing_of_it() -> None:
    env = rank_environment(replace(PLAN, nodes=4), WORLD, PLACE, 0)
    assert not [name for name in env if name.endswith(("_WORLD_SIZE", "_BATCH")) and "PHAL" in name]
    batch = replace(plan("ranks", 1), global_batch=64)
    assert rank_environment(batch, WORLD, PLACE, 0)["PHALANX_GLOBAL_BATCH"] == "64"
