"""Stacks taken apart and put together."""

from __future__ import annotations

from phalanx.app.stacks import folded, is_told, ranges, rank_view, silence
from phalanx.cli.view_stacks import stacks

SOURCE = "/srv/jobs-here/jobs/gpt-1/source/" + "0" * 64
OTHER = """Thread 0x00007f0a (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

"""
MAIN = f"""Current thread 0x00007f0b (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 9 in linear
  File "{SOURCE}/train.py", line 41 in <module>
  File "<frozen runpy>", line 88 in _run_code
  File "/venv/lib/python3.11/site-packages/phalanx/agent/rank_main.py", line 100 in _run
  File "/venv/lib/python3.11/site-packages/phalanx/agent/warm.py", line 30 in main
"""


def told(rank: int, text: str, state: str = "told") -> dict:
    return {"rank": rank, "pid": 100 + rank, "state": state, "text": text}


def test_threads_are_told_the_main_one_first_and_without_our_own_frames() -> None:
    view = rank_view(1, told(3, OTHER + MAIN))
    assert (view["rank"], view["slot"], view["pid"], view["because"]) == (3, 1, 103, "")
    assert view["where"] == "train.py:41 in <module>"
    assert [thread["main"] for thread in view["threads"]] == [True, False]
    assert view["threads"][0]["frames"] == [
        {
            "file": "/venv/lib/python3.11/site-packages/torch/nn/functional.py",
            "line": 9,
            "function": "linear",
        },
        {"file": f"{SOURCE}/train.py", "line": 41, "function": "<module>"},
    ]
    assert len(view["threads"][1]["frames"]) == 2


def test_of_two_answers_the_first_is_taken() -> None:
    one = rank_view(0, told(0, OTHER + MAIN))
    assert rank_view(0, told(0, OTHER + MAIN + OTHER + MAIN.replace("41", "42"))) == one


def test_a_rank_without_an_answer_says_why() -> None:
    for state in ("gone", "stopped", "deaf", "silent"):
        view = rank_view(0, told(0, "", state))
        assert view["because"]
        assert view["threads"] == []


def test_equal_stacks_are_folded_whatever_their_addresses() -> None:
    same = MAIN.replace("0x00007f0b", "0x00007e99")
    ranks = [
        rank_view(n // 2, told(n, text))
        for n, text in enumerate([MAIN, same, MAIN.replace("41", "7"), MAIN, MAIN])
    ]
    assert [numbers for numbers, _ in folded(ranks)] == [[0, 1, 3, 4], [2]]
    assert ranges([0, 1, 3, 4, 6]) == "0-1, 3-4, 6"
    missing = [{"slot": 9, "because": "slot 9 of gpt-1 does not run now"}]
    lines = stacks({"ranks": ranks, "missing": missing}).splitlines()
    assert lines == [
        "ranks 0-1, 3-4: train.py:41 in <module>",
        "  main thread",
        "    linear  torch/nn/functional.py:9",
        "    <module>  train.py:41",
        "rank 2 (pid 102): train.py:7 in <module>",
        "  main thread",
        "    linear  torch/nn/functional.py:9",
        "    <module>  train.py:7",
        "slot 9: slot 9 of gpt-1 does not run now",
    ]


def test_ranks_that_show_nothing_are_told_apart_from_those_that_are_held() -> None:
    deaf = [rank_view(0, told(n, "", "deaf")) for n in (2, 0, 1)]
    gone, held = rank_view(1, told(3, "", "gone")), rank_view(1, told(4, "", "stopped"))
    assert not any(map(is_told, [*deaf, gone]))
    assert is_told(held)
    assert is_told(rank_view(0, told(0, MAIN)))
    assert silence([*deaf, gone]) == (
        "ranks 0-2: only ranks of a plain `python ...` command with launcher ranks show their"
        " stacks; rank 3: it has just ended"
    )
