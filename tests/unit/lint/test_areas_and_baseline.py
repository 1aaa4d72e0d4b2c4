"""What lint must know, area by area: every row is met by a rule of that name."""

from __future__ import annotations

import pytest

from phalanx.lint.discover import all_rules, find_rule

ROWS: dict[str, tuple[str, ...]] = {
    # spot, stop
    "draining setting": ("spot-draining-off",),
    "draining leaves RunTask alone": ("draining-leaves-standalone-task",),
    "stop time-out against save time": ("stop-timeout-shorter-than-save",),
    "stop time-out, its maximum": (
        "stop-timeout-over-maximum",
        "stop-timeout-longer-than-spot-notice",
    ),
    "stop time-out, its default": ("default-stop-timeout-for-training",),
    "shell as first process": ("shell-swallows-sigterm",),
    "one attempt on Spot": ("spot-no-host-retry",),
    "capacity rebalance on a training group": ("capacity-rebalance-on-training-group",),
    "Batch multi-node on Spot": ("batch-multi-node-on-spot",),
    # storage
    "checkpoint only on the instance": ("checkpoint-only-on-instance",),
    "FSx or EFS in another zone": ("file-system-in-another-zone",),
    "Lustre as a task volume type": ("lustre-is-no-volume-type",),
    "shared memory, default and ceiling": ("shm-default-with-loader", "shm-as-large-as-memory"),
    "root disk against image": ("root-volume-too-small-for-gpu-image",),
    "NVMe unused": ("local-nvme-unused",),
    "bucket without versioning for models": ("model-bucket-without-versioning",),
    # capacity
    "mixed GPU group": ("mixed-gpu-types-in-asg", "asg-weights-with-capacity-provider"),
    "provider that can never scale": (
        "provider-can-never-scale",
        "task-does-not-fit-smallest-type",
        "managed-scaling-out-of-range",
        "gang-larger-than-group",
    ),
    "tasks without strategy": ("no-capacity-provider-strategy", "strategy-is-refused"),
    "Managed Instances requirements and association": ("mi-requirements-shape", "mi-association"),
    "Capacity Block not targeted": ("capacity-block-not-targeted",),
    "Capacity Block, its end not planned": ("capacity-block-end-not-planned",),
    "long run on Managed Instances": ("long-run-on-managed-instances",),
    "more than one zone": ("cluster-pg-multi-az", "capacity-block-in-several-zones"),
    "scale-in protection": (
        "termination-protection-off",
        "termination-protection-without-scale-in-protection",
    ),
    # serving
    "grace against model load": ("lb-no-grace-period", "grace-shorter-than-model-load"),
    "startPeriod limit": ("health-check-out-of-range",),
    "blue/green needs twice the GPUs": (
        "blue-green-needs-twice-the-gpus",
        "rolling-deployment-without-spare-gpu",
    ),
    "port mapping and dynamic ports": (
        "load-balancer-port-not-mapped",
        "host-port-mapping",
        "target-type-does-not-fit-network-mode",
    ),
    "health path of the engine": ("health-path-of-engine",),
    "autoscaling on the wrong metric": ("gpu-service-scales-on-wrong-metric",),
    "stickiness": ("sticky-sessions-on-model-server",),
    # security
    "open Ray, Jupyter, metrics ports": ("ml-port-open-to-world", "notebook-without-password"),
    "public address": ("public-address-on-accelerated-host",),
    "static keys even in a secret store": ("static-keys-in-secret-store",),
    "unpinned image": ("image-not-pinned",),
    # observability
    "agentless GPU metrics only where they exist": ("gpu-metric-does-not-exist-here",),
    "logs without retention": ("logs-without-retention",),
    "no alarm on GPU memory": ("no-alarm-on-gpu-memory",),
    "no alarm on stopped ranks": ("no-alarm-on-stopped-ranks",),
    # cost
    "GPU service that holds cards after the run": (
        "idle-gpu-without-stop-rule",
        "finite-work-as-service",
    ),
    "idle scaling floor": ("idle-scaling-floor",),
    "over-sized GPU for the model": ("gpu-larger-than-model-needs",),
    "no budget alarm": ("no-budget-alarm", "budget-tells-nobody"),
}
GUARDS: dict[str, tuple[str, ...]] = {
    "GR2": ("mixed-gpu-types-in-asg", "asg-weights-with-capacity-provider"),
    "GR6": ("spot-training-without-resume", "spot-for-latency-bound-serving"),
    "GR8": ("cost-as-one-number",),
    "SB1": (
        "one-role-for-task-and-execution",
        "role-allows-everything",
        "trust-without-source-condition",
        "static-keys-in-secret-store",
    ),
    "SB2": ("secret-in-env", "secret-in-command-or-user-data"),
    "SB3": ("repository-not-scanned", "image-not-pinned"),
    "SB4": ("model-revision-not-pinned", "model-bucket-without-versioning"),
    "SB5": ("public-address-on-accelerated-host", "incomplete-vpc-endpoints"),
    "SB6": ("inference-endpoint-without-authentication", "ml-port-open-to-world"),
    "SB7": ("trail-off", "container-insights-off"),
    "SB8": ("runtime-monitoring-does-not-cover",),
}


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_met_by_name(row: str) -> None:
    assert [slug for slug in ROWS[row] if find_rule(slug) is None] == []


@pytest.mark.parametrize("guard", GUARDS)
def test_every_guard_is_named_by_its_rules(guard: str) -> None:
    for slug in GUARDS[guard]:
        rule = find_rule(slug)
        assert rule is not None
        assert guard in rule.guards


def test_gr7_every_item_of_the_baseline_has_a_rule() -> None:
    named = {guard for rule in all_rules() for guard in rule.guards}
    assert {f"SB{n}" for n in range(1, 9)} <= named


def test_there_are_enough_rules() -> None:
    assert len(all_rules()) >= 80
