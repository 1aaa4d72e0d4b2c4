"""Jobs with a range of nodes: one scenario for each way to shrink and to grow."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

from phalanx.frozen import replace
from phalanx.sim.faults import FOR_GOOD_S, HOUR_S, Fault
from phalanx.sim.run import Options, Outcome, simulate
from phalanx.sim.scene import Scene
from phalanx.words import Phase
from tests.sim.test_scenarios import ended, shape

LAST_S = 7 * HOUR_S


def play(
    *faults: Fault, nodes: int = 4, low: int = 2, scope: str = "slot", **spells: object
) -> Outcome:
    """A job of four slots that can miss two; `spells` are those of `outage`."""
    of = shape(nodes, scope)
    plan = replace(of.plan, min_nodes=low, last_call_s=10.0, grow_after_s=600.0)

    def arrange(scene: Scene) -> None:
        for kind, (at_s, for_s, slots) in spells.items():
            begin = (kind, for_s, frozenset(slots))  # type: ignore[call-overload]
            scene.loop.after(at_s, _begin, (scene, begin))

    of = dataclasses.replace(of, plan=plan)
    options = Options(faults=faults, shape=of, elastic=True, prepare=arrange)
    outcome = simulate(3, options)
    assert not outcome.violations, outcome.told()
    return outcome


def _begin(what: tuple[Scene, tuple[str, float, frozenset[int]]]) -> None:
    scene, (kind, for_s, slots) = what
    scene.moods.spell(kind, for_s, 1.0, 300.0, slots)


def lost(pick: int, at_s: float) -> Fault:
    return Fault("host_loss", at_s, 60.0, pick, 0.0)


def test_an_undisturbed_elastic_job_begins_with_all_and_stays() -> None:
    outcome = play()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert (outcome.counts["attempts"], outcome.counts["launches"]) == (1, 4)
    assert not outcome.counts["shrinks"]


def test_it_begins_with_the_fewest_and_grows_when_there_is_room() -> None:
    outcome = play(no_capacity=(0.0, 1200.0, (2, 3)))
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["shrinks"] == 1
    assert 1 <= outcome.counts["growths"] <= 2


def test_it_ends_with_the_fewest_when_there_is_never_room() -> None:
    for kind in ("no_capacity", "refused", "partial"):
        outcome = play(**{kind: (0.0, FOR_GOOD_S, (1, 3))})
        assert ended(outcome) == Phase.SUCCEEDED.value
        assert outcome.counts["shrinks"] == 1
        assert not outcome.counts["growths"]


def test_a_lost_slot_that_cannot_be_replaced_is_missed_and_comes_back() -> None:
    outcome = play(lost(1, 900.0), no_capacity=(890.0, 900.0, range(4)))
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["shrinks"] == 1
    assert outcome.counts["growths"] == 1
    assert outcome.counts["attempts"] == 4


def test_below_the_fewest_it_waits_for_room() -> None:
    faults = tuple(lost(0, 900.0 + n) for n in range(3))
    outcome = play(*faults, no_capacity=(890.0, 5 * HOUR_S, range(4)))
    assert ended(outcome) == Phase.SUCCEEDED.value
    worlds = [at for at, text in outcome.story if text.startswith("world of")]
    assert max(b - a for a, b in pairwise(worlds)) > 4 * HOUR_S * 1e9


def test_any_slot_that_can_run_takes_the_place_of_one_that_cannot() -> None:
    """Slots 2 and 3 were given up; then 0 and 1 lose their hosts, and only 2 and 3 find room."""
    faults = (lost(0, 1800.0), lost(0, 1801.0))
    outcome = play(
        *faults,
        no_capacity=(0.0, 1700.0, (2, 3)),
        partial=(1790.0, FOR_GOOD_S, (0, 1)),
    )
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["swaps"] or outcome.counts["growths"]


def test_a_slot_that_falls_out_again_and_again_holds_nobody_up() -> None:
    """Every task of slot 3 lives for minutes only."""
    outcome = play(short=(0.0, LAST_S, (3,)))
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["growths"] <= 7
    assert outcome.counts["attempts"] < 20


def test_growth_replaces_every_task_when_the_scope_is_the_gang() -> None:
    outcome = play(no_capacity=(0.0, 1200.0, (3,)), scope="gang")
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["growths"] == 1
    assert outcome.counts["launches"] >= 4 + 3


def test_a_frozen_agent_that_was_given_up_commits_nothing_when_it_comes_back() -> None:
    for pick in range(7):
        frozen = Fault("frozen_process", 1000.0, 2 * HOUR_S, pick, 0.1)
        outcome = play(frozen, Fault("rank_kill", 1010.0, 1.0, 1, 0.0))
        assert ended(outcome) == Phase.SUCCEEDED.value


def test_two_controllers_and_a_crash_between_them_change_the_size_once() -> None:
    faults = (
        Fault("two_controllers", 5.0, 1.0, 0, 0.0),
        Fault("paused_controller", 800.0, 1.0, 1, 0.5),
        Fault("crash_before_act", 895.0, 1.0, 0, 0.0),
        lost(2, 900.0),
    )
    outcome = play(*faults, no_capacity=(890.0, 2 * HOUR_S, range(4)))
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["shrinks"] == 1
