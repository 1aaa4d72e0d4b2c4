"""Checkpoints that were damaged or tampered with between two attempts."""

from __future__ import annotations

import signal
from collections import Counter

from phalanx.names import Keys
from phalanx.state.read import read_world
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from tests.support.gang import Gang, kill
from tests.support.waiting import until


def frozen_after_two_commits(gang: Gang) -> str:
    """Both ranks stand still and what is whole is committed: HEAD's checkpoint, with a parent."""
    gang.start()
    gang.reach(12)
    for rank in (0, 1):
        kill(gang.rank_pid(rank), signal.SIGSTOP)
    until(lambda: gang.head().checkpoint == whole(gang)[-1] and len(whole(gang)) > 1)
    return gang.head().checkpoint


def whole(gang: Gang) -> list[str]:
    """Checkpoints that both ranks have written, oldest first."""
    parts = Counter(path.parts[-3] for path in gang.object("checkpoints").glob("*/parts/0*"))
    return sorted(name for name, count in parts.items() if count == 2)


def test_a_shard_with_flipped_bits_is_refused_and_the_parent_is_used(counting):
    gang = counting(steps=60, step_s=0.03)
    name = frozen_after_two_commits(gang)
    for shard in gang.object(f"checkpoints/{name}/shards").iterdir():
        data = bytearray(shard.read_bytes())
        data[-100] ^= 1
        shard.unlink()
        shard.write_bytes(data)
    kill(gang.rank_pid(1))
    ended_from_the_parent(gang, name, "")
    assert [cause[0] for cause in gang.causes()] == ["Killed", "CheckpointUnreadable"]
    said = gang.status()["history"][1]["first_cause"]
    assert name in said["message"]
    assert "its sha256 is not the one written" in said["message"]


def test_a_manifest_that_leaves_its_folder_is_refused_and_the_parent_is_used(counting):
    gang = counting(steps=60, step_s=0.03)
    name = frozen_after_two_commits(gang)
    manifest = gang.object(f"checkpoints/{name}/manifest")
    text = manifest.read_text()
    bent = text.replace("shards/00000-0.safetensors", "../../../../../../etc/passwd")
    assert bent != text
    manifest.unlink()
    manifest.write_text(bent)
    kill(gang.rank_pid(1))
    ended_from_the_parent(gang, name, "passwd")
    assert [cause[0] for cause in gang.causes()] == ["Killed"]
    agent_logs = [path.read_text() for path in gang.object("tasks").glob("*/agent.log")]
    assert any(f"{name} is passed over" in text and "passwd" in text for text in agent_logs)


def test_what_was_damaged_while_the_job_rested_is_told(counting):
    gang = counting(steps=5000, step_s=0.03)
    gang.start()
    gang.reach(12)
    gang.call("pause", gang.job)
    name = gang.head().checkpoint
    manifest = gang.object(f"checkpoints/{name}/manifest")
    text = manifest.read_text()
    manifest.unlink()
    manifest.write_text(text[: len(text) // 2])
    resumed = gang.run("resume", gang.job)
    assert resumed.returncode == 0
    assert f"checkpoint {name} (" in resumed.stderr
    assert f"goes on from {name}" not in resumed.stdout
    until(lambda: gang.status()["world_size"] and gang.status()["phase"] == "Running")
    (told,) = gang.status()["passed_over"]
    assert told["unreadable"][0]["checkpoint"] == name
    lost = int(name.split("-")[0]) - told["resumed_from_step"]
    assert told["steps_lost"] == lost > 0
    assert told["message"] in [item["says"] for item in gang.why()["evidence"]]
    assert told["message"] in gang.run("status", gang.job).stdout
    gang.call("stop", gang.job)
    gang.run("rm", gang.job)
    assert not gang.processes()


def ended_from_the_parent(gang: Gang, name: str, because: str) -> None:
    status = gang.wait()
    assert status["phase"] == "Succeeded", status
    store, keys = Store(FilesObjects.open(gang.root), "tests"), Keys(gang.job)
    world = read_world(store, keys, status["attempt"])
    assert 0 < world.checkpoint_step < int(name.split("-")[0])
    for rank in (0, 1):
        assert sorted(gang.losses(rank)) == list(range(60))
    listed = {one["name"]: one for one in gang.call("checkpoints", gang.job)["checkpoints"]}
    assert because in listed[name]["refused_because"]
    gang.assert_nothing_lives()
