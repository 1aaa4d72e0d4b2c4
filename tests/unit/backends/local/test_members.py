"""Who belongs to a task, on made process tables."""

from __future__ import annotations

from phalanx.backends.local.members import Family, belonging
from phalanx.backends.local.processes import Process

ROOT = "/r"
AGENT = Process(10, 100, 1, 10, ROOT, "demo-1", "t")
FAMILY = Family("t", (10, 100))


def pids(
    *table: Process, known: dict[tuple[int, int], str] | None = None, outside: tuple[int, ...] = ()
) -> list[int]:
    return sorted(p.pid for p in belonging(ROOT, [FAMILY], table, known or {}, outside))


def test_a_mark_is_enough() -> None:
    assert pids(Process(20, 200, 1, 20, ROOT, "demo-1", "t")) == [20]


def test_the_mark_of_another_root_or_task_is_not() -> None:
    others = (Process(20, 200, 1, 20, "/s", "demo-1", "t"), Process(21, 200, 1, 21, ROOT, "", "u"))
    assert pids(AGENT, *others) == [10]


def test_descent_goes_on_without_marks_in_any_order() -> None:
    table = (Process(8, 300, 9, 8), Process(9, 300, 10, 9), AGENT)
    assert pids(*table) == [8, 9, 10]


def test_descent_does_not_pass_through_another_task_or_a_controller() -> None:
    nested = Process(11, 200, 10, 11, "/s", "demo-1", "u")
    controller = Process(12, 200, 10, 12, ROOT, "", "t", is_controller=True)
    children = (Process(13, 300, 11, 11), Process(14, 300, 12, 12))
    assert pids(AGENT, nested, controller, *children) == [10]


def test_descent_does_not_pass_through_who_asks() -> None:
    assert pids(AGENT, Process(11, 200, 10, 11), Process(12, 200, 11, 11), outside=(11,)) == [10]


def test_the_session_of_a_dead_agent_still_speaks() -> None:
    assert pids(Process(20, 200, 1, 10)) == [20]


def test_the_session_of_a_reused_pid_does_not() -> None:
    assert pids(Process(10, 500, 1, 10), Process(20, 600, 10, 10)) == []


def test_a_process_older_than_the_agent_is_not_of_its_session() -> None:
    assert pids(Process(20, 50, 1, 10)) == []


def test_who_was_known_before_still_belongs() -> None:
    assert pids(Process(20, 200, 1, 20), known={(20, 200): "t"}) == [20]
    assert pids(Process(20, 201, 1, 20), known={(20, 200): "t"}) == []
