"""`exec`, `rm` and the filters of `ps`: words, refusals, answers; no process is started."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

import click
import pytest

from phalanx.cli.main import call
from phalanx.cli.options import complete_ended, complete_phase
from phalanx.cli.rm import command as rm
from phalanx.words import Phase
from tests.support.made_root import KILLED, T0, ended_job, plan, record, running_job


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--slot", "9"), "gpt-1 has no slot 9 (its slots are 0 to 1)"),
        (("--slot", "-1"), "gpt-1 has no slot -1"),
        (("--rank", "2"), "gpt-1 has no rank 2 (its ranks are 0 to 1)"),
        (("--rank", "1", "--slot", "0"), "rank 1 of gpt-1 is in slot 1, not 0"),
        (("--rank", "2", "--stacks"), "gpt-1 has no rank 2"),
        (("--stacks", "--", "ls"), "--stacks takes no command"),
        (("--json", "--", "ls"), "--json goes with --stacks"),
        (("ls", "-l"), "(write -- before the command)"),
    ],
)
def test_what_does_not_exist_is_refused(phalanx, made, words, says):
    running_job(made)
    answer = phalanx("exec", "gpt-1", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert says in answer.err


def test_a_slot_that_does_not_run_is_one_line(phalanx, made):
    running_job(made, "gpt-1")
    ended_job(made, "gpt-2")
    answer = phalanx("exec", "gpt-1", "--slot", "1", "--", "true")
    assert answer.code == 4
    assert "slot 1 of gpt-1 does not run now: Running, 2 ranks train" in answer.err
    answer = phalanx("exec", "gpt-2", "true")
    assert answer.code == 4
    assert "gpt-2 has ended (Succeeded): nothing runs in slot 0" in answer.err
    answer = phalanx("exec", "gpt-2", "--stacks", "--json")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--rank", "9"), "gpt-1 has no rank 9 (its ranks are 0 to 1)"),
        (("--slot", "2"), "gpt-1 has no slot 2"),
        (("--attempt", "2"), "gpt-1 has no attempt 2 (its attempts are 0 to 1)"),
        (("--attempt", "-1", "--follow"), "gpt-1 has no attempt -1"),
    ],
)
def test_logs_of_what_does_not_exist(phalanx, made, words, says):
    ended_job(made)
    answer = phalanx("logs", "gpt-1", *words)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err


def test_logs_of_a_rank_that_printed_nothing_say_so(phalanx, made):
    ended_job(made)
    answer = phalanx("logs", "gpt-1", "--rank", "1")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "phalanx: nothing was printed by rank 1 of gpt-1\n"
    made.put(record("gpt-2", plan=plan(launcher="torchrun", ranks_per_node=2)))
    answer = phalanx("logs", "gpt-2", "--rank", "3")
    assert answer.code == 2
    assert "--slot 1 shows those of rank 3" in answer.err


def test_rm_says_what_it_freed(phalanx, made):
    ended_job(made, "gpt-1", sweeps=2)
    ended_job(made, "gpt-2", sweeps=2, phase=Phase.FAILED)
    ended_job(made, "gpt-3", sweeps=2)
    answer = phalanx("rm", "gpt-1", "gpt-2")
    assert answer.code == 0, answer.err
    first, second, total = answer.out.splitlines()
    assert first.startswith("removed gpt-1 (Succeeded), ")
    assert second.startswith("removed gpt-2 (Failed), ")
    assert total.endswith("freed in all")
    view = json.loads(phalanx("rm", "gpt-3", "--json").out)
    assert (view["schema"], view["removed"][0]["job"]) == ("phalanx.rm/1", "gpt-3")
    answer = phalanx("rm", "gpt-3")
    assert (answer.code, answer.out) == (2, "")
    assert "gpt-3 was removed" in answer.err


def test_rm_refuses_a_job_that_runs(phalanx, made):
    running_job(made)
    answer = phalanx("rm", "gpt-1")
    assert (answer.code, answer.out) == (4, "")
    assert "gpt-1 is Running" in answer.err
    assert "`phalanx stop gpt-1` first" in answer.err


def test_ps_lists_what_was_asked_for(phalanx, made):
    running_job(made, "gpt-1")
    ended_job(made, "gpt-2")
    ended_job(made, "eval-1", phase=Phase.FAILED)

    def jobs(*words: str) -> set[str]:
        return {job["job"] for job in json.loads(phalanx("ps", *words, "--json").out)["jobs"]}

    assert jobs() == jobs("--all") == {"gpt-1", "gpt-2", "eval-1"}
    assert jobs("--phase", "running,failed") == {"gpt-1", "eval-1"}
    assert jobs("--phase", "succeeded", "--phase", "failed") == jobs("--ended")
    assert jobs("gpt", "--ended") == {"gpt-2"}
    assert jobs("--since", "1d") == {"gpt-1"}
    answer = phalanx("ps", "--limit", "1")
    assert len(answer.out.splitlines()) == 2
    assert answer.err == "phalanx: 2 older jobs are not listed (see --limit)\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nope",), "no jobs match 'nope'\n"),
        (("nope", "no*"), "no jobs match 'nope' or 'no*'\n"),
        (("--phase", "failed"), "no jobs match these options\n"),
        (("nope", "--ended", "--all"), "no jobs match 'nope' and these options\n"),
    ],
)
def test_ps_of_what_no_job_meets_says_so(phalanx, made, words, says):
    """A list that is empty is an answer: exit 0."""
    running_job(made, "gpt-1")
    answer = phalanx("ps", *words)
    assert (answer.code, answer.out, answer.err) == (0, says, "")


def test_ps_leaves_out_what_ended_long_ago_unless_asked(phalanx, made):
    for n in range(1, 23):
        ended_job(made, f"gpt-{n}")
    running_job(made, "old-1")
    answer = phalanx("ps", "--json")
    view = json.loads(answer.out)
    assert (len(view["jobs"]), view["left_out"]) == (21, 2)
    assert answer.err == "phalanx: 2 older jobs are not listed (see --all)\n"
    assert len(json.loads(phalanx("ps", "--all", "--json").out)["jobs"]) == 23


def test_no_colour_reaches_a_file_on_standard_error(made, capfd, tmp_path):
    job_file = tmp_path / "job.yaml"
    job_file.write_text("kind: train\nname: tiny\ncommand: [python, t.py]\nsource: null\n")

    def end(root, job):
        made.put(record(job, phase=Phase.FAILED, cause=KILLED, ended_ns=T0))

    assert call(["run", str(job_file), "--json"], end) == 1
    err = capfd.readouterr().err
    assert "tiny-1 Failed" in err
    assert "\x1b" not in err


def test_what_was_removed_is_not_completed(made):
    running_job(made, "gpt-1")
    ended_job(made, "gpt-2")
    ended_job(made, "gpt-3")
    ctx = click.Context(rm)
    ctx.params = {"root": str(made.path), "jobs": ("gpt-3",)}
    jobs = next(p for p in rm.params if p.name == "jobs")
    assert complete_ended(ctx, jobs, "gp") == ["gpt-2"]
    assert complete_phase(ctx, jobs, "R") == ["running", "restarting"]


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user whom the modes of files bind."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


READING = [("ps",), *((verb, "gpt-1") for verb in ("status", "logs", "why", "ledger", "wait"))]


@pytest.mark.parametrize("words", [*READING, ("exec", "gpt-1", "true"), ("rm", "gpt-1")])
@pytest.mark.parametrize("closed", ["", ".."])
def test_a_root_that_is_not_ours_to_read_is_one_line(phalanx, made, words, closed):
    running_job(made)
    assert phalanx(*words, *(["--timeout", "0"] if words[0] == "wait" else [])).code in (0, 1, 4)
    folder = made.path / closed
    mode = folder.stat().st_mode
    folder.chmod(0)
    with without_rights():
        answer = phalanx(*words)
    folder.chmod(mode)
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.count("\n") == 1
    assert "permission denied (run as the owner of the root" in answer.err


def test_logs_that_are_not_ours_to_read_are_told_and_one_job_hides_no_other(phalanx, made):
    ended_job(made, "gpt-1")
    ended_job(made, "gpt-2")
    made.log("gpt-1", "0.0-0/0.out.0", b"hello\n")
    for folder, _, names in os.walk(made.path):
        os.chmod(folder, 0o777)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o666)
    (made.path / "jobs/gpt-1/logs/0.0-0/0.out.0").chmod(0)
    (made.path / "jobs/gpt-2/record").chmod(0)
    parents = [parent for parent in made.path.parents if not parent.stat().st_mode & 0o001]
    modes = [parent.stat().st_mode for parent in parents]
    for parent in parents:
        parent.chmod(0o755)
    with without_rights():
        logs, listed = phalanx("logs", "gpt-1"), phalanx("ps", "--json")
    for parent, mode in zip(parents, modes, strict=True):
        parent.chmod(mode)
    assert (logs.code, logs.out) == (4, "")
    assert "0.out.0: permission denied" in logs.err
    view = json.loads(listed.out)
    assert [job["job"] for job in view["jobs"]] == ["gpt-1"]
    assert [job["job"] for job in view["unreadable"]] == ["gpt-2"]
