"""Whatever the workload, the plan is whole, its sources are there and no cost is a point."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx.errors import PhalanxError
from phalanx.plan.design import Design, design
from phalanx.plan.page import page
from phalanx.plan.resolve import resolve
from phalanx.plan.view import view
from phalanx.spec.load_workload import load_workload

AMOUNT = re.compile(r"[\d,.e+]+ (?:USD|EUR)")


def _maybe(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def _one(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


TRUTH = st.booleans()
WORKLOADS = st.fixed_dictionaries(
    {"kind": st.just("workload"), "name": st.just("w"),
     "use": _one("training", "inference", "development")},
    optional={
        "model": _maybe(
            parameters=_one("1", "350M", "7B", "70B", "405B", "100T"),
            family=_one("transformer", "cnn", "other"),
            layers=st.integers(1, 200), hidden=st.integers(1, 20000),
            heads=st.integers(1, 128), kv_heads=st.integers(1, 128),
            precision=_one("fp32", "bf16", "mixed", "int8", "int4"),
            optimizer=_one("adamw", "sgd", "adafactor", "adamw8bit"),
            tuning=_one("full", "lora"), micro_batch=st.integers(1, 64),
            activation_checkpointing=TRUTH,
        ),
        "accelerator": _maybe(
            vendor=_one("nvidia", "neuron", "any"),
            type=_one("p5.48xlarge", "H100", "cpu", "gpu", "g6f.large", "trn2.48xlarge", "T1000",
                      "c7i.large", "dl1.24xlarge"),
            count=st.integers(0, 3000), own=st.integers(0, 64), neuron_supported=TRUTH,
        ),
        "run": _maybe(
            nodes=st.integers(1, 4096), duration=_one("1s", "6h", "21d", "300d"),
            market=_one("any", "on_demand", "spot", "reserved", "capacity_block"), resumes=TRUTH,
            deadline=_one("1h", "9d"),
        ),
        "serving": _maybe(
            latency=_one("1ms", "2s"), traffic=_one("steady", "bursty", "batch"),
            replicas=st.integers(1, 4096), own_weights=TRUTH, scale_to_zero=TRUTH,
            facing=_one("internal", "public"),
        ),
        "team": _maybe(
            platform=_one("none", "ecs", "managed_instances", "fargate", "kubernetes", "batch"),
            self_host=TRUTH, containers=TRUTH, fee_sensitive=TRUTH,
            wants=st.lists(_one("kuberay", "job_queue", "hyperpod"), max_size=2),
        ),
        "sharing": _maybe(wish=_one("none", "share", "mig", "fractional"),
                          tenants=_one("one", "many")),
        "security": _maybe(compliance=st.lists(_one("pci", "hipaa", "gdpr"), max_size=2),
                           runtime_monitoring=TRUTH, custom_ami=TRUTH,
                           done=st.lists(_one("SB1", "SB8"), max_size=2)),
        "losses": _maybe(stall=_one("1ms", "2s", "1h"), per_1000_node_days=_one(0.001, 3.0, 1e7),
                         announced=_one(0, 0.5, 0.99)),
        "storage": _maybe(dataset=_one("1GiB", "9TiB"), lustre=TRUTH),
        "price": st.just({"low": 0, "high": 1e9, "currency": "USD", "source": "s",
                          "date": "2026-11-30"})
        | st.just({"low": 31.2, "high": 31.3, "currency": "EUR", "source": "s",
                   "date": "2026-11-30"}),
        "quota": st.fixed_dictionaries({"vcpus": st.integers(0, 100000)}),
    },
)  # fmt: skip


def check_whole(made: dict[str, Any]) -> None:
    assert [decision["id"] for decision in made["decisions"]] == ["D1", "D2", "D3", "D4", "D5"]
    for decision in made["decisions"]:
        assert decision["reasons"]
        assert all(decision["reasons"])
        assert decision["sources"]
        assert decision["would_change_if"]
        assert decision["choice"] not in [other["choice"] for other in decision["rejected"]]
    host, accelerator = made["decisions"][:2]
    assert host["choice"] != "fargate" or accelerator["choice"] == "none"
    assert [item["id"] for item in made["security"]] == [f"SB{n}" for n in range(1, 9)]
    assert all(item["state"] != "missing" or item["fix"] for item in made["security"])
    if made["checkpoint"]:
        kept = made["checkpoint"]
        assert 0 < kept["low_s"] < kept["interval_s"] < kept["high_s"]
    if made["route_out"]:
        assert made["route_out"]["to"] == made["decisions"][4]["choice"]


@settings(max_examples=300, deadline=None)
@given(WORKLOADS)
def test_every_plan_is_whole_and_no_cost_is_a_point(value: dict[str, Any]) -> None:
    made = design(resolve(None, load_workload(json.dumps(value), "w.json")))
    plain = view(made)
    json.dumps(plain, allow_nan=False)
    check_whole(plain)
    money = plain["cost"]
    text = page(made)
    if money is None:
        assert AMOUNT.findall(text) == []
        return
    assert money["low"] < money["high"]
    assert value["price"]["date"] in money["basis"]
    (shown,) = [line for line in text.splitlines() if AMOUNT.search(line)]
    low, high = re.findall(r"\*\*([\d,.e+]+) to ([\d,.e+]+) (?:USD|EUR)\*\*", shown)[0]
    assert low != high


@settings(max_examples=200, deadline=None)
@given(WORKLOADS, st.data())
def test_a_broken_file_is_one_line(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.text(max_size=4)) + text[at + data.draw(_one(0, 1, 7)) :]
    said, made = outcome(broken)
    if made is None:
        assert said.startswith("w.json")
        assert "\n" not in said
    else:
        check_whole(view(made))


def outcome(text: str) -> tuple[str, Design | None]:
    """The line that refuses a file, or its plan."""
    try:
        return "", design(resolve(None, load_workload(text, "w.json")))
    except PhalanxError as error:
        return error.line(), None
