"""Real frameworks under phalanx: ranks are killed, and nothing of the outcome changes.

Samples are counted by their ids over the steps that survive into the final model.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.gang import Gang, kill

SUPPORT = Path(__file__).parents[1] / "support"
STEPS, SAMPLES, RANKS = 16, 64, 2
STEPS_OF_AN_EPOCH = STEPS // 2
REFUSED = {
    "huggingface": [
        "FSDP or DeepSpeed",
        "a job is one training",
        "had 8 samples when saved and has 12 now",
    ],
    "accelerate": ["the position of a list is not known", "order comes from random numbers"],
    "lightning": ["FSDPStrategy may split the model over the ranks"],
}
"""What the script of each framework tries and must not get, in one line each."""


def job(new_gang: Callable[..., Gang], name: str, module: str) -> Gang:
    environment = "env: {OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1'}\n"
    return new_gang(
        nodes=1,
        ranks=RANKS,
        steps=STEPS,
        every=4,
        script=SUPPORT / f"train_{name}.py",
        command=["python", "train.py"],
        extra=f"warm: [{module}]\n{environment}",
    ).start()


def samples(gang: Gang, epoch: int) -> list[int]:
    """Ids of all samples of an epoch, over all ranks."""
    steps = range(epoch * STEPS_OF_AN_EPOCH, (epoch + 1) * STEPS_OF_AN_EPOCH)
    words = [gang.losses(rank)[step] for rank in range(RANKS) for step in steps]
    return [int(index) for word in words for index in word.split("/")[1].split(",")]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("huggingface", "transformers"),
        ("accelerate", "accelerate"),
        ("lightning", "lightning.pytorch"),
    ],
)
def test_killed_twice_and_equal_to_the_last_bit(
    new_gang: Callable[..., Gang], name: str, module: str
) -> None:
    calm, hurt = job(new_gang, name, module), job(new_gang, name, module)
    hurt.reach(STEPS_OF_AN_EPOCH - 3, timeout_s=200)  # step 4 is saved: in the middle of an epoch
    kill(hurt.rank_pid(1))
    hurt.reach(
        STEPS_OF_AN_EPOCH + 1, attempt=1, timeout_s=200
    )  # step 8 is saved: between two epochs
    kill(hurt.rank_pid(0))
    ends = {gang: gang.wait(200) for gang in (calm, hurt)}
    for gang, status in ends.items():
        assert (status["phase"], status["step"]) == ("Succeeded", STEPS), gang.why()
        assert status["metrics"]["loss"] > 0
        for epoch in range(2):
            assert sorted(samples(gang, epoch)) == list(range(SAMPLES))
    causes = [past["first_cause"]["message"] for past in ends[hurt]["history"]]
    assert [past["resumed_from_step"] for past in ends[hurt]["history"]] == [4, 8], causes
    for rank in range(RANKS):
        assert hurt.losses(rank) == calm.losses(rank)
        weights = [gang.object(f"files/weights.{rank}").read_text() for gang in (calm, hurt)]
        assert weights[0] == weights[1]
        refused = hurt.object(f"files/refused.{rank}").read_text().splitlines()
        assert len(refused) == len(REFUSED[name])
        for line, says in zip(refused, REFUSED[name], strict=True):
            assert says in line


def test_lightning_goes_on_from_every_kind_of_place(tmp_path: Path) -> None:
    """In an epoch, at its end, at the end of training; bounded by epochs and by steps."""
    script = "tests.support.resume_lightning"
    done = subprocess.run(
        [sys.executable, "-m", script, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert len(answer) == 10
    assert {place: alike for place, alike in answer.items() if not all(alike)} == {}
