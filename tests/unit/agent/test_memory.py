"""Which rank goes when a slot uses too much, and how little is counted until then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phalanx.agent import kernel_kills
from phalanx.agent.kernel_kills import KernelKills
from phalanx.agent.memory import LOOK_S, SOON_S, MemoryWatch, Readings

MIB = 1 << 20
GIB = 1 << 30


class Told(Readings):
    """Sizes by pid, as they are told; how often the exact ones were asked for."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.exact_sizes: dict[int, int] = {}
        self.all, self.left = 16 * GIB, 8 * GIB
        self.counted = 0

    def resident(self, pid: int) -> int:
        return self.sizes.get(pid, 0)

    def exact(self, pid: int) -> int:
        self.counted += 1
        return self.exact_sizes.get(pid, self.sizes.get(pid, 0))

    def machine(self) -> tuple[int, int]:
        return self.all, self.left


FAMILIES = {0: [10], 1: [20, 21]}


def test_within_the_limit_nothing_is_counted_and_nobody_goes() -> None:
    told = Told()
    told.sizes = {10: 300 * MIB, 20: 300 * MIB, 21: 300 * MIB, 1: 100 * MIB}
    watch = MemoryWatch(GIB, 1, told)
    assert watch.look(0.0, FAMILIES, [1]) is None
    assert told.counted == 0
    assert watch.due_in(0.0) == SOON_S
    assert watch.look(0.1, FAMILIES, [1]) is None
    assert watch.due_in(0.1) == pytest.approx(LOOK_S)


def test_the_largest_rank_goes_with_what_it_started() -> None:
    told = Told()
    told.sizes = {10: 500 * MIB, 20: 200 * MIB, 21: 400 * MIB, 1: 10 * MIB}
    overrun = MemoryWatch(GIB, 1, told).look(0.0, FAMILIES, [1])
    assert overrun is not None
    assert overrun.key == 1
    for said in ("rank 1 used 629,145,600 bytes", "1,163,919,360", "allows the slot 1,073,741,824"):
        assert said in overrun.why


def test_pages_that_are_shared_or_can_be_dropped_do_not_count() -> None:
    told = Told()
    told.sizes = {10: 900 * MIB, 20: 900 * MIB}
    told.exact_sizes = {10: 400 * MIB, 20: 400 * MIB}
    watch = MemoryWatch(GIB, 1, told)
    assert watch.look(0.0, FAMILIES) is None
    assert told.counted == 3
    # It cannot have outgrown the limit before it has grown by what was missing to it.
    for n in range(1, 20):
        assert watch.look(n * LOOK_S, FAMILIES) is None
    assert told.counted == 3


def test_growth_is_found_however_little_of_it_is_counted() -> None:
    told = Told()
    watch = MemoryWatch(GIB, 1, told)
    now_s, exact = 0.0, 200 * MIB
    told.exact_sizes = {10: exact}
    told.sizes = {10: exact + 900 * MIB}
    overrun = None
    while overrun is None:
        assert exact < 1.05 * GIB, "it was never found"
        overrun = watch.look(now_s, {0: [10]})
        now_s += watch.due_in(now_s)
        exact += 4 * MIB
        told.exact_sizes = {10: exact}
        told.sizes = {10: exact + 900 * MIB}
    assert exact > GIB
    assert told.counted < 40


def test_file_pages_that_give_way_to_others_hide_no_growth() -> None:
    told = Told()
    watch = MemoryWatch(GIB, 1, told)
    told.sizes, told.exact_sizes = {10: 2 * GIB}, {10: 400 * MIB}
    assert watch.look(0.0, {0: [10]}) is None
    told.sizes = {10: 1100 * MIB}
    assert watch.look(0.5, {0: [10]}) is None
    told.sizes, told.exact_sizes = {10: 1500 * MIB}, {10: 1200 * MIB}
    assert watch.look(1.0, {0: [10]}) is not None


def test_without_a_limit_only_the_end_of_the_machine_counts() -> None:
    told = Told()
    told.sizes = {10: 12 * GIB, 20: GIB}
    watch = MemoryWatch(None, 2, told)
    assert watch.look(0.0, FAMILIES) is None
    assert told.counted == 0
    told.left = 100 * MIB
    overrun = watch.look(0.5, FAMILIES)
    assert overrun is not None
    assert overrun.key == 0
    assert "the machine has" in overrun.why


def test_a_slot_within_its_share_does_not_give_way_to_the_others() -> None:
    told = Told()
    told.sizes = {10: 2 * GIB, 20: 2 * GIB}
    told.left = 100 * MIB
    assert MemoryWatch(None, 2, told).look(0.0, FAMILIES) is None


def test_the_kernel_tells_of_real_processes() -> None:
    script = "import sys; kept = b'x' * (64 << 20); print('ready', flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        readings = Readings()
        exact, resident = readings.exact(child.pid), readings.resident(child.pid)
        assert 64 * MIB < exact <= resident + MIB
        child.communicate("")
    assert Readings().exact(child.pid) == Readings().resident(child.pid) == 0
    total, available = Readings().machine()
    assert 0 < available < total


def test_a_kill_is_known_until_the_second_look_after_it(tmp_path: Path) -> None:
    counter = tmp_path / "memory.events"
    counter.write_text("low 0\noom 7\noom_kill 3\n")
    kills = KernelKills(str(counter))
    assert kills.since() == 0
    counter.write_text("low 0\noom 8\noom_kill 4\n")
    assert kills.since() == 1
    kills.note()
    assert kills.since() == 1
    kills.note()
    assert kills.since() == 0


def test_this_system_has_a_counter_or_none_is_believed(tmp_path: Path) -> None:
    assert KernelKills().since() == 0
    assert KernelKills(str(tmp_path / "absent")).since() == 0


def test_a_rank_is_offered_to_the_kernel_before_those_that_care_for_it() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        kernel_kills.offer(child.pid)
        score = int(Path(f"/proc/{child.pid}/oom_score_adj").read_text())
        child.kill()
    assert score > int(Path("/proc/self/oom_score_adj").read_text()) or score == 1000
    kernel_kills.offer(os.getpid() + (1 << 22))  # nobody has that pid
