"""Ranks agree on the step of a save without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phalanx.train.agreement import DUE, NONE, Alone, Mute, SideGroup, Word, open_agreement
from tests.support.torch_processes import answers, start


def test_a_single_rank_hears_itself() -> None:
    alone = open_agreement(1)
    assert isinstance(alone, Alone)
    assert alone.heard() == Word(NONE, False)
    alone.say(DUE, True)
    assert alone.heard() == Word(DUE, True)
    alone.close()


def test_without_a_process_group_nothing_is_heard() -> None:
    mute = open_agreement(2)
    assert isinstance(mute, Mute)
    mute.say(DUE, True)
    assert mute.heard() == Word(NONE, False)
    mute.close()


def _rank(rank: int, store: str, said: Any) -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    group = open_agreement(2)
    heard = [group.heard()]
    wishes = ([NONE, DUE, 7, NONE], [NONE, NONE, DUE, NONE])[rank]
    for step, wish in enumerate(wishes):
        group.say(wish, busy=step == 3 - rank)
        heard.append(group.heard())
    group.say(NONE, False)
    group.close()
    said.put((rank, isinstance(group, SideGroup), heard))
    dist.destroy_process_group()


def test_all_ranks_hear_the_same(tmp_path: Path) -> None:
    said = answers()
    ranks = [start({}, _rank, rank, str(tmp_path / "store"), said) for rank in range(2)]
    found = sorted(said.get(timeout=60) for _ in ranks)
    for process in ranks:
        process.join()
        process.close()
    said.close()
    said.join_thread()
    expected = [Word(), Word(), Word(DUE), Word(7, True), Word(NONE, True)]
    assert found == [(0, True, expected), (1, True, expected)]
