"""What a rank reads from its environment."""

from __future__ import annotations

import pytest

from phalanx.errors import InputError
from phalanx.train.environment import Every, Surroundings, every_of, surroundings

LEAST = {"PHALANX_JOB": "j-1", "PHALANX_ROOT": "/root"}


@pytest.mark.parametrize("env", [{}, {"RANK": "1"}, {"PHALANX_JOB": "j-1"}, {"PHALANX_ROOT": "/x"}])
def test_outside_phalanx_there_is_nothing(env: dict[str, str]) -> None:
    assert surroundings(env) is None


def test_all_is_read() -> None:
    env = {
        **LEAST,
        "PHALANX_ATTEMPT": "3",
        "RANK": "5",
        "LOCAL_RANK": "1",
        "WORLD_SIZE": "8",
        "PHALANX_RANK_DIR": "/run/r5",
        "PHALANX_AGENT_SOCKET": "/run/agent",
        "PHALANX_RESUME": "0000000400-1",
        "PHALANX_SAVE_EVERY": "50steps",
        "PHALANX_TOTAL_STEPS": "2000",
    }
    here = surroundings(env)
    assert here is not None
    assert (here.job, here.attempt, here.rank, here.world_size) == ("j-1", 3, 5, 8)
    assert (here.root, here.progress_file) == ("/root", "/run/r5/progress")
    assert (here.socket, here.resume) == ("/run/agent", "0000000400-1")
    assert (here.every, here.total_steps) == (Every(steps=50), 2000)


def test_what_is_not_told_has_a_default() -> None:
    assert surroundings(LEAST) == Surroundings("j-1", 0, 0, 1, "/root")


@pytest.mark.parametrize(("local", "name"), [("0", "progress"), ("2", "progress-2")])
def test_ranks_of_torchrun_share_a_folder(local: str, name: str) -> None:
    env = {**LEAST, "PHALANX_LAUNCHER": "torchrun", "PHALANX_RANK_DIR": "/r", "LOCAL_RANK": local}
    here = surroundings(env)
    assert here is not None
    assert here.progress_file == f"/r/{name}"


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("auto", Every()),
        (100, Every(steps=100)),
        ("1step", Every(steps=1)),
        ("100 steps", Every(steps=100)),
        ("2.5s", Every(seconds=2.5)),
    ],
)
def test_how_often_to_save(text: int | str, every: Every) -> None:
    assert every_of(text) == every


@pytest.mark.parametrize(
    "text", ["", "often", "0steps", "-1s", "0s", "1.5steps", 0, -5, 2.5, "1e3s"]
)
def test_how_often_not_to_save(text: float | str) -> None:
    with pytest.raises(InputError, match="is not understood"):
        every_of(text)


@pytest.mark.parametrize(
    "wrong",
    [{"RANK": "x"}, {"PHALANX_ATTEMPT": "-1"}, {"WORLD_SIZE": "²"}, {"PHALANX_RESUME": "latest"}],
)
def test_a_broken_environment_is_told(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        surroundings({**LEAST, **wrong})
