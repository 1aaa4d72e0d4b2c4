"""One run in every tracker over a real kill, each step once; and the rank that is slow is named."""

from __future__ import annotations

from pathlib import Path

from phalanx.train.trackers.offline import steps as wandb_steps
from tests.support.gang import Gang, kill
from tests.support.waiting import until

SUPPORT = Path(__file__).parents[1] / "support"
STEPS = 60


def shown_by_tensorboard(folder: Path) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = EventAccumulator(str(folder)).Reload()
    return [(event.step, event.value) for event in board.Scalars("loss")]


def kept_by_mlflow(folder: Path) -> list[tuple[int, float]]:
    """(step, value) of the one run; the file store's lines are time, value, step."""
    (path,) = folder.glob("*/*/metrics/loss")
    rows = [line.split() for line in path.read_text().splitlines()]
    return [(int(step), float(value)) for _, value, step in rows]


def test_one_run_over_a_kill_in_every_tracker(new_gang) -> None:
    env = 'env: {WANDB_MODE: offline, WANDB_SILENT: "true", MLFLOW_ALLOW_FILE_STORE: "true"}\n'
    gang: Gang = new_gang(
        nodes=1,
        steps=STEPS,
        every=10,
        script=SUPPORT / "track_steps.py",
        command=["python", "train.py", str(STEPS), "0.02"],
        extra=f"{env}warm: [mlflow, wandb]\n",
    ).start()
    gang.reach(34)
    kill(gang.rank_pid(0))
    status = gang.wait(120)
    assert status["phase"] == "Succeeded"
    assert gang.causes() == [("Killed", 0, 0)], status["history"]
    begun = status["history"][0]["resumed_from_step"]
    assert begun >= 20

    answer = gang.call("metrics", gang.job)
    assert [point["step"] for point in answer["points"]] == list(range(1, STEPS + 1))
    assert {point["attempt"] for point in answer["points"] if point["step"] <= begun} == {0}
    assert {point["attempt"] for point in answer["points"] if point["step"] > begun} == {1}

    files = gang.object("files")
    board = shown_by_tensorboard(files / "tensorboard")
    assert [step for step, _ in board] == list(range(STEPS))
    assert all((value > 1) == (step >= begun) for step, value in board[1:])

    mlflow = kept_by_mlflow(files / "mlruns")
    assert sorted(step for step, _ in mlflow) == list(range(STEPS))

    parts = sorted((files / "wandb").glob("offline-run-*/run-*.wandb"))
    assert len(parts) == 2
    assert len({path.name for path in parts}) == 1
    assert sorted(step for path in parts for step in wandb_steps(path)) == list(range(STEPS))


def test_a_slow_rank_is_named(new_gang) -> None:
    steps = 160
    gang: Gang = new_gang(
        nodes=2,
        ranks=2,
        steps=steps,
        every=40,
        script=SUPPORT / "uneven_steps.py",
        command=["python", "train.py", str(steps), "0.02"],
    )
    terminal = gang.follow()
    assert "rank 3 (slot 1) is slow: " in terminal.said("is slow")
    until(lambda: gang.status()["slow"] != [])
    (slow,) = gang.status()["slow"]
    assert (slow["rank"], slow["slot"]) == (3, 1)
    assert slow["ratio"] > 1.3
    told = [one for one in gang.why()["evidence"] if "is slow" in one["says"]]
    assert [one["where"] for one in told] == ["attempts/0/beats/1.0"]
    assert "rank 3 (slot 1) is slow" in gang.run("status", gang.job).stdout
    assert gang.wait()["phase"] == "Succeeded"
    terminal.end()
    ledger = gang.call("ledger", gang.job)
    assert [(one["attempt"], one["rank"]) for one in ledger["slow"]] == [(0, 3)]
    assert ledger["labels"]["degraded"] > 0.2 * ledger["labels"]["useful"]
    assert sum(ledger["labels"].values()) == ledger["instance_ns"]
