from __future__ import annotations

import json

import pytest

from phalanx.checkpoint.find import names
from phalanx.checkpoint.manifest import Manifest, Part, ShardFile
from phalanx.names import Keys, checkpoint_name
from phalanx.plan.lineage import Origin
from phalanx.state.codec import dumps
from phalanx.state.gang import Head
from phalanx.words import Phase
from tests.support.made_root import MadeRoot, ended_job, plan, record
from tests.support.saves import Saves

NAME = checkpoint_name(40, 0)


def save(made: MadeRoot, job: str = "gpt-1", name: str = NAME) -> None:
    """A committed checkpoint of one rank whose shard holds an empty state."""
    keys = Keys(job)
    head = json.dumps({"__metadata__": {"phalanx": "1", "tree": json.dumps({})}}).encode()
    head += b" " * (-len(head) % 8)
    data = len(head).to_bytes(8, "little") + head
    written = made.store.put_blob(keys.shard(name, 0), [data])
    file = ShardFile("shards/00000-0.safetensors", written.bytes, written.sha256)
    part = Part(0, name, 0, 40, 1, (file,))
    manifest = Manifest(name, 40, 0, 1, (part,), bytes=written.bytes)
    made.store.create(keys.manifest(name), dumps(manifest))
    made.store.swap(keys.head, dumps(Head(0, name)), None)


@pytest.mark.parametrize("words", [["gpt-1"], ["list", "gpt-1"], ["gpt"]])
def test_list_names_every_checkpoint_and_where_a_restart_would_begin(phalanx, made, words):
    made.drive("gpt-1")
    made.put(record())
    save(made)
    made.store.create(Keys("gpt-1").part(checkpoint_name(80, 1), 0), b"{}")
    view = json.loads(phalanx("checkpoints", *words, "--json").out)
    assert view["schema"] == "phalanx.checkpoints/1"
    assert view["resume_from"] == NAME
    unfinished, whole = view["checkpoints"]
    assert (whole["name"], whole["step"], whole["committed"]) == (NAME, 40, True)
    assert whole["refused_because"] is None
    assert unfinished["committed"] is False
    assert "no manifest" in unfinished["refused_because"]
    text = phalanx("checkpoints", *words).out
    assert f"{NAME}" in text
    assert "committed, resume from here" in text


def test_a_job_without_checkpoints(phalanx, made):
    made.drive("gpt-1")
    made.put(record())
    assert phalanx("checkpoints", "gpt-1").out == "no checkpoints yet\n"
    view = json.loads(phalanx("checkpoints", "gpt-1", "--json").out)
    assert (view["resume_from"], view["checkpoints"]) == (None, [])


def test_verify_reads_every_byte(phalanx, made):
    made.put(record())
    save(made)
    folder = made.path / Keys("gpt-1").checkpoint(NAME)
    shard = folder / "shards/00000-0.safetensors"
    data = shard.read_bytes()
    shard.chmod(0o600)
    shard.write_bytes(data[:-1] + b"!")
    answer = phalanx("checkpoints", "verify", str(folder), "--json")
    view = json.loads(answer.out)
    assert answer.code == 1
    assert view["schema"] == "phalanx.verify/1"
    assert view["verified"] is False
    assert "sha256" in view["checkpoints"][0]["problems"][0]
    assert "sha256" in phalanx("checkpoints", "verify", str(made.path)).out


@pytest.mark.parametrize(
    ("path", "says"), [("nowhere", "no such folder"), ("s3://b/p", "folders only")]
)
def test_verify_of_what_is_not_there(phalanx, made, path, says):
    answer = phalanx("checkpoints", "verify", path)
    assert answer.code == 2
    assert says in answer.err
    assert answer.err.count("\n") == 1


def test_verify_of_a_root_without_a_checkpoint(phalanx, made):
    made.put(record())
    answer = phalanx("checkpoints", "verify", str(made.path))
    assert answer.code == 0
    assert answer.out == "no checkpoint is committed there yet\n"


def test_a_checkpoint_whose_manifest_is_gone_still_has_a_status(phalanx, made):
    ended_job(made)
    made.store.delete(Keys("gpt-1").manifest(checkpoint_name(200, 1)))
    view = json.loads(phalanx("status", "gpt-1", "--json").out)
    assert view["checkpoint"] == {"step": 200, "attempt": 1, "committed_at": None}


def test_a_job_says_what_it_began_from(phalanx, made):
    made.drive("gpt-1")
    origin = Origin(job="base-2", checkpoint=NAME, step=40, digest="d")
    made.put(record(plan=plan(init_from=origin)))
    save(made)
    view = json.loads(phalanx("checkpoints", "gpt-1", "--json").out)
    assert view["init_from"]["job"] == "base-2"
    said = "the weights of step 40 of base-2"
    assert f"the job began from {said}" in phalanx("checkpoints", "gpt-1").out
    assert json.loads(phalanx("status", "gpt-1", "--json").out)["init_from"]["step"] == 40
    assert f"began from  {said}" in phalanx("status", "gpt-1").out


def saved_steps(made, *steps):
    """An ended job with committed steps of real files, `job-1`."""
    saves = Saves(made.path.parent)
    made.put(record("job-1", phase=Phase.SUCCEEDED, attempt=0))
    for step in steps:
        saves.committed(step)
    return saves


def test_restore_writes_plain_files_outside_the_root(phalanx, made, tmp_path):
    saved_steps(made, 10, 20)
    to = tmp_path / "out"
    view = json.loads(phalanx("checkpoints", "restore", "job", "--to", str(to), "--json").out)
    assert (view["schema"], view["step"], view["to"]) == ("phalanx.restore/1", 20, str(to))
    assert view["files"] == ["phalanx.json"]
    about = json.loads((to / "phalanx.json").read_text())
    assert about["values"]["step"] == {"file": None, "value": 20}
    named = ("--checkpoint", checkpoint_name(10, 0), "--to", str(tmp_path / "named"))
    assert "step 10 of job-1 is in" in phalanx("checkpoints", "restore", "job-1", *named).out
    for words, says in (
        (("--to", str(to)), "not empty"),
        (("--to", str(made.path / "x")), "inside the root"),
        (("--to", str(tmp_path / "y"), "--step", "30"), "has no checkpoint of step 30"),
        (("--to", str(tmp_path / "y"), "--checkpoint", NAME), f"has no checkpoint {NAME}"),
        (("--to", str(tmp_path / "y"), "--step", "1", "--checkpoint", NAME), "exclude each other"),
    ):
        answer = phalanx("checkpoints", "restore", "job-1", *words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert says in answer.err


def test_restore_to_a_place_that_cannot_be_written(phalanx, made, tmp_path):
    saved_steps(made, 10)
    (tmp_path / "file").touch()
    for to, says in (
        (tmp_path / "file" / "x", f"{tmp_path}/file is no folder (name another place)"),
        ("/proc/x/y", "No such file or directory (name another place)"),
    ):
        for form in ("safetensors", "torch"):
            words = ("checkpoints", "restore", "job-1", "--to", str(to), "--format", form)
            answer = phalanx(*words)
            assert (answer.code, answer.out) == (4, "")
            assert answer.err == f"phalanx: {to} cannot be written: {says}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "root"]


def test_prune_says_what_goes_and_what_stays(phalanx, made):
    saves = saved_steps(made, 10, 20, 30, 40)
    words = ("checkpoints", "prune", "job-1", "--keep", "2")
    assert phalanx(*words, "--dry-run").out.splitlines()[-1] == "2 stay"
    assert "would go" in phalanx(*words, "--dry-run").out
    view = json.loads(phalanx(*words, "--json").out)
    assert view["schema"] == "phalanx.prune/1"
    assert [item["step"] for item in view["pruned"]] == [10, 20]
    assert names(saves.store, saves.keys) == tuple(view["kept"])
    assert phalanx(*words).out == "nothing to prune; 2 stay\n"
    refused = phalanx("checkpoints", "prune", "job-1", "--keep", "1", "--step", "30")
    assert (refused.code, "exclude each other" in refused.err) == (2, True)


@pytest.mark.parametrize("words", [["--root", "R", "verify", "R"], ["--json", "--root=R", "job"]])
def test_options_may_stand_before_the_word(phalanx, made, words):
    saved_steps(made, 10)
    answer = phalanx("checkpoints", *(word.replace("R", str(made.path)) for word in words))
    assert answer.code == 0
    assert checkpoint_name(10, 0) in answer.out


def test_without_a_word_it_says_what_there_is(phalanx):
    answer = phalanx("checkpoints")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "takes a JOB, or list, verify, prune, restore" in answer.err
