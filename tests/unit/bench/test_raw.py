from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from bench.raw import Trial, Trials, is_due


def trials(folder: Path, code: str = "a") -> Trials:
    return Trials("part", folder, code)


def test_systems_take_turns_and_a_second_run_does_only_what_is_missing(tmp_path: Path) -> None:
    done: list[str] = []

    def once(name: str, fail_at: int = -1) -> object:
        def call(trial: int) -> Trial:
            if trial == fail_at:
                raise RuntimeError("did not start")
            done.append(f"{name}{trial}")
            return {"seconds": 1.0}

        return call

    trials(tmp_path).interleave("c", {"x": once("x"), "y": once("y", fail_at=1)}, 2)
    assert done == ["x0", "y0", "x1"]
    done.clear()
    trials(tmp_path).interleave("c", {"x": once("x"), "y": once("y")}, 2)
    assert done == ["y1"]


def test_trials_of_other_code_are_not_used(tmp_path: Path) -> None:
    trials(tmp_path, "old").add("c", "x", 0, seconds=1.0)
    assert trials(tmp_path, "new").of("c", "x") == []
    assert trials(tmp_path, "old").values("c", "x", "seconds") == [1.0]


def test_a_line_cut_short_is_done_again(tmp_path: Path) -> None:
    kept = trials(tmp_path)
    kept.add("c", "x", 0, seconds=1.0)
    kept.path.write_text(kept.path.read_text() + '{"case": "c", "sys')
    again = trials(tmp_path)
    again.add("c", "x", 1, seconds=2.0)
    assert trials(tmp_path).values("c", "x", "seconds") == [1.0, 2.0]


def test_single_systems_can_be_capped(tmp_path: Path) -> None:
    kept = trials(tmp_path)
    kept.interleave("c", {"x": lambda _: {"s": 1}, "y": lambda _: {"s": 2}}, 3, {"y": 1})
    assert (len(kept.of("c", "x")), len(kept.of("c", "y"))) == (3, 1)


@pytest.mark.parametrize(("trials", "share"), [(30, 8), (30, 1), (30, 30), (3, 8), (7, 0)])
def test_a_capped_system_is_spread_over_the_run(trials: int, share: int) -> None:
    due = [trial for trial in range(trials) if is_due(trial, trials, share)]
    assert len(due) == min(trials, share)
    assert due[:1] in ([0], [])
    gaps = {after - before for before, after in itertools.pairwise(due)}
    assert not gaps or max(gaps) - min(gaps) <= 1
