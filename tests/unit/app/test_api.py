"""The SDK: the same objects as the verbs print, and errors of the tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import phalanx
from phalanx.app import api
from phalanx.app.jobs import load
from phalanx.app.root import open_root
from phalanx.errors import InputError, PlanError, SpecError
from phalanx.words import Phase
from tests.support.made_root import MadeRoot, ended_job, record, running_job


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


@pytest.mark.parametrize("verb", ["status", "why", "ledger", "metrics", "checkpoints"])
def test_reading_functions_return_the_object_of_the_verb(made: MadeRoot, verb: str) -> None:
    ended_job(made)
    view = getattr(phalanx, verb)("gpt", root=str(made.path))
    assert view["schema"] == f"phalanx.{verb}/1"


def test_ps_wait_and_stop(made: MadeRoot) -> None:
    ended_job(made)
    root = str(made.path)
    assert [job["job"] for job in phalanx.ps(root=root)["jobs"]] == ["gpt-1"]
    assert phalanx.wait("gpt-1", root=root)["phase"] == "Succeeded"
    assert phalanx.stop("gpt-1", root=root)["phase"] == "Succeeded"


def test_stop_asks_and_gives_up_after_its_timeout(made: MadeRoot) -> None:
    running_job(made)
    started: list[str] = []
    view = api.stop(
        "gpt-1", root=str(made.path), timeout_s=0, ensure=lambda _, job: started.append(job)
    )
    assert view["phase"] == "Running"
    assert load(made.root, "gpt-1").record.stop is not None


def test_logs_are_objects(made: MadeRoot) -> None:
    ended_job(made)
    made.log("gpt-1", "0.0-0/0.out.0", b"hello\n", (0, 10**9))
    assert list(phalanx.logs("gpt", root=str(made.path))) == [
        {"at": "1970-01-01T00:00:01.000Z", "slot": 0, "rank": 0, "stream": "out", "text": "hello"}
    ]


def test_run_raises_what_the_file_has_wrong(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("kind: train\nname: x\ncommand: [python]\nnode: 2\n")
    with pytest.raises(SpecError, match="no field 'node'"):
        phalanx.run(str(file), root=str(tmp_path / "root"))
    file.write_text("kind: train\nname: x\ncommand: [python]\nresources: {accelerator: 'H100:8'}\n")
    with pytest.raises(PlanError):
        api.run(str(file), root=str(tmp_path / "root"), target="ecs")
    assert not (tmp_path / "root").exists()


def test_run_ships_the_source_beside_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text("print('hello')\n")
    (folder / "job.yaml").write_text("kind: train\nname: x\ncommand: [python, train.py]\n")
    root = tmp_path / "root"
    view = api.run(str(folder / "job.yaml"), root=str(root), ensure=lambda _, job: None)
    plan = load(open_root(str(root)), view["job"]).record.plan
    assert plan.source == str(folder)
    assert plan.source_digest
    (folder / "train.py").write_text("print('edited')\n")
    again = api.run(str(folder / "job.yaml"), root=str(root), ensure=lambda _, job: None)
    edited = load(open_root(str(root)), again["job"]).record.plan
    assert edited.source_digest != plan.source_digest


def test_a_root_inside_the_source_is_not_shipped(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("kind: train\nname: x\ncommand: [python, train.py]\n")
    (tmp_path / "train.py").write_text("")
    digests = set()
    for _ in range(2):
        view = api.run(
            str(tmp_path / "job.yaml"), root=str(tmp_path / "root"), ensure=lambda _, job: None
        )
        opened = open_root(str(tmp_path / "root"))
        digests.add(load(opened, view["job"]).record.plan.source_digest)
    assert len(digests) == 1


def test_an_unknown_job_and_a_root_that_is_none(made: MadeRoot, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no job nothing"):
        phalanx.status("nothing", root=str(made.path))
    with pytest.raises(InputError, match="no root at"):
        phalanx.status("nothing", root=str(tmp_path / "other"))


def test_a_controller_that_cannot_start_does_not_stop_reading(made: MadeRoot) -> None:
    made.put(record(phase=Phase.RUNNING))

    def refuse(root: object, job: str) -> None:
        raise OSError("no more processes")

    assert api.status("gpt-1", root=str(made.path), ensure=refuse)["phase"] == "Running"


def test_importing_phalanx_imports_nothing_else() -> None:
    code = (
        "import sys, phalanx\n"
        "print(sorted(m for m in sys.modules if m.startswith('phalanx.')))\n"
        "print(phalanx.status.__name__, 'status' in dir(phalanx))\n"
        "try:\n    phalanx.nothing\nexcept AttributeError as e:\n    print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.splitlines() == [
        "[]",
        "status True",
        "module 'phalanx' has no attribute 'nothing'",
    ]
