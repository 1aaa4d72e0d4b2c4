"""Dangers by name: schedules that once broke a promise, or that break the obvious version."""

from __future__ import annotations

from dataclasses import dataclass, field

from phalanx.frozen import replace
from phalanx.reconcile.decision import ECS_TIMING
from phalanx.sim.faults import FOR_GOOD_S, HOUR_S, Fault
from phalanx.sim.run import Options, Outcome, simulate
from phalanx.sim.scene import Scene, Shape, draw_shape
from phalanx.words import Phase


def shape(nodes: int = 3, scope: str = "slot", seed: int = 0) -> Shape:
    drawn = draw_shape(seed)
    plan = replace(
        drawn.plan,
        nodes=nodes,
        ranks_per_node=1,
        restart_scope=scope,
        total_steps=720,
        no_progress=20,
        hang_after_s=300.0,
        start_timeout_s=1800.0,
        stop_grace_s=10.0,
    )
    return Shape(plan, ECS_TIMING, 5.0, 60, drawn.controllers, drawn.keeps_lineage)


@dataclass
class Play:
    """One scenario: faults in order, everything else left to the seed."""

    of: Shape = field(default_factory=shape)
    faults: list[Fault] = field(default_factory=list)

    def add(
        self, kind: str, at_s: float, for_s: float = 60.0, pick: int = 0, size: float = 0.0
    ) -> Play:
        self.faults.append(Fault(kind, at_s, for_s, pick, size))
        return self

    def run(self, seed: int = 1) -> Outcome:
        outcome = simulate(seed, Options(faults=tuple(self.faults), shape=self.of))
        assert not outcome.violations, outcome.told()
        return outcome


def ended(outcome: Outcome) -> str:
    return next(key[4:] for key in outcome.counts if key.startswith("end "))


def test_an_undisturbed_job_succeeds_in_one_attempt() -> None:
    outcome = Play().run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["attempts"] == 1
    assert outcome.counts["commits"] == 12


def test_a_killed_rank_costs_one_attempt_and_no_task() -> None:
    outcome = Play().add("rank_kill", 1000.0).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["attempts"] == 2
    assert outcome.counts["launches"] == 3


def test_a_lost_host_is_replaced() -> None:
    outcome = Play().add("host_loss", 1000.0).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["launches"] == 4


def test_an_old_task_that_hears_no_stop_is_not_waited_for_without_end() -> None:
    """The host of an unseated task is cut off for good: its slot is filled all the same."""
    play = Play(shape(scope="gang")).add("cut_off_host", 500.0, pick=1, size=0.9)
    outcome = play.add("rank_kill", 600.0).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["reason StoppingOld"]


def test_the_last_slot_is_cut_off_when_all_others_are_done() -> None:
    """No collective is left to stand still, so silence alone tells."""
    last_commit = 3600.0
    for late_s in (30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0):
        play = Play().add("cut_off_host", last_commit + late_s, pick=1, size=0.9)
        assert ended(play.run()) == Phase.SUCCEEDED.value


def test_most_of_a_gang_cut_off_for_good_is_replaced_after_the_start_time_out() -> None:
    play = Play().add("cut_off_host", 500.0, pick=0, size=0.9)
    play.add("cut_off_host", 500.0, pick=1, size=0.9).add("rank_kill", 501.0, pick=0)
    outcome = play.run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["reason StoreUnreachable"]


def test_a_whole_gang_cut_off_while_it_trains_is_replaced_at_last() -> None:
    play = Play(shape(nodes=2)).add("cut_off_host", 500.0, pick=0, size=0.9)
    outcome = play.add("cut_off_host", 500.0, pick=1, size=0.9).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["launches"] == 4


def test_a_frozen_agent_whose_gang_was_replaced_commits_nothing() -> None:
    """It stops with a decision in its hands, its slot moves, it comes back hours later."""
    for pick in range(42):
        play = Play().add("frozen_process", 1000.0, 2 * HOUR_S, pick=pick, size=0.1)
        play.add("rank_kill", 1010.0, pick=1)
        assert ended(play.run(pick)) == Phase.SUCCEEDED.value


def test_a_gang_that_comes_back_after_its_replacement_commits_nothing() -> None:
    """Its parts were all written; only the seal keeps them from being committed."""
    outcome = Play(shape(nodes=2)).add("frozen_gang", 290.0, 1.2 * HOUR_S).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["commit refused"]
    assert outcome.counts["launches"] == 4


def test_a_controller_that_acts_hours_late_launches_nothing_that_nobody_wants() -> None:
    for pick in range(3):
        play = Play().add("paused_controller", 500.0, pick=pick, size=0.5)
        play.add("host_loss", 501.0).add("host_loss", 2000.0, pick=1)
        assert ended(play.run(pick)) == Phase.SUCCEEDED.value


def test_a_request_that_arrives_after_its_token_has_died_makes_no_second_member() -> None:
    def short_tokens(scene: Scene) -> None:
        scene.cloud.token_life_s = 60.0

    faults = (Fault("late_launch", 0.0, HOUR_S, 0, 1.0), Fault("task_kill", 2000.0, 1.0, 0, 0.0))
    for seed in range(10):
        options = Options(faults=faults, shape=shape(), prepare=short_tokens)
        outcome = simulate(seed, options)
        assert not outcome.violations, outcome.told()


def test_a_crash_between_save_and_act_is_repaired_by_the_next_tick() -> None:
    for pick in range(3):
        outcome = Play().add("crash_before_act", 0.0, pick=pick).run(pick)
        assert ended(outcome) == Phase.SUCCEEDED.value


def test_an_unreadable_checkpoint_gives_way_to_its_parent() -> None:
    play = Play().add("unreadable_checkpoint", 1500.0).add("rank_kill", 1501.0)
    outcome = play.run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["steps back"] == 1


def test_a_store_that_answers_nobody_for_an_hour_ends_nothing() -> None:
    outcome = Play().add("store_outage", 1000.0, HOUR_S, size=1.0).run()
    assert ended(outcome) == Phase.SUCCEEDED.value


def test_answers_that_are_lost_change_nothing() -> None:
    for kind in ("lost_answer", "store_conflict"):
        play = Play().add(kind, 0.0, HOUR_S, size=1.0).add("rank_kill", 900.0)
        assert ended(play.run()) == Phase.SUCCEEDED.value


def test_an_ending_that_is_forgotten_at_once_is_a_lost_task() -> None:
    outcome = Play().add("forgotten_ending", 1000.0).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["launches"] == 4


def test_a_stopped_job_leaves_nothing_behind() -> None:
    outcome = Play().add("user_stop", 1000.0).run()
    assert ended(outcome) == Phase.STOPPED.value


def test_a_zombie_holds_up_the_end_for_a_while_only() -> None:
    play = Play().add("cut_off_host", 500.0, pick=1, size=0.9).add("user_stop", 600.0)
    outcome = play.run()
    assert ended(outcome) == Phase.STOPPED.value
    assert outcome.story[-1][0] < FOR_GOOD_S * 1e9


def test_a_paused_job_loses_nothing_and_goes_on_when_asked() -> None:
    outcome = Play().add("user_pause", 1000.0, HOUR_S, size=0.9).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert (outcome.counts["rests"], outcome.counts["resumes"]) == (1, 1)
    assert outcome.counts["attempts"] == 2
    assert outcome.counts["launches"] == 6


def test_a_pause_that_is_taken_back_at_once_still_comes_to_rest() -> None:
    outcome = Play().add("user_pause", 1000.0, size=0.0).run()
    assert ended(outcome) == Phase.SUCCEEDED.value
    assert outcome.counts["resumes"] == 1


def test_a_pause_of_a_job_whose_hosts_hear_nothing() -> None:
    for for_s, size in ((HOUR_S, 0.2), (HOUR_S, 0.9)):
        play = Play().add("cut_off_host", 500.0, for_s, pick=1, size=size)
        outcome = play.add("user_pause", 600.0, 2 * HOUR_S, size=0.9).run()
        assert ended(outcome) == Phase.SUCCEEDED.value


def test_a_job_at_rest_is_stopped_without_being_resumed() -> None:
    play = Play().add("user_pause", 600.0, 2 * HOUR_S, size=0.9).add("user_stop", 4000.0)
    outcome = play.run()
    assert ended(outcome) == Phase.STOPPED.value
    assert outcome.counts["rests"] == 1
    assert outcome.counts["resumes"] == 0


def test_a_late_request_starts_nothing_while_the_job_rests() -> None:
    for seed in range(5):
        play = Play().add("late_launch", 0.0, HOUR_S, size=1.0).add("host_loss", 300.0)
        outcome = play.add("user_pause", 400.0, 1.9 * HOUR_S, size=0.9).run(seed)
        assert ended(outcome) == Phase.SUCCEEDED.value
