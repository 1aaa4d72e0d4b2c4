"""Checkpoints that were damaged or tampered with between two attempts."""

from __future__ import annotations

import json
import signal

from tests.support.gang import Gang, kill
from tests.support.waiting import until


def frozen_after_two_commits(gang: Gang) -> str:
    """Both ranks stand still, so that HEAD stays; its checkpoint, which has a parent."""
    gang.start()
    gang.reach(11)
    for rank in (0, 1):
        kill(gang.rank_pid(rank), signal.SIGSTOP)
    head, settled = gang.head(), 0
    while settled < 3:  # a beat of the agents may still commit what was whole
        until(lambda: gang.controller_pid())
        newest = gang.head()
        settled = settled + 1 if newest == head else 0
        head = newest
    return head.checkpoint


def resumed_from(gang: Gang) -> list[int]:
    return [past["resumed_from_step"] for past in gang.status()["history"]]


def test_a_shard_with_flipped_bits_is_refused_and_the_parent_is_used(counting):
    gang = counting(steps=60, step_s=0.03)
    name = frozen_after_two_commits(gang)
    for shard in gang.object(f"checkpoints/{name}/shards").iterdir():
        data = bytearray(shard.read_bytes())
        data[-100] ^= 1
        shard.unlink()
        shard.write_bytes(data)
    kill(gang.rank_pid(1))
    ended_from_the_parent(gang, name, "sha256")


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


def ended_from_the_parent(gang: Gang, name: str, because: str) -> None:
    status = gang.wait()
    assert status["phase"] == "Succeeded", status
    assert [cause[0] for cause in gang.causes()] == ["Killed", "CheckpointUnreadable"]
    said = status["history"][1]["first_cause"]
    assert name in said["message"] + said["evidence"]
    assert because in said["message"] + said["evidence"], said
    world = json.loads(gang.object("attempts/2/world").read_text().splitlines()[0])
    assert 0 < world["checkpoint_step"] < int(name.split("-")[0])
    for rank in (0, 1):
        assert sorted(gang.losses(rank)) == list(range(60))
    listed = {one["name"]: one for one in gang.call("checkpoints", gang.job)["checkpoints"]}
    assert listed[name]["refused_because"]
    gang.assert_nothing_lives()
