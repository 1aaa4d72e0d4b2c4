"""`init_from` means one thing from the submit on, or no job exists."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from phalanx.app.jobs import load
from phalanx.app.origin import Asked, checkpoint_of, origin_of
from phalanx.app.root import open_root
from phalanx.app.submit import create, submit
from phalanx.checkpoint import beginning
from phalanx.checkpoint.commit import Committer, commit
from phalanx.errors import CheckpointUnreadable, InputError, SpecError
from phalanx.frozen import replace
from phalanx.names import Keys
from phalanx.plan.job import JobPlan
from phalanx.plan.lineage import Ancestor, Origin
from phalanx.spec.load import load as load_spec
from phalanx.state.codec import dumps
from phalanx.state.record import Record
from tests.support.saves import JOB, Saves

PLAN = JobPlan(name="new", command=("true",), total_steps=100)


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    """`job-1` with the committed steps 10, 20 and 30."""
    made = Saves(tmp_path)
    made.store.swap(made.keys.record, dumps(Record(JOB, replace(PLAN, name="job"), 1)), None)
    for step in (10, 20, 30):
        made.committed(step)
    return made


def resolved(
    saves: Saves, plan: JobPlan = PLAN, sets: tuple[str, ...] = (), **words: object
) -> Origin:
    """The origin as a job file says it, of which one field may be given by `sets`."""
    file = f"{saves.root}/../job.yaml"
    said = ", ".join(f"{name}: {value}" for name, value in words.items() if value is not None)
    text = f'kind: train\nname: new\ncommand: ["true"]\ninit_from: {{{said}}}\n'
    loaded = load_spec(text, file, sets)
    assert loaded.spec.init_from is not None
    return origin_of(open_root(saves.root), Asked(loaded.spec.init_from, file, loaded.wrong), plan)


@pytest.mark.parametrize(("step", "name"), [(None, "0000000030-0"), (20, "0000000020-0")])
def test_the_newest_or_a_step_by_its_exact_name(saves: Saves, step: int | None, name: str) -> None:
    origin = resolved(saves, job="job", step=step)
    assert (origin.job, origin.checkpoint, origin.take) == (JOB, name, "weights")
    assert origin.first_step == 0
    assert resolved(saves, job=JOB, step=step, take="all").first_step == origin.step


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"job": "jab"}, r"job\.yaml:4:18: there is no job jab .*did you mean job"),
        (
            {"job": "job", "step": 25},
            r"job\.yaml:4:29: job-1 has no checkpoint of step 25 \(it holds the steps 10, 20, 30",
        ),
        (
            {"weights": "nowhere"},
            r"job\.yaml:4:22: init_from.weights: there is nothing at .*/nowhere "
            r"\(a path is relative to the job file\)",
        ),
    ],
)
def test_what_is_not_there_is_told_with_its_place(saves: Saves, words: dict, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        resolved(saves, **words)
    assert re.search(says, refused.value.line()), refused.value.line()


@pytest.mark.parametrize(
    ("sets", "says"),
    [
        (["init_from.job=nope"], "--set init_from.job: there is no job nope under "),
        (["init_from.step=7"], "--set init_from.step: job-1 has no checkpoint of step 7 "),
        (["init_from={job: nope}"], "--set init_from: there is no job nope under "),
        (["init_from={weights: x}"], "--set init_from: there is nothing at "),
        (
            ["init_from.job=", "init_from.weights=x"],
            "--set init_from.weights: there is nothing at ",
        ),
        (["init_from.take=all"], "--set init_from.take: takes everything of step 30, and "),
        (["init_from.take=all", "total_steps=30"], "--set init_from.take: takes everything of "),
    ],
)
def test_a_value_of_the_command_line_is_told_with_its_option(
    saves: Saves, sets: list[str], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        resolved(saves, replace(PLAN, total_steps=30), tuple(sets), job="job")
    assert refused.value.line().startswith(says), refused.value.line()
    assert refused.value.exit_code == 2


def test_the_option_is_told_also_where_the_file_asks_for_the_rest(saves: Saves) -> None:
    short = replace(PLAN, total_steps=30)
    with pytest.raises(InputError, match=r"--set total_steps: init_from takes everything of step"):
        resolved(saves, short, ("total_steps=30",), job="job", take="all")
    with pytest.raises(SpecError, match="there is no job nope"):
        resolved(saves, short, ("total_steps=30",), job="nope", take="all")


def safe(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.safetensors", b"", "is not a whole SafeTensors file: 0 bytes are too few"),
        ("a.safetensors", b"PK", "is not a whole SafeTensors file"),
        ("a.safetensors", b"not safetensors at all", "is not a whole SafeTensors file"),
        ("a.safetensors", safe(b"[]"), "is not a whole SafeTensors file"),
        (
            "a.safetensors",
            safe(b'{"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}') + b"\0" * 8,
            "is not a whole SafeTensors file: 8 bytes of data where the header tells of 16",
        ),
        ("a.pt", b"", "is neither SafeTensors nor a file of torch.save"),
        ("a.pt", b"weights", "is neither SafeTensors nor a file of torch.save"),
        ("a.pt", b"PK\x03\x04" + b"\0" * 99, "is not a whole file of torch.save"),
        ("a.bin", b"text", "is neither SafeTensors nor a file of torch.save"),
    ],
)
def test_weights_that_are_none_are_told_with_the_place_of_the_field(
    saves: Saves, name: str, data: bytes, says: str
) -> None:
    folder = Path(saves.root).parent / "w"
    folder.mkdir()
    (folder / name).write_bytes(data)
    for path in (f"w/{name}", "w"):
        with pytest.raises(SpecError) as refused:
            resolved(saves, weights=path)
        line = refused.value.line().partition("job.yaml:")[2]
        assert line.startswith(f"4:22: init_from.weights: {folder}/{name} {says}")
        assert line.endswith("(fetch it again, or name another file)")
        assert refused.value.exit_code == 2


def test_an_end_that_is_reached_already_is_refused(saves: Saves) -> None:
    short = replace(PLAN, total_steps=30)
    with pytest.raises(SpecError, match="no step would be left") as refused:
        resolved(saves, short, job="job", take="all")
    assert (refused.value.row, refused.value.column) == (4, 29)
    assert resolved(saves, short, job="job").step == 30


def test_damage_is_found_before_the_job_exists(saves: Saves) -> None:
    shard = saves.path("0000000030-0", "shards/00000-0.safetensors")
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.unlink()
    shard.write_bytes(data)
    with pytest.raises(SpecError, match="0000000030-0 of job-1 is damaged") as refused:
        resolved(saves, job="job")
    assert refused.value.line().partition("job.yaml:")[2].startswith("4:18: init_from: ")


def test_a_state_that_differs_between_ranks_needs_as_many_of_them(saves: Saves) -> None:
    for rank in range(2):
        saves.write(40, 0, rank, 2)
    saves.commit("0000000040-0", 0, 2)
    with pytest.raises(SpecError, match="'rank' differs between the 2 ranks") as refused:
        resolved(saves, job="job", take="all")
    assert (refused.value.row, refused.value.column) == (4, 29)
    assert resolved(saves, replace(PLAN, nodes=2), job="job", take="all").step == 40
    assert resolved(saves, job="job").step == 40


def test_a_job_without_a_commit_is_no_beginning(saves: Saves) -> None:
    record = Record("empty-1", replace(PLAN, name="empty"), 1)
    saves.store.swap(Keys("empty-1").record, dumps(record), None)
    with pytest.raises(InputError, match="empty-1 has committed nothing"):
        checkpoint_of(load(open_root(saves.root), "empty-1"), None)


def test_the_chain_goes_on_over_several_jobs(saves: Saves) -> None:
    root = open_root(saves.root)
    first = resolved(saves, job="job", step=10)
    job = create(root, replace(PLAN, init_from=first))
    theirs = Saves(Path(saves.root).parent)
    theirs.keys = Keys(job)
    theirs.seal(0)
    name = theirs.write(5, 0)
    commit(theirs.store, theirs.keys, Committer(0, 1, init_from=first), name)
    second = resolved(saves, job="new")
    assert second.job == job
    assert second.before == (Ancestor(JOB, "0000000010-0", "", first.digest),)


def test_the_new_job_holds_its_beginning_and_a_number_of_its_own(saves: Saves) -> None:
    root, origin = open_root(saves.root), resolved(saves, job="job", step=20)
    plan = replace(PLAN, init_from=origin)
    # Somebody has claimed the first number, and a plain job the second one.
    beginning.claim(saves.store, Keys("new-1"), origin)
    assert create(root, PLAN) == "new-2"
    assert create(root, plan) == "new-3"
    assert load(root, "new-3").record.plan.init_from == origin
    assert beginning.read_origin(saves.store, Keys("new-3")) == origin
    assert beginning.read_origin(saves.store, Keys("new-2")) is None


def test_no_job_is_left_when_the_checkpoint_goes_meanwhile(saves: Saves) -> None:
    root, origin = open_root(saves.root), resolved(saves, job="job", step=20)
    saves.store.delete(saves.keys.checkpoint("0000000020-0"))
    with pytest.raises(CheckpointUnreadable, match="pruned or replaced meanwhile"):
        create(root, replace(PLAN, init_from=origin))
    assert beginning.read_origin(saves.store, Keys("new-1")) is None
    with pytest.raises(InputError, match="there is no job"):
        load(root, "new-1")


def test_weights_beside_the_job_file_are_measured_at_the_submit(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "train.py").write_text("")
    head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    data = len(head).to_bytes(8, "little") + head + b"\0\0\0\0"
    (folder / "tiny.safetensors").write_bytes(data)
    text = "kind: train\nname: new\ncommand: [python, train.py]\n"
    text += "init_from: {weights: tiny.safetensors}\n"
    (folder / "job.yaml").write_text(text)
    done = submit(
        str(folder / "job.yaml"), root=str(tmp_path / "root"), ensure=lambda root, job: None
    )
    origin = load(done.root, done.job).record.plan.init_from
    assert origin is not None
    assert origin.weights == os.fspath(folder / "tiny.safetensors")
    assert [(file.name, file.bytes) for file in origin.files] == [("tiny.safetensors", len(data))]
    assert origin.digest
