from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from phalanx.backends.local.devices import (
    Machine,
    gpus_here,
    machine_here,
    preflight,
    promises,
)
from phalanx.plan.job import JobPlan, Secret

PLAN = JobPlan(name="demo", command=("python",), nodes=2)
MACHINE = Machine(gpus=("0", "1"), cpus=4, memory_mib=8192, shared_memory_mib=1024)


@pytest.mark.parametrize(
    ("environ", "ids"),
    [
        ({}, ("0", "1", "2")),
        ({"CUDA_VISIBLE_DEVICES": "2, GPU-8a1b"}, ("2", "GPU-8a1b")),
        ({"CUDA_VISIBLE_DEVICES": ""}, ()),
        ({"CUDA_VISIBLE_DEVICES": "1", "PHALANX_DEVICES": "0,1"}, ("0", "1")),
    ],
    ids=["device nodes", "restricted", "none", "inside a task"],
)
def test_gpus(tmp_path: Path, environ: dict[str, str], ids: tuple[str, ...]) -> None:
    for name in ("nvidia0", "nvidia1", "nvidia3", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert gpus_here(environ, str(tmp_path)) == ids


def test_this_machine_has_something() -> None:
    here = machine_here({"CUDA_VISIBLE_DEVICES": ""})
    assert 0 < here.cpus <= (os.cpu_count() or 1)
    assert here.memory_mib > 100


@pytest.mark.parametrize(
    ("plan", "words", "is_fatal"),
    [
        (replace(PLAN, gpus_per_node=2), "needs 4 GPUs (2 tasks x 2), there are 2", True),
        (replace(PLAN, secrets=(Secret("A", "ssm", "b"),)), "comes from ssm", True),
        (replace(PLAN, secrets=(Secret("A", "env", "B"),)), "variable B is not set", True),
        (replace(PLAN, cpus=4.0), "ask for 8 CPUs, this machine has 4", False),
        (replace(PLAN, memory_mib=5000), "ask for 10000 MiB of memory", False),
        (replace(PLAN, shared_memory_mib=2048), "2048 MiB of shared memory", False),
        (replace(PLAN, image="x"), "image is not used", False),
        (replace(PLAN, efa=True), "no EFA", False),
    ],
)
def test_each_unmet_wish_is_said(plan: JobPlan, words: str, is_fatal: bool) -> None:
    (doubt,) = preflight(plan, MACHINE, {})
    assert words in doubt.text
    assert doubt.is_fatal is is_fatal


def test_a_plan_that_fits_raises_no_doubt() -> None:
    plan = replace(PLAN, gpus_per_node=1, secrets=(Secret("A", "env", "B"),))
    assert preflight(plan, MACHINE, {"B": "x"}) == ()


def test_what_is_not_promised_is_said() -> None:
    assert any("not limited" in text for text in promises())


def test_more_processes_than_the_machine_could_hold_are_refused():
    machine = Machine(gpus=(), cpus=2, memory_mib=24_000, shared_memory_mib=12_000)
    few = JobPlan(name="a", command=("true",), nodes=8, ranks_per_node=4, memory_mib=1)
    many = JobPlan(name="a", command=("true",), nodes=4096, ranks_per_node=4096, memory_mib=1)
    assert not [doubt for doubt in preflight(few, machine) if doubt.is_fatal]
    fatal = [doubt.text for doubt in preflight(many, machine) if doubt.is_fatal]
    assert fatal == [
        "4096 tasks with 16777216 ranks need at least 1,678,950,400 MiB of memory, "
        "this machine has 24,000"
    ]
