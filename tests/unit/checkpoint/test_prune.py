"""Old checkpoints go in two steps; what anybody may still need stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.checkpoint.find import choose, names
from phalanx.checkpoint.prune import Pruned, Rules, may_go, prunable, prune
from phalanx.state.gang import Head
from tests.support.saves import Saves

A, B, C, D = (f"00000000{step}-0" for step in (10, 20, 30, 40))
PARENTS: dict[str, str | None] = {A: None, B: A, C: B, D: C}


@pytest.mark.parametrize(
    ("head", "keep", "named", "free"),
    [
        (Head(0, D), 2, (), (A, B)),
        (Head(0, D), 2, (A,), (B,)),
        (Head(0, D), 0, (), (A, B, C)),
        (Head(0, D), 9, (), ()),
        (Head(0, C), 1, (), (A, B)),
        (Head(0, "0000000050-0"), 1, (), ()),
        (Head(0), 1, (), ()),
        (None, 1, (), ()),
    ],
    ids=[
        "keep",
        "named",
        "never the last",
        "few",
        "newer than HEAD",
        "HEAD torn",
        "no commit",
        "-",
    ],
)
def test_what_may_go(
    head: Head | None, keep: int, named: tuple[str, ...], free: tuple[str, ...]
) -> None:
    assert prunable(PARENTS, (), head, keep, named) == free


def test_an_older_branch_goes_and_evidence_stays() -> None:
    parents = {A: None, D: A, "0000000020-1": A}
    head = Head(1, "0000000020-1")
    assert prunable(parents, (), head, 2, ()) == (D,)
    half = ("0000000050-0", "0000000015-1", "0000000050-1")
    assert prunable(parents, half, head, 2, ()) == (D, "0000000050-0")


def test_first_the_mark_then_the_deletion(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    first, second, third = (saves.committed(step) for step in (10, 20, 30))
    patient = Rules(keep=1, wait_ns=3600 * 10**9)
    assert prune(saves.store, saves.keys, patient, [first]) == Pruned(retired=(second,))
    assert prune(saves.store, saves.keys, patient, [first]) == Pruned()
    choice = choose(saves.store, saves.keys, saves.head(), [third])
    assert choice.name == first
    assert choice.refused[1] == (second, "it is retired and will be deleted")
    eager = Rules(keep=1, wait_ns=0)
    assert prune(saves.store, saves.keys, eager, [first, second]) == Pruned()
    assert prune(saves.store, saves.keys, eager, [first]) == Pruned(deleted=(second,))
    assert names(saves.store, saves.keys) == (third, first)
    assert not saves.path(second, "").exists()
    assert choose(saves.store, saves.keys, saves.head(), [third]).name == first


def test_a_gap_that_a_person_made_does_not_cost_what_lies_before_it(tmp_path: Path) -> None:
    parents = {A: None, B: A, D: C}
    assert prunable(parents, (), Head(0, D), 3, ()) == ()
    assert prunable(parents, (), Head(0, D), 2, ()) == (A,)
    saves = Saves(tmp_path)
    first, second, third = (saves.committed(step) for step in (10, 20, 30))
    chosen = Rules(keep=1, wait_ns=0, only=frozenset([second]))
    assert may_go(saves.store, saves.keys, chosen, ()) == (second,)
    assert prune(saves.store, saves.keys, chosen, ()) == Pruned(retired=(second,))
    assert prune(saves.store, saves.keys, chosen, ()) == Pruned(deleted=(second,))
    assert names(saves.store, saves.keys) == (third, first)
    assert choose(saves.store, saves.keys, saves.head(), [third]).name == first
