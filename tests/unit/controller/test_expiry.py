"""Old logs and evidence go; nothing that a restart needs does."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.clock import SECOND_NS
from phalanx.controller.expiry import attempt_in, remove_old
from phalanx.frozen import replace
from phalanx.names import Keys
from phalanx.state.codec import dumps
from phalanx.state.record import PastAttempt, Record
from phalanx.words import Phase
from tests.support import made_root

DAY_NS = 86_400 * SECOND_NS
KEYS = Keys("gpt-1")
OF_ATTEMPT = ("logs/0.0-{}", "evidence/stacks-{}-00001", "notices/spot-0.0-{}")
STAYS = ("checkpoints/0000000040-0/manifest", "attempts/0/ends/0.0", "files/mine", "ledger/0.0-0")


def root_with(folder: Path, record: Record) -> made_root.MadeRoot:
    root = made_root.MadeRoot(folder)
    store = root.root.store
    store.swap(KEYS.record, dumps(record), None)
    for attempt in (0, 1):
        for name in OF_ATTEMPT:
            key = f"{KEYS.base}/{name.format(attempt)}"
            store.create(f"{key}/0.out.0" if key.startswith(KEYS.logs) else key, b"x")
    store.create(f"{KEYS.notices}/spot-0.0-0.outcome", b"x")
    for name in (*STAYS, "tasks/abc/agent.log", "tasks/abc/pid", "controller.log"):
        store.create(f"{KEYS.base}/{name}", b"x")
    return root


def left(folder: Path) -> set[str]:
    base = folder / KEYS.base
    return {str(path.relative_to(base)) for path in base.rglob("*") if path.is_file()}


def of_now(folder: Path, days: float, **changes: object) -> Record:
    """A record whose first attempt ended so many days ago."""
    now_ns = made_root.MadeRoot(folder).root.store.now_ns()
    record = made_root.record(**changes)
    past = PastAttempt(0, now_ns - int(days * DAY_NS), made_root.KILLED, False)
    ended_ns = past.ended_ns if record.phase.is_terminal else None
    return replace(record, history=(past,), ended_ns=ended_ns)


def test_only_old_attempts_of_a_running_job_go(tmp_path: Path) -> None:
    root = root_with(tmp_path, of_now(tmp_path, 31))
    before = left(tmp_path)
    assert remove_old(root.root.store, "gpt-1") == 4
    gone = before - left(tmp_path)
    assert gone == {
        "logs/0.0-0/0.out.0",
        "evidence/stacks-0-00001",
        "notices/spot-0.0-0",
        "notices/spot-0.0-0.outcome",
    }


def test_nothing_young_goes(tmp_path: Path) -> None:
    root = root_with(tmp_path, of_now(tmp_path, 29, phase=Phase.FAILED))
    assert remove_old(root.root.store, "gpt-1") == 0


def test_of_a_job_that_ended_long_ago_all_logs_go_and_the_rest_stays(tmp_path: Path) -> None:
    root = root_with(tmp_path, of_now(tmp_path, 31, phase=Phase.FAILED))
    remove_old(root.root.store, "gpt-1")
    assert left(tmp_path) == {"record/00000001", "tasks/abc/pid", *STAYS}
    assert remove_old(root.root.store, "gpt-1") == 0


def test_the_job_file_says_how_old(tmp_path: Path) -> None:
    plan = made_root.plan(evidence_keep_s=3600.0)
    root = root_with(tmp_path, of_now(tmp_path, 0.5, phase=Phase.FAILED, plan=plan))
    assert remove_old(root.root.store, "gpt-1") > 0


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b'{"job": 3}'])
def test_a_job_whose_record_cannot_be_read_is_left_alone(tmp_path: Path, body: bytes) -> None:
    root = made_root.MadeRoot(tmp_path)
    root.root.store.swap(KEYS.record, body, None)
    root.root.store.create(f"{KEYS.evidence}/stacks-0-00000", b"x")
    assert remove_old(root.root.store, "gpt-1") == 0
    assert remove_old(root.root.store, "none-1") == 0


def test_the_attempt_is_part_of_a_name() -> None:
    names = ["0.1-3", "stacks-3-00001", "spot-0.1-3", "stop-save-0.1-3.outcome", "other", "a-b"]
    assert [attempt_in(name) for name in names] == [3, 3, 3, 3, None, None]
