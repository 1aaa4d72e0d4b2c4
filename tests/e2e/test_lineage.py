"""A job begins from another one's step, and then stands by itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from tests.support.gang import Gang, kill

READ = """
import json, sys
import torch
from safetensors.torch import load_file

folder = sys.argv[1]
safe = load_file(f"{folder}/model.safetensors")
whole = torch.load(f"{folder}/checkpoint.pt", weights_only=True)
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
model.load_state_dict(safe)
optimizer = torch.optim.AdamW(model.parameters())
optimizer.load_state_dict(whole["state"]["optimizer"])
equal = all(torch.equal(safe[name], tensor) for name, tensor in whole["state"]["model"].items())
told = json.load(open(f"{folder}/phalanx.json"))
print(json.dumps([equal, whole["step"], told["step"], "phalanx" in sys.modules]))
"""


def test_a_job_that_began_from_another_needs_it_no_more(new_gang, tmp_path):
    first: Gang = new_gang(nodes=1, steps=20, step_s=0.0).start()
    assert first.wait()["phase"] == "Succeeded"
    root = first.root

    # Everything of a step: the same losses as the first job had, and nothing before them.
    words = f"init_from: {{job: {first.job}, step: 15, take: all}}\n"
    goes_on: Gang = new_gang(nodes=1, steps=20, step_s=0.0, root=root, extra=words).start()
    restored = tmp_path / "plain"
    formats = ("--format", "torch", "--format", "safetensors")
    first.call("checkpoints", "restore", first.job, "--step", "15", "--to", str(restored), *formats)
    assert goes_on.wait()["phase"] == "Succeeded"

    # The weights of a step: a training of its own, from step 0. It commits nothing before its end.
    words = f"init_from: {{job: {first.job}, step: 15}}\n"
    tuned: Gang = new_gang(
        nodes=1, steps=30, step_s=0.1, every=1000, root=root, extra=words
    ).start()
    pruned = first.call("checkpoints", "prune", first.job, "--step", "15")
    assert [item["step"] for item in pruned["pruned"]] == [15]
    losses = first.losses(0)
    shutil.rmtree(root / "jobs" / first.job)
    tuned.reach(5)
    kill(tuned.rank_pid(0))

    status = tuned.wait()
    assert (status["phase"], status["attempt"]) == ("Succeeded", 1)
    assert status["init_from"]["job"] == first.job
    again = tuned.losses(0)  # a step that was done twice had the same loss both times
    assert sorted(again) == list(range(30))
    assert {line.resumed for line in tuned.lines(0)} == {0}
    assert again[0] != losses[0]
    manifest = tuned.object("checkpoints/0000000030-1/manifest").read_text().splitlines()[-1]
    origin = json.loads(manifest)["init_from"]
    assert (origin["job"], origin["step"], origin["take"]) == (first.job, 15, "weights")
    assert tuned.call("checkpoints", "verify", str(tuned.object("")))["verified"] is True

    assert goes_on.losses(0) == {step: losses[step] for step in range(15, 20)}
    assert goes_on.status()["checkpoint"]["step"] == 20
    done = subprocess.run(
        [sys.executable, "-c", READ, str(restored)], capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout or "[]") == [True, 15, 15, False], done.stderr


def test_a_beginning_that_is_not_there_is_refused_before_any_job(new_gang):
    gang: Gang = new_gang(nodes=1, extra="init_from: {job: nobody}\n")
    said = gang.refused(2, "run", str(gang.file))
    assert "job.yaml:8:18: there is no job nobody" in said
    assert gang.call("ps")["jobs"] == []
