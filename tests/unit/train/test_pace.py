"""Own work of a step: what lies before the exchange of gradients and after it, by blocks."""

from __future__ import annotations

import json

import pytest
import torch

from phalanx.state.gang import Pace
from phalanx.train.pace import BLOCK, FEWEST, WARM_UP, PaceMeter
from tests.support.clocks import SleepingClock

MS = 1_000_000


class Clock(SleepingClock):
    """Time that tests move."""

    def pass_ms(self, ms: float) -> None:
        self.now_ns += int(ms * MS)


class Training:
    """A loop with a module and an optimizer whose parts take as long as told."""

    def __init__(self, *, watched: bool = True) -> None:
        self.clock = Clock(1_000 * MS)
        self.meter = PaceMeter(3, self.clock)
        self.model = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.done = 0
        if watched:
            self.meter.watch({"model": self.model, "optimizer": self.optimizer, "note": "x"})
        self.meter.begin(self.clock.now_ns)

    def step(self, forward_ms: float, exchange_ms: float, after_ms: float) -> None:
        self.clock.pass_ms(forward_ms)
        self.model(torch.ones(1, 4)).sum().backward()
        self.clock.pass_ms(exchange_ms)
        self.optimizer.step()
        self.clock.pass_ms(after_ms)
        self.done += 1
        self.meter.stepped(self.done, self.clock.now_ns)
        self.meter.begin(self.clock.now_ns)


def test_waiting_between_backward_pass_and_optimizer_is_not_own_work() -> None:
    train = Training()
    for _ in range(BLOCK):
        train.step(20, 80, 5)
    steps = BLOCK - WARM_UP
    assert train.meter.pace == Pace(3, steps, 25 * MS, 0, steps, steps * 25 * MS)
    assert json.loads(train.meter.text)["own_ns"] == 25 * MS


def test_a_block_is_told_by_its_median_and_the_whole_attempt_by_the_sum() -> None:
    train = Training()
    for index in range(2 * BLOCK):
        train.step(1000 if index % 10 == 0 else 20 if index < BLOCK else 40, 5, 0)
    pace = train.meter.pace
    assert (pace.steps, pace.own_ns, pace.spread_ns) == (BLOCK, 40 * MS, 0)
    assert pace.all_steps == 2 * BLOCK - WARM_UP
    assert pace.all_ns == (BLOCK - WARM_UP) * 20 * MS + BLOCK * 40 * MS


def test_blocks_are_the_same_for_all_ranks_wherever_they_begin() -> None:
    train = Training()
    train.done = BLOCK - 10
    for _ in range(10):
        train.step(20, 0, 0)
    assert train.meter.text == ""  # too few of this block
    for _ in range(BLOCK):
        train.step(20, 0, 0)
    assert (train.meter.pace.steps, train.meter.pace.all_steps) == (BLOCK, BLOCK)


@pytest.mark.parametrize(("every", "is_told"), [(5, False), (10, True)])
def test_steps_without_a_backward_pass_are_not_compared(every: int, is_told: bool) -> None:
    train = Training()
    for index in range(BLOCK):
        if index % every == every - 1:
            train.clock.pass_ms(500)
            train.done += 1
            train.meter.stepped(train.done, train.clock.now_ns)
            train.meter.begin(train.clock.now_ns)
        else:
            train.step(20, 10, 0)
    measured = BLOCK - BLOCK // every - WARM_UP
    assert (measured >= FEWEST) is is_told
    assert train.meter.pace.own_ns == (20 * MS if is_told else 0)


def test_accumulated_gradients_count_up_to_the_last_backward_pass() -> None:
    train = Training()
    for _ in range(BLOCK):
        for _ in range(3):
            train.clock.pass_ms(10)
            train.model(torch.ones(1, 4)).sum().backward()
        train.step(10, 70, 1)
    assert train.meter.pace.own_ns == 41 * MS


def test_a_script_whose_model_is_not_known_counts_whole_steps() -> None:
    train = Training(watched=False)
    for _ in range(BLOCK):
        train.step(20, 80, 5)
    assert train.meter.pace.own_ns == 105 * MS


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"model": torch.nn.Identity()},
        {"model": torch.nn.Linear(2, 2).requires_grad_(False)},
        {"optimizer": torch.optim.SGD.__new__(torch.optim.SGD)},
    ],
    ids=["nothing", "no-parameters", "frozen", "half-made"],
)
def test_odd_states_are_left_alone(state: dict) -> None:
    PaceMeter(0, Clock(1_000 * MS)).watch(state)
