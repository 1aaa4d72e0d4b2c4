"""What a rank is told of where its job began."""

from __future__ import annotations

import pytest

from phalanx.agent.environment import Place, rank_environment
from phalanx.frozen import replace
from phalanx.plan.lineage import Origin
from tests.support.records import JOB, PLAN, world

PLACE = Place(JOB, "/kept", 0, 0, "/files", "/rank", "/agent")


@pytest.mark.parametrize(
    ("origin", "path"),
    [
        (None, ""),
        (Origin(weights="/models/tiny"), "/models/tiny"),
        (
            Origin(job="base-1", checkpoint="0000000040-0"),
            f"/kept/jobs/{JOB}/init/0000000040-0",
        ),
    ],
)
def test_a_script_finds_what_its_job_began_from(origin: Origin | None, path: str) -> None:
    plan = replace(PLAN, init_from=origin)
    assert rank_environment(plan, world(), PLACE, 0)["PHALANX_INIT_FROM"] == path
