"""Verbs that only read: text, JSON, exit codes and the mending of what they find."""

from __future__ import annotations

import json
import math

import pytest

from phalanx.plan.job import JobPlan
from phalanx.state.gang import Beat, LedgerEntry
from phalanx.state.record import Record
from phalanx.words import Phase
from tests.support.made_root import KILLED, SECOND, T0, ended_job, record, running_job


def test_status_json_has_the_members_of_the_contract(phalanx, made):
    running_job(made)
    answer = phalanx("status", "gpt-1", "--json")
    view = json.loads(answer.out)
    assert answer.code == 0
    assert next(iter(view)) == "schema"
    assert view["schema"] == "phalanx.status/1"
    assert (view["phase"], view["step"], view["total_steps"]) == ("Running", 80, 200)
    assert view["restarts"] == {"counted": 0, "uncounted": 1}
    assert view["metrics"] == {"loss": 1.5}
    assert view["checkpoint"] == {
        "step": 40,
        "attempt": 0,
        "committed_at": "2026-05-28T20:26:49.000Z",
    }
    assert [t["state"] for t in view["tasks"]] == ["running", "running"]
    assert view["tasks"][1]["ranks"] == [{"rank": 1, "pid": 101}]
    past = view["history"][0]
    assert past["first_cause"]["class"] == "Killed"
    assert past["first_cause"]["evidence"] == "ends/1.0: rank 1 was killed by signal 9"
    assert past["resumed_from_step"] == 40
    assert view["verdict"] is None


def test_a_loss_that_is_nan_is_null_and_read_as_nan(phalanx, made):
    running_job(made)
    made.beat("gpt-1", Beat(0, 0, 1, 80, 200, metrics=(("loss", math.nan), ("rate", 0.5))))
    view = json.loads(phalanx("status", "gpt-1", "--json").out)
    assert view["metrics"] == {"loss": None, "rate": 0.5}
    assert "80/200 (40 %), loss nan, rate 0.5" in phalanx("status", "gpt-1").out


def test_status_text_is_made_for_people_and_has_no_colour_in_a_pipe(phalanx, made):
    running_job(made)
    answer = phalanx("status", "gpt-1")
    assert "80/200 (40 %), loss 1.5" in answer.out
    assert "Killed: rank 1 (slot 1) was killed by SIGKILL; resumed from step 40" in answer.out
    assert "\x1b" not in answer.out


def test_a_bare_name_means_the_newest_and_the_answer_says_so(phalanx, made):
    for job in ("gpt-2", "gpt-10", "gpt-9"):
        ended_job(made, job)
    answer = phalanx("status", "gpt", "--json")
    assert json.loads(answer.out)["job"] == "gpt-10"
    assert answer.err == "gpt means gpt-10, the newest of 3 named gpt\n"


def test_an_unknown_job_is_one_line_with_near_names(phalanx, made):
    ended_job(made, "gpt-1")
    answer = phalanx("status", "gtp-1")
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert "did you mean gpt-1" in answer.err


def test_a_missing_root_and_a_root_of_another_release_are_refused(phalanx, tmp_path):
    answer = phalanx("ps", "--root", str(tmp_path / "nowhere"))
    assert answer.code == 2
    assert "there is no root at" in answer.err
    answer = phalanx("ps", "--root", "s3://bucket/prefix")
    assert answer.code == 2
    assert "folders only" in answer.err


@pytest.mark.parametrize("verb", ["status", "why", "ledger", "metrics", "checkpoints", "logs"])
def test_a_job_that_nobody_drives_gets_a_controller(phalanx, made, starts, verb):
    made.put(record())
    assert phalanx(verb, "gpt-1").code == 0
    assert starts == ["gpt-1"]


@pytest.mark.parametrize("verb", ["status", "why", "ledger", "metrics", "checkpoints", "logs"])
def test_a_driven_or_ended_job_is_left_alone(phalanx, made, starts, verb):
    running_job(made, "gpt-1")
    ended_job(made, "gpt-2")
    assert phalanx(verb, "gpt-1").code == phalanx(verb, "gpt-2").code == 0
    assert starts == []


def test_ps_lists_all_jobs_without_tasks_and_history(phalanx, made):
    running_job(made, "gpt-1")
    ended_job(made, "gpt-2")
    view = json.loads(phalanx("ps", "--json").out)
    assert view["schema"] == "phalanx.ps/1"
    assert [(j["job"], j["phase"]) for j in view["jobs"]] == [
        ("gpt-2", "Succeeded"),
        ("gpt-1", "Running"),
    ]
    assert not {"tasks", "history"} & set(view["jobs"][0])
    text = phalanx("ps").out.splitlines()
    assert text[0].split()[:2] == ["JOB", "PHASE"]
    assert text[1].split()[:3] == ["gpt-2", "Succeeded", "200/200"]


def test_ps_of_an_empty_root(phalanx, made):
    assert phalanx("ps").out == "no jobs\n"
    assert json.loads(phalanx("ps", "--json").out)["jobs"] == []


def test_why_tells_cause_evidence_and_what_comes_next(phalanx, made):
    made.put(
        record(
            phase=Phase.FAILED,
            reason="Killed",
            message="killed by SIGKILL; its 3 restarts are used up",
            cause=KILLED,
            ended_ns=T0 + 20 * SECOND,
        )
    )
    view = json.loads(phalanx("why", "gpt-1", "--json").out)
    assert view["schema"] == "phalanx.why/1"
    assert (view["phase"], view["reason"]) == ("Failed", "Killed")
    assert view["evidence"][0]["says"] == "rank 1 was killed by signal 9"
    assert view["next"]["action"].startswith("none: mend the cause and run the job again. Find who")
    assert view["next"]["at"] is None
    text = phalanx("why", "gpt-1").out
    assert "first cause: Killed: rank 1 (slot 1) was killed by SIGKILL" in text


def test_why_says_when_a_backing_off_job_goes_on(phalanx, made):
    made.drive("gpt-1")
    made.put(record(phase=Phase.RESTARTING, backoff_until_ns=T0 + 60 * SECOND))
    view = json.loads(phalanx("why", "gpt-1", "--json").out)
    assert view["next"] == {
        "action": "open attempt 2 from step 0",
        "at": "2026-05-28T20:27:40.000Z",
    }


def test_ledger_sums_exactly_and_draws_a_bar_for_each_label(phalanx, made):
    ended_job(made)
    for slot, incarnation in ((0, 0), (1, 1)):
        made.entry(
            "gpt-1",
            LedgerEntry(
                slot,
                incarnation,
                1,
                T0 + 10 * SECOND,
                20 * SECOND,
                restart_ns=SECOND + 1,
                train_ns=16 * SECOND,
                first_step=40,
                last_step=200,
            ),
        )
    view = json.loads(phalanx("ledger", "gpt-1", "--json").out)
    assert view["schema"] == "phalanx.ledger/1"
    assert view["wall_ns"] == 30 * SECOND
    assert sum(view["labels"].values()) == view["instance_ns"] == 40 * SECOND
    assert view["labels"]["useful"] == 32 * SECOND
    assert set(view["ettr"]) == {"user", "capacity", "paid"}
    text = phalanx("ledger", "gpt-1").out
    assert "80.0% ███████████████████ " in text


def test_a_record_of_another_shape_is_refused_in_one_line(phalanx, made):
    made.store.swap("jobs/gpt-1/record", b'{"job": 1}', None)
    answer = phalanx("status", "gpt-1")
    assert answer.code == 4
    assert "the record of gpt-1" in answer.err
    assert answer.err.count("\n") == 1


def test_the_views_hold_for_a_job_that_was_only_just_submitted(phalanx, made, starts):
    made.put(Record("one-1", JobPlan("one", ("python", "x.py")), created_ns=T0))
    for verb in ("status", "why", "ledger", "checkpoints"):
        answer = phalanx(verb, "one", "--json")
        assert answer.code == 0, answer.err
        json.loads(answer.out)
    assert set(starts) == {"one-1"}


def test_one_record_that_cannot_be_read_hides_no_other_job(phalanx, made):
    ended_job(made, "gpt-1")
    made.store.swap("jobs/gpt-2/record", b'{"job": 1}', None)
    answer = phalanx("ps", "--json")
    view = json.loads(answer.out)
    assert answer.code == 0
    assert [job["job"] for job in view["jobs"]] == ["gpt-1"]
    assert [job["job"] for job in view["unreadable"]] == ["gpt-2"]
    assert "gpt-2" in answer.err


def test_a_job_that_is_being_written_is_passed_over(phalanx, made):
    ended_job(made, "gpt-1")
    made.log("gpt-2", "0.0-0/0.out.0", b"")
    assert "gpt-2" not in phalanx("ps").out
    assert json.loads(phalanx("status", "gpt", "--json").out)["job"] == "gpt-1"
    assert phalanx("status", "gpt-2").code == 2
