"""What each area must know, each item met by a rule of that name."""

from __future__ import annotations

import pytest

from phalanx.lint.discover import all_rules, find_rule

ROWS: dict[str, dict[str, tuple[str, ...]]] = {
    "host": {
        "GPU on Fargate": ("fargate-gpu",),
        "devices on Fargate": ("fargate-devices",),
        "privileged on Fargate": ("fargate-privileged", "fargate-invalid-parameter"),
        "GPU on Windows": ("windows-accelerator",),
        "Anywhere without its GPU flag": ("anywhere-gpu-flag",),
        "launch type beside strategy": ("launch-type-beside-strategy",),
    },
    "placement": {
        "memory headroom against registered memory": ("memory-no-headroom",),
        "GPU count against type": ("gpu-count-above-type", "cpu-above-type"),
        "two containers wanting one card": ("containers-want-one-card",),
        "instance registered without GPUs": ("host-registers-without-gpu",),
        "Spot quota against On-Demand quota": ("accelerated-quota",),
        "EC2-only task on a Fargate strategy": ("compatibility-not-of-capacity",),
        "figures with a source": ("type-without-figures",),
        "rules that match nothing": ("placement-expression-matches-nothing", "placement-shape"),
    },
    "gpu": {
        "sharing forms mixed": ("gpu-sharing-mixed",),
        "MPS shape": ("mps-shape", "mps-not-on-this-host"),
        "sharing in production": ("gpu-shared-in-production",),
        "manual sharing complete or not": ("manual-sharing-incomplete",),
        "fractional types": ("fractional-gpu-driver", "gpu-value"),
        "image driver need against AMI": (
            "image-newer-than-host-driver",
            "image-cuda-below-type",
            "driver-capabilities-missing",
            "driver-updated-in-place",
        ),
        "GPU lost after a daemon reload": ("gpu-lost-after-daemon-reload",),
        "no MIG scheduler": ("mig-without-scheduler",),
    },
    "efa": {
        "devices per interface count": ("efa-device-count", "efa-device-not-mapped"),
        "letter case per service": ("device-permission-case",),
        "memlock": ("efa-memlock",),
        "security-group self rule both ways": ("efa-security-group-self",),
        "placement group against reservation": ("placement-group-against-reservation",),
        "placement group and zones": ("cluster-pg-multi-az", "efa-nodes-apart"),
        "whole RDMA directory mounted": ("whole-rdma-directory",),
        "FI values": ("fi-values",),
        "awsvpc is not EFA": ("multi-node-without-efa", "efa-device-not-mapped"),
        "interfaces of the template": ("efa-interfaces-of-type", "efa-on-managed-instances"),
    },
    "nccl": {
        "NCCL_PROTO": ("nccl-proto-legacy",),
        "socket interface filters": ("nccl-socket-ifname",),
        "bridge mode": ("nccl-bridge-mode",),
        "transports switched off": ("nccl-transport-off",),
    },
    "gang": {
        "localhost fallback": ("rendezvous-localhost-fallback",),
        "unexpanded variables": ("exec-form-env-not-expanded",),
        "finite ranks as a service": ("finite-work-as-service",),
        "lone-rank relaunch": ("lone-rank-relaunch", "restart-policy-on-rank"),
        "event rule on tags": ("event-rule-on-tags", "event-rule-desired-status"),
        "Ray head by stale DNS": ("ray-head-by-stale-dns",),
        "launcher's grace below stopTimeout": ("launcher-grace-below-stop-timeout",),
        "process-group time-out": ("process-group-timeout-missing",),
        "limits and ranks of a launch": ("run-task-limits", "same-rank-for-many-tasks"),
    },
    "neuron": {
        "managed or manual, never both": ("neuron-managed-and-manual", "neuron-device-not-mapped"),
        "ALL": ("neuron-device-value",),
        "one container": ("neuron-one-container",),
        "launch-model scope": ("neuron-type-out-of-scope", "neuron-device-not-managed"),
        "AMI": ("neuron-ami",),
        "compile at start": ("neuron-compile-at-start",),
        "devices of the type": ("neuron-device-count",),
    },
}
ITEMS = [(area, item, slugs) for area, row in ROWS.items() for item, slugs in row.items()]


@pytest.mark.parametrize(("area", "item", "slugs"), ITEMS, ids=[f"{a}: {i}" for a, i, _ in ITEMS])
def test_an_item_is_met(area: str, item: str, slugs: tuple[str, ...]) -> None:
    assert item
    for slug in slugs:
        rule = find_rule(slug)
        assert rule is not None
        assert area in rule.areas


@pytest.mark.parametrize("guardrail", ["GR1", "GR3", "GR4", "GR5", "GR9"])
def test_a_guardrail_is_a_rule(guardrail: str) -> None:
    assert [rule.slug for rule in all_rules() if guardrail in rule.guards]
