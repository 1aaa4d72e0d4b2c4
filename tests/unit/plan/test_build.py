from __future__ import annotations

import pytest

from phalanx.errors import PlanError
from phalanx.plan.build import build_plan, exclude_of, source_of
from phalanx.plan.job import JobPlan, RestartRule
from phalanx.plan.restarts import restart_rules
from phalanx.spec.job import JobSpec
from phalanx.spec.load import load
from phalanx.words import FailureClass

JOB = "kind: train\nname: a\ncommand: [python, t.py]\n"


def spec(more: str = "") -> JobSpec:
    return load(JOB + more).spec


def plan(more: str = "", gpus_here: int = 0) -> JobPlan:
    return build_plan(spec(more), gpus_here=gpus_here)


def test_every_default() -> None:
    expected = JobPlan(name="a", command=("python", "t.py"), source=".", restart=restart_rules(()))
    assert plan() == expected


def test_the_defaults_that_the_fields_describe_are_the_ones_of_the_plan() -> None:
    said = plan(
        "launcher: ranks\nnodes: 1\nranks_per_node: auto\n"
        "resources: {cpus: 1, memory: 2GiB, accelerator: cpu, efa: false}\n"
        "working_directory: .\nsource: .\ncheckpoint: {mode: api, every: auto, keep: 3}\n"
        "hang: {after: auto}\nstop: {grace: 90s}\nrestart: []\nrestart_scope: slot\nwarm: []\n"
        "limits: {max_runtime: 30d, max_waiting: 24h, no_progress: 5}\nnotify: []\n"
        "target: {kind: local}\n"
    )
    assert said == plan()


@pytest.mark.parametrize(
    ("more", "gpus_here", "ranks", "gpus", "kind"),
    [
        ("", 8, 1, 0, ""),
        ("resources: {accelerator: 'gpu:2'}", 2, 2, 2, "gpu"),
        ("resources: {accelerator: H100}", 1, 1, 1, "H100"),
        ("resources: {accelerator: 'H100:4'}\nnodes: 2", 8, 4, 4, "H100"),
        ("resources: {accelerator: 'gpu:2'}\nranks_per_node: 1", 2, 1, 2, "gpu"),
        ("resources: {accelerator: 'gpu:2'}\nlauncher: none", 2, 1, 2, "gpu"),
        ("ranks_per_node: 3", 0, 3, 0, ""),
    ],
)
def test_ranks_and_gpus(more: str, gpus_here: int, ranks: int, gpus: int, kind: str) -> None:
    made = plan(more, gpus_here)
    assert (made.ranks_per_node, made.gpus_per_node, made.accelerator) == (ranks, gpus, kind)


@pytest.mark.parametrize(
    ("more", "steps", "seconds"),
    [
        ("auto", None, None),
        ("100 steps", 100, None),
        ("1 step", 1, None),
        ("250", 250, None),
        ("10m", None, 600.0),
    ],
)
def test_checkpoint_every(more: str, steps: int | None, seconds: float | None) -> None:
    made = plan(f"checkpoint: {{every: {more}}}\n").checkpoint
    assert (made.every_steps, made.every_s) == (steps, seconds)


def test_source_and_exclude() -> None:
    assert source_of(spec()) == "."
    assert source_of(spec("source: src\n")) == "src"
    assert source_of(spec("source: null\n")) is None
    assert source_of(spec("image: x\n")) is None
    assert source_of(spec("image: x\nsource: .\n")) == "."
    assert exclude_of(spec()) == (".git", "*.pt")
    assert exclude_of(spec("exclude: []\n")) == ()


def first(rules: tuple[RestartRule, ...], failure: FailureClass) -> RestartRule:
    return next(rule for rule in rules if failure in rule.on)


@pytest.mark.parametrize("failure", FailureClass)
def test_every_class_is_decided_exactly_once(failure: FailureClass) -> None:
    for rules in (plan().restart, plan("restart: [{on: [Hang, OutOfMemory], do: fail}]\n").restart):
        assert sum(failure in rule.on for rule in rules) == 1


@pytest.mark.parametrize(
    ("failure", "do", "limit", "counted"),
    [
        ("SpotInterruption", "restart", None, False),
        ("HostLost", "restart", None, False),
        ("CapacityUnavailable", "restart", None, False),
        ("StoreUnreachable", "restart", None, False),
        ("Superseded", "restart", None, False),
        ("Killed", "restart", 10, True),
        ("NonZeroExit", "restart", 3, True),
        ("Hang", "restart", 3, True),
        ("GpuFault", "restart", 3, True),
        ("Unknown", "restart", 3, True),
        ("OutOfMemory", "fail", None, True),
        ("ImagePull", "fail", None, True),
        ("DriverMismatch", "fail", None, True),
        ("DiskFull", "fail", None, True),
        ("NoProgress", "fail", None, True),
        ("StoppedByUser", "fail", None, True),
    ],
)
def test_built_in_rules(failure: str, do: str, limit: int | None, counted: bool) -> None:
    rule = first(plan().restart, FailureClass(failure))
    assert (rule.do, rule.limit, rule.counted) == (do, limit, counted)


def test_own_rules_come_first_in_their_order() -> None:
    rules = plan("restart:\n  - {on: [Killed], limit: 1}\n  - {on: [Hang, DiskFull], do: fail}\n")
    assert rules.restart[:2] == (
        RestartRule((FailureClass.KILLED,), limit=1),
        RestartRule((FailureClass.HANG, FailureClass.DISK_FULL), do="fail"),
    )


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            "target: {kind: ecs}",
            "this release runs target local; ecs comes with a later one (set target.kind=local)",
        ),
        (
            "nodes: {min: 2, max: 4}",
            "nodes 2 to 4: this release keeps the number of nodes fixed"
            " (write nodes: 2 or nodes: 4)",
        ),
        (
            "checkpoint: {mode: watch, dir: out}",
            "checkpoint.mode watch: this release does not commit what a framework writes"
            " (use phalanx.train in the script and mode: api)",
        ),
        (
            "notify: [{webhook: 'https://x.test'}]",
            "notify: this release sends no messages (remove it, and use phalanx wait in a script)",
        ),
        (
            "init_from: {job: b}",
            "init_from: this release begins every job from nothing"
            " (remove it, and load the weights in the script)",
        ),
        (
            "limits: {max_instance_hours: 5}",
            "limits.max_instance_hours: this release does not count them"
            " (remove it, and set limits.max_runtime)",
        ),
        (
            "secrets: {A: {env: A}, T: {ssm: x}}",
            "secrets.T: target local cannot read ssm"
            " (write {env: T} and set T where the job is started)",
        ),
        (
            "resources: {efa: true}",
            "resources.efa: target local has no Elastic Fabric Adapter (set resources.efa=false)",
        ),
        (
            "resources: {accelerator: 'trn2:16'}",
            "resources.accelerator trn2: target local runs CPUs and NVIDIA GPUs only"
            " (set resources.accelerator=cpu)",
        ),
        (
            "resources: {accelerator: 'gpu:2'}",
            "resources.accelerator: the job needs 2 GPUs, this machine has 1 GPU"
            " (set resources.accelerator=cpu, or ask for fewer)",
        ),
        (
            "resources: {accelerator: gpu}\nnodes: 2",
            "resources.accelerator: the job needs 2 GPUs (2 nodes of 1), this machine has 1 GPU"
            " (set resources.accelerator=cpu, or ask for fewer)",
        ),
    ],
)
def test_promises_that_cannot_be_kept(more: str, line: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan(more + "\n", gpus_here=1)
    assert caught.value.line() == line
    assert caught.value.exit_code == 3


def test_equal_ends_of_a_range_are_a_fixed_number() -> None:
    assert plan("nodes: {min: 3, max: 3}\n").nodes == 3
