from __future__ import annotations

import json

import pytest

from phalanx.checkpoint.manifest import Manifest, Part, ShardFile
from phalanx.names import Keys, checkpoint_name
from phalanx.state.codec import dumps
from phalanx.state.gang import Head
from tests.support.made_root import MadeRoot, ended_job, record

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


@pytest.mark.parametrize("verb", ["restore", "prune"])
def test_verbs_of_a_later_release_say_what_there_is(phalanx, made, verb):
    answer = phalanx("checkpoints", verb, "gpt-1")
    assert answer.code == 2
    assert "this release has `checkpoints list` and `verify` only" in answer.err
