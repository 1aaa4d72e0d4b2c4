from __future__ import annotations

import pytest

from phalanx.errors import PlanError
from phalanx.frozen import replace
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
    # A limit of memory holds only where somebody wrote one.
    assert said == replace(plan(), memory_limit_mib=2048)


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
    watched = "checkpoint: {mode: watch, dir: ./out/run}\n"
    assert exclude_of(spec(watched)) == (".git", "*.pt", "/out/run")
    inside = f"working_directory: src\nexclude: []\n{watched}"
    assert exclude_of(spec(inside)) == ("/src/out/run",)
    assert exclude_of(spec("exclude: []\ncheckpoint: {mode: watch, dir: .}\n")) == ()


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
            "nodes: {min: 2, max: 4}\nranks_per_node: 2\nelastic: {global_batch: 7}",
            "elastic.global_batch 7: up to 8 ranks would have less than a sample each"
            " (make it larger, or lower nodes.max)",
        ),
        (
            "notify: [{command: [tell]}, {sns: 'arn:aws:sns:eu-west-1:1:t'}]",
            "notify[1].sns: target local cannot publish to SNS topics"
            " (use webhook, or a command that publishes)",
        ),
        (
            "init_from: {weights: 's3://b/weights?token=x'}",
            "init_from.weights: target local reads files and folders only, not s3://"
            " (fetch it first, and name the folder)",
        ),
        (
            "init_from: {job: b}\ncheckpoint: {mode: watch, dir: out}",
            "init_from.job: with checkpoint.mode watch phalanx loads nothing into a framework"
            " (write it out with `phalanx checkpoints restore`, and name init_from.weights)",
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


def test_a_range_of_nodes() -> None:
    made = plan("nodes: {min: 2, max: 4}\n")
    assert (made.fewest, made.nodes, made.is_elastic, made.last_call_s) == (2, 4, True, 10.0)
    assert (made.grow_after_s, made.global_batch) == (None, None)
    named = "elastic: {last_call: 30s, grow_after: 5m, global_batch: 64}\n"
    full = plan(f"nodes: {{min: 2, max: 4}}\n{named}")
    assert (full.last_call_s, full.grow_after_s, full.global_batch) == (30.0, 300.0, 64)


def test_a_range_of_one_number_is_fixed() -> None:
    made = plan("nodes: {min: 3, max: 3}\n")
    assert (made.fewest, made.nodes, made.is_elastic, made.min_nodes) == (3, 3, False, 0)


def test_an_elastic_job_needs_devices_for_its_fewest_nodes() -> None:
    gpus = "resources: {accelerator: 'gpu:2'}\n"
    assert plan(f"nodes: {{min: 1, max: 4}}\n{gpus}", 2).nodes == 4
    with pytest.raises(PlanError, match="needs 4 GPUs"):
        plan(f"nodes: {{min: 2, max: 4}}\n{gpus}", 2)
