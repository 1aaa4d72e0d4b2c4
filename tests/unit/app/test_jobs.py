from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from phalanx.app.act import request_stop
from phalanx.app.jobs import find_job, job_ids, load
from phalanx.app.root import folder_of, open_root
from phalanx.app.submit import create
from phalanx.errors import InputError
from phalanx.words import Phase
from tests.support.made_root import MadeRoot, plan, record


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


def test_jobs_of_one_name_take_the_next_free_number(made: MadeRoot) -> None:
    assert [create(made.root, plan()) for _ in range(2)] == ["gpt-1", "gpt-2"]
    made.put(record("gpt-7"))
    assert create(made.root, plan()) == "gpt-8"
    assert create(made.root, plan(name="gpt-8")) == "gpt-8-1"


def test_many_submitters_at_once_never_share_a_number(made: MadeRoot) -> None:
    def one(_: int) -> str:
        return create(open_root(str(made.path)), plan())

    with ThreadPoolExecutor(4) as pool:
        jobs = list(pool.map(one, range(12)))
    assert len(set(jobs)) == 12


def test_ids_are_sorted_by_name_then_number(made: MadeRoot) -> None:
    for job in ("b-1", "a-10", "a-9"):
        made.put(record(job))
    assert job_ids(made.root) == ("a-9", "a-10", "b-1")


def test_an_exact_id_wins_over_a_bare_name(made: MadeRoot) -> None:
    made.put(record("gpt-1"))
    made.put(record("gpt-1-1"))
    assert find_job(made.root, "gpt-1").id == "gpt-1"
    assert find_job(made.root, "gpt-1").note == ""


def test_an_unknown_name_in_an_empty_root(made: MadeRoot) -> None:
    with pytest.raises(InputError) as refused:
        find_job(made.root, "gpt")
    assert "no job was started there yet" in refused.value.line()


@pytest.mark.parametrize("text", ["../gpt-1", "gpt-1/record", "", "GPT", "gpt-0"])
def test_a_hostile_name_is_only_an_unknown_one(made: MadeRoot, text: str) -> None:
    made.put(record("gpt-1"))
    with pytest.raises(InputError):
        find_job(made.root, text)


def test_the_root_comes_from_the_option_then_the_environment_then_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PHALANX_ROOT", raising=False)
    assert folder_of(None) == str(tmp_path / ".phalanx")
    monkeypatch.setenv("PHALANX_ROOT", "other")
    assert folder_of(None) == str(tmp_path / "other")
    assert folder_of("file:///x") == "/x"
    with pytest.raises(InputError, match="folders only"):
        folder_of("s3://bucket/prefix")


def test_a_stop_request_survives_a_record_that_moved_on(made: MadeRoot) -> None:
    made.put(record())
    stale = load(made.root, "gpt-1")
    made.put(record(attempt=2))
    job = request_stop(stale, save=True, reason="asked")
    assert job.record.attempt == 2
    assert job.record.stop is not None
    assert (job.record.stop.save, job.record.stop.reason) == (True, "asked")


def test_an_ended_job_takes_no_stop_request(made: MadeRoot) -> None:
    made.put(record(phase=Phase.FAILED))
    assert request_stop(load(made.root, "gpt-1")).record.stop is None
