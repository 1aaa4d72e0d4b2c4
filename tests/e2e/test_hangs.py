"""A rank that hangs is found, named and replaced; slow things that are announced are no alarm."""

from __future__ import annotations

from pathlib import Path

ODD = Path(__file__).parents[1] / "support" / "odd_steps.py"


def odd(new_gang, word, **words):
    steps = words["steps"]
    command = ["python", "train.py", str(steps), "0.03", word]
    return new_gang(nodes=2, script=ODD, command=command, extra="hang: {after: 2s}\n", **words)


def test_a_loop_a_blocked_collective_and_a_stopped_process(new_gang):
    gang = odd(new_gang, "hang", ranks=2, steps=24, every=2).start()
    status = gang.wait(120)
    assert status["phase"] == "Succeeded", status
    assert gang.causes() == [("Hang", 0, 1), ("Hang", 1, 2), ("Hang", 0, 0)]
    loop, collective, stopped = [past["first_cause"] for past in status["history"]]
    assert "train.py:" in loop["message"]
    assert "in spin" in loop["message"]
    assert "train.py:" in collective["message"]
    assert "stopped" in stopped["message"]
    resumed = [past["resumed_from_step"] for past in status["history"]]
    assert resumed[:2] == [6, 12]
    assert resumed[2] in (16, 18), "a stopped rank does not write to the end what it saves"
    assert [task["incarnation"] for task in status["tasks"]] == [0, 0]
    assert all(sorted(gang.losses(rank)) == list(range(24)) for rank in range(4))
    evidence = sorted(path.name for path in gang.object("evidence").iterdir())
    assert [name for name in evidence if name.startswith("stacks-0-")] == [
        f"stacks-0-{rank:05d}" for rank in range(4)
    ]
    where = [one["where"] for one in gang.why()["evidence"]]
    assert "evidence/stacks-2-00000" in where
    assert "in spin" in (gang.object("evidence") / "stacks-0-00001").read_text()
    gang.assert_nothing_lives()


def test_a_slow_first_step_an_evaluation_and_a_big_save_are_no_alarm(new_gang):
    gang = odd(new_gang, "slow", ranks=1, steps=12, every=3).start()
    status = gang.wait(120)
    assert status["phase"] == "Succeeded", status
    assert status["history"] == []
    assert not gang.object("attempts/0/hang").exists()
    gang.assert_nothing_lives()
