"""A checkpoint that cannot be read is told: which, why, from where the job went on instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.agent.protocol import Seal
from phalanx.agent.seal import seal
from phalanx.app.events import events
from phalanx.app.fallback import ahead, fallbacks
from phalanx.app.jobs import load
from phalanx.app.look import Look, look
from phalanx.app.views import status_view
from phalanx.app.why import why_view
from phalanx.checkpoint.find import BY_A_RANK
from phalanx.state.codec import dumps
from phalanx.state.gang import Head, Member, PassedOver, World
from phalanx.state.read import read_head
from phalanx.state.record import Cause, PastAttempt, PauseRequest
from phalanx.words import FailureClass, Phase
from tests.support.made_root import T0, MadeRoot, record
from tests.support.saves import JOB, Saves

OLD, NEW = "0000000020-0", "0000000040-0"


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    """Two commits; the manifest of the newer one was damaged since."""
    saves = Saves(tmp_path)
    assert (saves.committed(20), saves.committed(40)) == (OLD, NEW)
    damage(saves)
    return saves


def damage(saves: Saves) -> None:
    path = saves.path(NEW, "manifest")
    text = path.read_bytes()
    path.unlink()
    path.write_bytes(text[: len(text) // 2])


def look_of(saves: Saves, **changes: object) -> Look:
    made = MadeRoot(Path(saves.root))
    made.put(record(JOB, **{"history": (PastAttempt(0, T0, PAUSED, False, NEW),), **changes}))
    return look(load(made.root, JOB))


PAUSED = Cause(FailureClass.STOPPED_BY_USER, "paused")
AT_REST = {
    "phase": Phase.PAUSED,
    "ending": Phase.PAUSED,
    "attempt": 0,
    "pause": PauseRequest(T0),
    "sweeps": 2,
}


def begin(saves: Saves, attempt: int = 1) -> None:
    """Seal, and agree on a world, as agents do."""
    head, version = read_head(saves.store, saves.keys)
    assert seal(saves.store, saves.keys, Seal(attempt, head, version, ()))
    chosen = saves.head()
    assert chosen is not None
    step = int(chosen.checkpoint.split("-")[0]) if chosen.checkpoint else 0
    members = (Member(0, 0, attempt, "127.0.0.1", 1, ranks=2),)
    world = World(attempt, members, chosen.checkpoint, step)
    saves.store.create(saves.keys.world(attempt), dumps(world))


def test_while_it_rests_the_status_says_from_where_it_would_go_on(saves: Saves) -> None:
    seen = look_of(saves, **AT_REST)
    (told,) = status_view(seen)["passed_over"]
    assert told["unreadable"][0]["checkpoint"] == NEW
    assert "malformed" in told["unreadable"][0]["because"]
    assert (told["attempt"], told["resumed_from"], told["resumed_from_step"]) == (1, OLD, 20)
    assert told["steps_lost"] == 20
    assert f"checkpoint {NEW} (" in told["message"]
    assert "cannot be read; attempt 1 goes on from step 20" in told["message"]
    why = why_view(seen)
    assert why["next"]["action"].endswith("then on from step 20")
    assert told["message"] in [item["says"] for item in why["evidence"]]


def test_afterwards_status_why_and_the_terminal_tell(saves: Saves) -> None:
    before = look_of(saves)
    begin(saves)
    seen = look_of(saves)
    (told,) = status_view(seen)["passed_over"]
    sentence = told["message"]
    assert sentence.endswith(
        f"could not be read; attempt 1 went on from step 20 ({OLD}), 20 steps are done again"
    )
    assert {"where": f"checkpoints/{NEW}", "says": sentence, "at": None} in why_view(seen)[
        "evidence"
    ]
    lines = events(before, seen)
    assert lines[-2:] == [sentence, "attempt 1: 2 ranks agreed to go on from step 20"]
    assert events(seen, seen) == []
    # It is remembered once the job has gone on, and is no news of the attempt after that.
    later = look_of(
        saves,
        attempt=2,
        history=(PastAttempt(0, T0, PAUSED, False, NEW), PastAttempt(1, T0, PAUSED, False, OLD)),
    )
    assert [one["message"] for one in status_view(later)["passed_over"]] == [sentence]
    assert sentence not in [item["says"] for item in why_view(later)["evidence"]]


def test_nothing_is_told_of_checkpoints_that_can_be_read(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    saves.committed(20)
    assert status_view(look_of(saves, **AT_REST))["passed_over"] == []
    begin(saves)
    assert saves.store.read(saves.keys.passed_over(1)) is None
    assert status_view(look_of(saves))["passed_over"] == []


def test_when_nothing_is_left_it_begins_anew(saves: Saves) -> None:
    saves.store.delete(saves.keys.manifest(OLD))
    begin(saves)
    (told,) = fallbacks(look_of(saves))
    assert told.start is None
    assert told.sentence().endswith("attempt 1 went on from the beginning, 40 steps are done again")


def test_the_reason_that_a_rank_gave_is_told(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    saves.committed(20), saves.committed(40)
    saves.store.create(saves.keys.passed_over(1), dumps(PassedOver(((NEW, BY_A_RANK),))))
    saves.seal(1, OLD)
    cause = Cause(FailureClass.CHECKPOINT_UNREADABLE, f"checkpoint {NEW}: shards/0 is missing")
    seen = look_of(saves, history=(PastAttempt(0, T0, cause, True, NEW),))
    (told,) = fallbacks(seen)
    assert told.unreadable == ((NEW, "shards/0 is missing"),)


def test_a_commit_that_came_between_is_not_taken_for_unreadable(tmp_path: Path) -> None:
    """HEAD moved after the look that was written down; the choice was a newer one."""
    saves = Saves(tmp_path)
    saves.store.create(saves.keys.passed_over(1), dumps(PassedOver(((OLD, "gone"),))))
    saves.seal(1, NEW)
    assert fallbacks(look_of(saves)) == ()


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.STOPPED])
def test_a_job_that_is_over_goes_on_from_nothing(saves: Saves, phase: Phase) -> None:
    seen = look_of(saves, phase=phase, ended_ns=T0)
    assert ahead(seen.job, Head(0, NEW)) is None
