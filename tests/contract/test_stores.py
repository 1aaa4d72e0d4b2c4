"""What every root must keep, whatever happens to its writers and to their answers."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path

import pytest

from phalanx.errors import InputError, StoreConflict, StoreError, StoreUnclear
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.store_process import CHURN, is_whole
from tests.support.stores import Lossy, LossyWithLineage, faults, new_files_root, open_objects

DEADLINE_S = 60
REPOSITORY = Path(__file__).resolve().parents[2]

ROOTS: dict[str, Callable[[Path], str]] = {"files": new_files_root}


@pytest.fixture(params=ROOTS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ROOTS[request.param](tmp_path)


@pytest.fixture
def store(address: str) -> Store:
    return Store(open_objects(address), writer_id())


class Child:
    """A process of `tests.support.store_process`."""

    def __init__(self, address: str, verb: str, *args: str, seed: int = 0) -> None:
        words = (sys.executable, "-m", "tests.support.store_process", address, verb, str(seed))
        self.process = subprocess.Popen(
            (*words, *args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": f"{REPOSITORY}/src:{REPOSITORY}"},
        )

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def expect(self, *words: str) -> None:
        for word in words:
            assert self.hear() == word

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def until_stopped(self) -> None:
        deadline = time.monotonic() + DEADLINE_S
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < deadline
            os.sched_yield()

    def end(self) -> str:
        """Kill it; what it had printed and nobody read yet."""
        self.process.kill()
        rest, _ = self.process.communicate(timeout=DEADLINE_S)
        return rest


@pytest.fixture
def children() -> Iterator[list[Child]]:
    started: list[Child] = []
    yield started
    for child in started:
        child.signal(signal.SIGCONT)
        child.end()


def blob(store: Store, key: str) -> bytes:
    view = store.get_blob(key)
    assert view is not None
    return bytes(view)


# --- one process ------------------------------------------------------------------------------


def test_nothing_is_read_where_nothing_was_written(store: Store) -> None:
    assert store.read("jobs/a-1/record") is None
    assert store.list("jobs/a-1/members") == ()
    assert store.pulse("jobs/a-1/controller") is None
    assert store.get_blob("jobs/a-1/blob") is None
    store.delete("jobs/a-1")


def test_create_once_keeps_the_first(store: Store) -> None:
    assert store.create("jobs/a-1/world", b"one") is True
    assert store.create("jobs/a-1/world", b"two") is False
    found = store.read("jobs/a-1/world")
    assert found is not None
    assert found.data == b"one"


def test_an_equal_body_by_somebody_else_is_not_ours(address: str, store: Store) -> None:
    other = Store(open_objects(address), writer_id())
    assert other.create("jobs/a-1/world", b"same")
    assert store.create("jobs/a-1/world", b"same") is False
    version = other.swap("jobs/a-1/record", b"same", None)
    assert version
    assert store.swap("jobs/a-1/record", b"same", None) is None


def test_swap_follows_the_version(address: str, store: Store) -> None:
    key = "jobs/a-1/record"
    first = store.swap(key, b"1", None)
    second = store.swap(key, b"2", first)
    assert second is not None
    assert store.swap(key, b"late", first) is None
    assert store.swap(key, b"late", None) is None
    for reader in (store, Store(open_objects(address), writer_id())):
        found = reader.read(key)
        assert found is not None
        assert (found.data, found.version) == (b"2", second)


def test_bytes_come_back_as_they_were(store: Store) -> None:
    for n, body in enumerate((b"", b"\n", b'{"writer":"x","n":1}\n', bytes(range(256)) * 999)):
        assert store.create(f"jobs/a-1/bodies/{n}", body)
        assert store.swap(f"jobs/a-1/values/{n}", body, None)
        for kind in ("bodies", "values"):
            found = store.read(f"jobs/a-1/{kind}/{n}")
            assert found is not None
            assert found.data == body


def test_an_object_without_stamp_is_refused(store: Store) -> None:
    store.objects.put_new("jobs/a-1/world", b'{"attempt":1}')
    with pytest.raises(StoreError, match="jobs/a-1/world"):
        store.read("jobs/a-1/world")


def test_a_b_a_is_noticed(store: Store) -> None:
    key = "jobs/a-1/record"
    a = store.swap(key, b"A", None)
    b = store.swap(key, b"B", a)
    again = store.swap(key, b"A", b)
    assert len({a, b, again}) == 3
    assert store.swap(key, b"C", a) is None
    found = store.read(key)
    assert found is not None
    assert (found.data, found.version) == (b"A", again)


def test_a_b_a_through_removal_is_noticed(address: str, store: Store) -> None:
    key = "jobs/a-1/record"
    zombie = Store(open_objects(address), writer_id())
    assert zombie.swap(key, b"old", None)
    held = zombie.read(key)
    assert held is not None
    store.delete("jobs/a-1")
    assert zombie.read(key) is None
    assert store.swap(key, b"old", None)
    assert zombie.swap(key, b"from the grave", held.version) is None
    found = zombie.read(key)
    assert found is not None
    assert found.data == b"old"


def test_lists_are_complete_and_sorted(store: Store) -> None:
    names = [f"{n}.{n % 3}" for n in range(300)]
    random.Random(1).shuffle(names)
    for name in names:
        store.objects.put_new(f"jobs/a-1/members/{name}", b"x")
    version = store.swap("jobs/a-1/record", b"1", None)
    store.swap("jobs/a-1/record", b"2", version)
    assert store.list("jobs/a-1/members") == tuple(sorted(names))
    assert store.list("jobs/a-1") == ("members", "record")
    assert store.list("jobs") == ("a-1",)
    assert store.list("jobs/a-1/record") == ()


def test_deep_keys(store: Store) -> None:
    prefix = "/".join(f"level-{n}" for n in range(60))
    assert store.create(f"{prefix}/leaf", b"deep")
    assert store.swap(f"{prefix}/value", b"deep", None)
    assert store.list(prefix) == ("leaf", "value")
    found = store.read(f"{prefix}/leaf")
    assert found is not None
    assert found.data == b"deep"


@pytest.mark.parametrize(
    "key",
    ["", "/", "/etc/passwd", "a//b", "a/../b", "..", "a/.", "a/", "a\0b", "a/b c", "-a", "é",
     "tmp/a", "a/00000001", "x" * 201, "/".join("ab" * 200)],
)  # fmt: skip
def test_bad_keys_are_refused(store: Store, key: str) -> None:
    with pytest.raises(InputError):
        store.create(key, b"")
    for use in (store.read, store.list, store.pulse, store.get_blob, store.delete):
        with pytest.raises(InputError):
            use(key)


def test_beats_are_overwritten_and_have_an_age(store: Store) -> None:
    before = store.now_ns()
    store.beat("jobs/a-1/controller", b"one")
    store.beat("jobs/a-1/controller", b"two")
    pulse = store.pulse("jobs/a-1/controller")
    assert pulse is not None
    data, age_ns = pulse
    assert data == b"two"
    assert 0 <= age_ns <= store.now_ns() - before


def test_blobs(store: Store) -> None:
    big = os.urandom(3 << 20)
    chunks: list[bytes | memoryview] = [
        big[:10],
        memoryview(big)[10 : 2 << 20],
        b"",
        memoryview(big)[2 << 20 :],
    ]
    written = store.put_blob("jobs/a-1/blob", iter(chunks))
    assert written == (len(big), hashlib.sha256(big).hexdigest())
    with pytest.raises(StoreConflict):
        store.put_blob("jobs/a-1/blob", [b"again"])
    assert store.put_blob("jobs/a-1/empty", []).bytes == 0
    view = store.get_blob("jobs/a-1/blob")
    assert view is not None
    assert view.readonly
    store.delete("jobs/a-1/blob")
    assert store.get_blob("jobs/a-1/blob") is None
    assert view == big
    assert blob(store, "jobs/a-1/empty") == b""


def test_a_blob_that_fails_half_way_does_not_exist(store: Store) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise PermissionError(13, "the source cannot be read")

    with pytest.raises(PermissionError, match="the source"):
        store.put_blob("jobs/a-1/blob", chunks())
    assert store.get_blob("jobs/a-1/blob") is None
    assert store.put_blob("jobs/a-1/blob", [b"whole"]).bytes == 5


# --- lost answers -----------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["after", "echo", "before", "late"])
def test_a_lost_answer_changes_nothing(address: str, fault: str) -> None:
    plan = (word for pair in repeat((fault, "fine")) for word in pair)
    store = Store(Lossy(open_objects(address), plan), writer_id())
    assert store.create("jobs/a-1/world", b"mine") is True
    version = None
    for n in range(4):
        version = store.swap("jobs/a-1/record", b"%d" % n, version)
        found = store.read("jobs/a-1/record")
        assert found is not None
        assert (found.data, found.version) == (b"%d" % n, version)
    assert store.create("jobs/a-1/world", b"other") is False
    assert store.swap("jobs/a-1/record", b"other", None) is None


def test_a_root_that_never_answers_is_told_as_unclear(address: str) -> None:
    pauses: list[float] = []
    lossy = Lossy(open_objects(address), repeat("before"))
    store = Store(lossy, writer_id(), pause=pauses.append)
    with pytest.raises(StoreUnclear, match="jobs/a-1/world"):
        store.create("jobs/a-1/world", b"mine")
    with pytest.raises(StoreUnclear, match="jobs/a-1/record"):
        store.swap("jobs/a-1/record", b"mine", None)
    assert sum(pauses) < 5


class Overtaken(LossyWithLineage):
    """Loses the answer, and somebody else swaps before anybody can look."""

    def replace(self, key: str, data: bytes, version: str | None) -> str:
        new = self.objects.replace(key, data, version)
        self.objects.replace(key, b'{"writer":"other","n":1}\nother', new)
        raise StoreUnclear("the answer was lost")


def test_a_write_that_was_granted_and_superseded_is_told_as_won(address: str) -> None:
    objects = open_objects(address)
    store = Store(Overtaken(objects, repeat("fine")), writer_id())
    version = store.swap("jobs/a-1/record", b"mine", None)
    assert version is not None
    found = store.read("jobs/a-1/record")
    assert found is not None
    assert found.data == b"other"
    assert Store(objects, writer_id()).swap("jobs/a-1/record", b"next", version) is None


@pytest.mark.parametrize("seed", range(5))
def test_random_losses_change_nothing(address: str, seed: int) -> None:
    kinds = ("after", "before", "echo", "late")
    lossy = LossyWithLineage(open_objects(address), faults(seed, kinds))
    store = Store(lossy, writer_id(), pause=lambda _: None)
    version = None
    for n in range(40):
        assert store.create(f"jobs/a-1/ends/{n}", b"%d" % n) is True
        version = store.swap("jobs/a-1/record", b"%d" % n, version)
        assert version is not None
    assert len(store.list("jobs/a-1/ends")) == 40


# --- many processes ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 7])
def test_of_sixteen_creators_one_wins(address: str, children: list[Child], seed: int) -> None:
    for n in range(16):
        child_seed = seed + n if seed else 0
        child = Child(address, "create", "jobs/a-1/world", f"body {n}", seed=child_seed)
        children.append(child)
    for child in children:
        child.expect("ready")
    for child in children:
        child.tell()
    answers = [child.hear() for child in children]
    assert sorted(answers) == ["False"] * 15 + ["True"]
    found = Store(open_objects(address), writer_id()).read("jobs/a-1/world")
    assert found is not None
    assert found.data == f"body {answers.index('True')}".encode()


@pytest.mark.parametrize("seed", [0, 11])
def test_no_increment_is_lost_or_doubled(address: str, children: list[Child], seed: int) -> None:
    for n in range(4):
        child_seed = seed + n if seed else 0
        children.append(Child(address, "increment", "jobs/a-1/record", "25", seed=child_seed))
    for child in children:
        child.expect("ready")
    for child in children:
        child.tell()
    for child in children:
        child.expect("done")
    found = Store(open_objects(address), writer_id()).read("jobs/a-1/record")
    assert found is not None
    assert found.data == b"100"


def _check_churn(store: Store, announced: set[str]) -> None:
    """Nothing visible is half, and nothing announced is missing from the lists."""
    listed = set()
    for kind in ("once", "blobs"):
        for name in store.list(f"{CHURN}/{kind}"):
            key = f"{CHURN}/{kind}/{name}"
            listed.add(key)
            if kind == "once":
                found = store.read(key)
                assert found is not None
                assert is_whole(found.data)
            else:
                assert is_whole(blob(store, key))
    assert announced <= listed
    for name in store.list(f"{CHURN}/values"):
        found = store.read(f"{CHURN}/values/{name}")
        assert found is None or is_whole(found.data)
    for name in store.list(f"{CHURN}/beats"):
        pulse = store.pulse(f"{CHURN}/beats/{name}")
        assert pulse is not None
        assert is_whole(pulse[0])


def test_killed_writers_leave_nothing_half(address: str, store: Store) -> None:
    chance = random.Random(5)
    announced: set[str] = set()
    for n in range(12):
        child = Child(address, "churn", f"w{n}", str(chance.choice((8, 20_000, 200_000))))
        child.expect("ready")
        child.tell()
        for _ in range(chance.randrange(1, 8)):
            announced.add(child.hear())
        # The moment of the kill is the random input of this test, not a wait for anything.
        time.sleep(chance.random() * 0.004)
        lines = child.end().split("\n")
        announced.update(lines[:-1])
        _check_churn(store, announced)
    assert len(announced) > 12


def test_readers_beside_a_writer_see_old_or_new(
    address: str, store: Store, children: list[Child]
) -> None:
    child = Child(address, "churn", "w", "100000")
    children.append(child)
    child.expect("ready")
    child.tell()
    child.hear()
    versions: list[str] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(versions) < 15:
        assert time.monotonic() < deadline
        found = store.read(f"{CHURN}/values/w")
        pulse = store.pulse(f"{CHURN}/beats/w")
        assert pulse is None or is_whole(pulse[0])
        if found is not None:
            assert is_whole(found.data)
            if not versions or versions[-1] != found.version:
                versions.append(found.version)
    assert versions == sorted(versions)


def test_stopped_writers_block_nobody(address: str, store: Store, children: list[Child]) -> None:
    chance = random.Random(9)
    for n in range(4):
        child = Child(address, "churn", f"w{n}", "20000")
        children.append(child)
        child.expect("ready")
        child.tell()
        child.hear()
        time.sleep(chance.random() * 0.004)  # the random moment of the stop
        child.signal(signal.SIGSTOP)
        child.until_stopped()
        assert store.create(f"{CHURN}/ours/{n}", b"x")
        found = store.read(f"{CHURN}/values/w{n}")
        assert store.swap(f"{CHURN}/values/w{n}", b"x" * 9, found.version if found else None)
        found = store.read(f"{CHURN}/values/w{n}")
        assert found is not None
        assert found.data == b"x" * 9
        store.put_blob(f"{CHURN}/ours-{n}", [b"x"])
        store.beat(f"{CHURN}/beats/w{n}", b"x")


def test_a_stopped_swapper_comes_back_too_late(
    address: str, store: Store, children: list[Child]
) -> None:
    key = "jobs/a-1/checkpoints/HEAD"
    version = store.swap(key, b"attempt 0", None)
    child = Child(address, "swap", key, "zombie")
    children.append(child)
    child.expect("ready")
    child.tell()
    child.expect("read")
    child.signal(signal.SIGSTOP)
    child.until_stopped()
    assert store.swap(key, b"attempt 1", version)
    child.signal(signal.SIGCONT)
    child.tell()
    child.expect("False")
    found = store.read(key)
    assert found is not None
    assert found.data == b"attempt 1"


def test_a_writer_stopped_inside_a_blob_blocks_nobody(
    address: str, store: Store, children: list[Child]
) -> None:
    child = Child(address, "blob", "jobs/a-1/shard", "slow")
    children.append(child)
    child.expect("ready")
    child.tell()
    child.expect("inside")
    child.signal(signal.SIGSTOP)
    child.until_stopped()
    assert store.get_blob("jobs/a-1/shard") is None
    assert store.put_blob("jobs/a-1/shard", [b"quick"]).bytes == 5
    child.signal(signal.SIGCONT)
    child.tell()
    child.expect("False")
    assert blob(store, "jobs/a-1/shard") == b"quick"
