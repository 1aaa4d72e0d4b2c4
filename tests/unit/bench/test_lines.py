from __future__ import annotations

from bench import lines
from bench.lines import Line

TEXT = """born 7 0 1000 .
step 7 0 2000 .
step 7 1 5000 .
step 7 2 90"""


def test_a_line_cut_short_is_left_out() -> None:
    assert lines.parse(TEXT)[-1] == Line("step", 7, 1, 5000)


def test_recovered_is_when_the_last_rank_finished_a_step_in_a_new_process() -> None:
    first = [Line("step", 1, 5, 10), Line("step", 11, 4, 30), Line("step", 11, 5, 50)]
    second = [Line("step", 2, 5, 10), Line("born", 12, 0, 20), Line("step", 12, 4, 40)]
    assert lines.recovered_ns([first, second], {1, 2}) == 40
    assert lines.recovered_ns([first, second[:2]], {1, 2}) is None


def test_a_survivor_that_steps_on_has_not_recovered() -> None:
    assert lines.recovered_ns([[Line("step", 1, 6, 99)]], {1}) is None


def test_step_times_are_between_neighbours() -> None:
    told = [Line("born", 1, 0, 0), *(Line("step", 1, n, n * 2_000_000) for n in range(5))]
    assert lines.step_times_ms(told, skip=1) == [2.0, 2.0, 2.0]
