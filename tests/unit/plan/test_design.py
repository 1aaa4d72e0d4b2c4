"""Single points of the decisions, each at the edge where it turns."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx.plan.decisions.decision import cite
from phalanx.plan.design import design
from phalanx.plan.page import page
from phalanx.plan.resolve import resolve
from phalanx.plan.view import view
from phalanx.spec.load import load
from phalanx.spec.load_workload import load_workload

HEAD = "kind: workload\nname: w\nuse: {use}\n"
DIGEST = "repo/train@sha256:" + "0" * 64


def planned(lines: str, use: str = "training") -> dict[str, Any]:
    return view(design(resolve(None, load_workload(HEAD.format(use=use) + lines, "w.yaml"))))


def job(lines: str) -> dict[str, Any]:
    text = f"kind: train\nname: j\ncommand: [python, train.py]\n{lines}"
    return view(design(resolve(load(text).spec, None)))


def choice(made: dict[str, Any], id: str) -> str:
    (found,) = [d["choice"] for d in made["decisions"] if d["id"] == id]
    return str(found)


def security(made: dict[str, Any]) -> dict[str, str]:
    return {item["id"]: item["state"] for item in made["security"]}


@pytest.mark.parametrize(
    ("days", "host"), [(13, "managed-instances"), (14, "managed-instances"), (15, "ecs-on-ec2")]
)
def test_a_run_past_day_14_leaves_managed_instances(days: int, host: str) -> None:
    made = planned(f"model: {{parameters: 1B}}\nrun: {{duration: {days}d, resumes: true}}\n")
    assert choice(made, "D1") == host


@pytest.mark.parametrize(
    "lines",
    [
        "security: {runtime_monitoring: true}\n",
        "security: {custom_ami: true}\n",
        "security: {compliance: [pci]}\n",
        "storage: {lustre: true}\n",
        "team: {fee_sensitive: true}\n",
        "accelerator: {type: p5e.48xlarge}\n",
    ],
)
def test_each_signal_alone_asks_for_ec2(lines: str) -> None:
    assert choice(planned("model: {parameters: 7B}\n" + lines, "inference"), "D1") == "ecs-on-ec2"
    assert choice(planned("model: {parameters: 7B}\n", "inference"), "D1") == "managed-instances"


def test_more_gpus_than_stand_on_site_leave_the_site() -> None:
    lines = "accelerator: {own: 8, count: %d}\nrun: {duration: 1d}\n"
    assert choice(planned(lines % 8), "D1") == "ecs-anywhere"
    assert choice(planned(lines % 9), "D1") != "ecs-anywhere"


def test_a_block_holds_64_nodes() -> None:
    lines = "accelerator: {type: p5.48xlarge}\nmodel: {parameters: 70B}\nrun: {nodes: %d}\n"
    for nodes, said in ((64, "one block for 64 nodes"), (65, "2 blocks for 65 nodes")):
        made = planned(lines % nodes)
        assert choice(made, "D3") == "capacity-block"
        assert any(said in reason for reason in made["decisions"][2]["reasons"])
    assert planned(lines % 257)["route_out"]["to"] == "sagemaker"


def test_g_types_have_no_blocks() -> None:
    lines = "accelerator: {type: g6e.48xlarge}\nrun: {duration: 20d, market: %s, resumes: true}\n"
    assert choice(planned(lines % "capacity_block"), "D3") == "on-demand-reservation"
    assert choice(planned(lines % "any"), "D3") == "on-demand-group"


def finding(made: dict[str, Any], slug: str) -> dict[str, Any]:
    (found,) = [one for one in made["findings"] if one["slug"] == slug]
    return dict(found)


def rejected(made: dict[str, Any], id: str) -> dict[str, str]:
    (found,) = [one["rejected"] for one in made["decisions"] if one["id"] == id]
    return {other["choice"]: other["because"] for other in found}


def test_the_reason_without_a_block_is_the_true_one() -> None:
    lines = "accelerator: {type: %s}\nmodel: {parameters: 7B}\n"
    run = "run: {nodes: 1, duration: %dd, market: capacity_block, resumes: true}\n"
    assert choice(planned(lines % "p5.48xlarge" + run % 182), "D3") == "capacity-block"
    for type, days, why in (
        ("p5.48xlarge", 183, "a Capacity Block lasts at most 182 days and the run takes 183"),
        ("g6e.48xlarge", 20, "g6e.48xlarge has no Capacity Blocks"),
    ):
        made = planned(lines % type + run % days)
        assert rejected(made, "D3")["capacity-block"] == why
        assert why in finding(made, "capacity-block-not-used")["message"]
        assert any(why in reason for reason in made["decisions"][2]["reasons"])
        (lever,) = [one for one in made["levers"] if one["order"] == 1]
        assert (lever["applies"], lever["because"]) == ("no", why)


def test_each_block_has_a_group_and_provider_of_its_own() -> None:
    lines = "accelerator: {type: p5.48xlarge}\nmodel: {parameters: 70B}\nrun: {nodes: %d}\n"
    one = planned(lines % 64)["capacity"]
    assert [group["max"] for group in one["groups"]] == [64]
    made = planned(lines % 129)
    capacity = made["capacity"]
    assert [group["max"] for group in capacity["groups"]] == [43, 43, 43]
    assert {group["zones"] for group in capacity["groups"]} == {"one"}
    names = [group["name"] for group in capacity["groups"]]
    assert len(set(names)) == 3
    assert [item["capacityProvider"] for item in capacity["strategy"]] == names
    assert any("for each block" in step for step in capacity["steps"])
    assert any("43 + 43 + 43 nodes" in reason for reason in made["decisions"][2]["reasons"])
    assert [g["max"] for g in planned(lines % 65)["capacity"]["groups"]] == [33, 32]


@pytest.mark.parametrize(
    ("use", "tenants", "why"),
    [
        ("inference", "many", "no isolation boundary"),
        ("development", "many", "no isolation boundary"),
        ("inference", "one", "GPUs of inference are not shared"),
        ("training", "one", "GPUs of training are not shared"),
    ],
)
def test_a_wish_to_share_is_answered(use: str, tenants: str, why: str) -> None:
    lines = f"model: {{parameters: 200M}}\nsharing: {{wish: mps, tenants: {tenants}}}\n"
    found = finding(planned(lines, use), "sharing-not-used")
    assert found["where"] == "sharing.wish"
    assert why in found["message"]
    assert "plan.mps" in {source["fact"] for source in found["sources"]}
    trusted = "model: {parameters: 200M}\nsharing: {wish: mps, tenants: one}\n"
    assert planned(trusted, "development")["findings"] == []


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("model: {parameters: 20B}\n", "does not fit the largest part, 11444 MiB"),
        ("model: {parameters: 200M}\nsecurity: {custom_ami: true}\n", "Managed Instances only"),
        ("model: {parameters: 200M}\naccelerator: {type: g6.xlarge}\n", "g6.xlarge is asked for"),
        ("serving: {latency: 1s}\n", "size is not known"),
        ("model: {parameters: 200M}\naccelerator: {vendor: neuron}\n", "Neuron is chosen"),
        ("model: {parameters: 200M}\naccelerator: {count: 2}\n", "2 devices are asked for"),
    ],
)
def test_a_part_of_a_gpu_is_taken_or_refused_by_name(lines: str, why: str) -> None:
    wish = "sharing: {wish: fractional}\n"
    for size, type in (("200M", "g6f.large"), ("1B", "g6f.4xlarge")):
        made = planned(f"model: {{parameters: {size}}}\n" + wish, "inference")
        (group,) = made["capacity"]["groups"]
        assert group["instance_type"] == type
        assert "0." in made["decisions"][1]["reasons"][1]
    made = planned(lines + wish, "inference")
    assert why in rejected(made, "D2")["part-of-a-gpu (g6f, gr6f)"]
    assert why in finding(made, "no-part-of-a-gpu")["message"]


def test_batch_inference_bears_spot_and_an_endpoint_does_not() -> None:
    lines = "model: {parameters: 7B}\nrun: {market: spot}\nserving: {traffic: %s}\n"
    assert choice(planned(lines % "batch", "inference"), "D3") == "managed-instances-spot"
    own = "security: {custom_ami: true}\n"
    assert choice(planned(lines % "batch" + own, "inference"), "D3") == "spot-group"
    for more, name in (("", "managed-instances-spot"), (own, "spot-group")):
        made = planned(lines % "steady" + more, "inference")
        assert "only batch" in rejected(made, "D3")[name]
        assert finding(made, "spot-not-used")["where"] == "run.market"


def test_batch_is_not_proposed_for_a_gang_on_spot() -> None:
    lines = "model: {parameters: 7B}\nrun: {nodes: 4, market: %s, resumes: true}\n"
    wants = "team: {wants: [job_queue]}\n"
    assert planned(lines % "on_demand" + wants)["route_out"]["to"] == "batch"
    assert planned(lines % "spot" + wants)["route_out"] is None


def test_unknown_types_are_named_and_nothing_is_made_up() -> None:
    made = planned("accelerator: {type: Z900, count: 8}\nmodel: {parameters: 7B}\n")
    assert [f["slug"] for f in made["findings"]] == ["model-does-not-fit"]
    assert "Z900" in made["findings"][0]["message"]
    assert made["capacity"]["groups"] == []
    assert made["parallelism"] is None


def test_trainium2_is_not_sized_by_its_doubtful_memory_unless_it_is_named() -> None:
    lines = "accelerator: {vendor: neuron, neuron_supported: true}\nmodel: {parameters: 70B}\n"
    (group,) = planned(lines)["capacity"]["groups"]
    assert group["instance_type"].startswith("trn1")


def test_neuron_is_proposed_only_when_support_is_known() -> None:
    lines = "model: {parameters: 8B}\naccelerator: {vendor: any, neuron_supported: %s}\n"
    assert choice(planned(lines % "true", "inference"), "D2") == "neuron"
    assert choice(planned(lines % "false", "inference"), "D2") == "nvidia"
    assert choice(planned("model: {parameters: 8B}\n", "inference"), "D2") == "nvidia"


def test_the_baseline_is_read_off_a_job_file() -> None:
    good = job(f"image: {DIGEST}\nsecrets: {{HF_TOKEN: {{ssm: token}}}}\n")
    assert security(good)["SB2"] == "met"
    assert security(good)["SB3"] == "missing"
    (pinned,) = [item for item in good["security"] if item["id"] == "SB3"]
    assert "pinned by digest" in pinned["because"]
    bad = job("image: repo/train:latest\nenv: {HF_TOKEN: abc}\n")
    assert security(bad)["SB2"] == "missing"
    assert "abc" not in str(bad)
    assert security(bad)["SB6"] == "not-applicable"


def test_what_is_stated_is_not_called_met() -> None:
    made = planned("model: {parameters: 7B}\nsecurity: {done: [SB1, SB8]}\n", "inference")
    assert security(made)["SB1"] == "stated"
    # GuardDuty does not reach Managed Instances, whatever the file says.
    assert choice(made, "D1") == "managed-instances"
    assert security(made)["SB8"] == "missing"


def test_the_quota_comes_first_and_names_its_code() -> None:
    made = planned(
        "accelerator: {type: p5.48xlarge}\nmodel: {parameters: 7B}\n"
        "run: {nodes: 2, market: spot, resumes: true}\nquota: {vcpus: 192}\n"
    )
    assert made["capacity"]["quota"] == {
        "family": "p5",
        "code": "L-C4BD4855",
        "vcpus_needed": 384,
        "vcpus_allowed": 192,
    }
    assert made["capacity"]["steps"][0].startswith("0. Quota (L-C4BD4855)")
    assert made["decisions"][2]["reasons"][0].startswith("Step zero: the quota is 192")
    trn = planned("accelerator: {type: trn1.32xlarge}\nrun: {duration: 2d}\n")
    assert trn["capacity"]["quota"]["code"] is None


def test_a_gang_gets_one_zone_efa_and_a_placement_group() -> None:
    lines = "accelerator: {type: p4d.24xlarge}\nmodel: {parameters: 13B}\nrun: {nodes: 4, %s}\n"
    (group,) = planned(lines % "market: on_demand")["capacity"]["groups"]
    assert (group["zones"], group["placement_group"], group["efa_interfaces"]) == (
        "one",
        "cluster",
        4,
    )
    (single,) = planned("model: {parameters: 1B}\nrun: {duration: 1h}\n")["capacity"]["groups"]
    assert (single["placement_group"], single["efa_interfaces"]) == (None, 0)


def test_spot_saves_far_more_often_than_every_half_hour() -> None:
    lines = "resources: {accelerator: 'V100:8'}\nnodes: 16\ncheckpoint: {every: 30m}\n"
    made = job(lines + "target: {kind: ecs, capacity: {market: spot}}\n")
    assert made["checkpoint"]["interval_s"] < 300
    assert "interval-far-off" in {f["slug"] for f in made["findings"]}
    given = planned(
        "model: {parameters: 1B}\nrun: {nodes: 2, duration: 1d}\n"
        "losses: {stall: 5m, per_1000_node_days: 500}\n"
    )
    # Two nodes at half a loss a day each: M = 24 h, delta = 5 min.
    assert given["checkpoint"]["interval_s"] / 60 == pytest.approx(116.69, abs=0.01)
    assert given["checkpoint"]["daly_s"] / 60 == pytest.approx(116.69, abs=0.01)


def test_cost_is_a_range_of_hours_times_a_range_of_prices() -> None:
    price = "price: {low: 10, high: 20, currency: EUR, source: list, date: '2026-11-30'}\n"
    lines = "accelerator: {type: p4d.24xlarge}\nmodel: {parameters: 7B}\n"
    made = planned(lines + "run: {nodes: 2, duration: 100h, resumes: true}\n" + price)
    money = made["cost"]
    assert 1900 <= money["low"] <= 2000
    assert 4000 < money["high"] <= 4200
    assert money["basis"] == "list, read on 2026-11-30"
    assert money["drivers"]
    unknown = planned(lines + "run: {nodes: 2}\n" + price)
    assert unknown["cost"] is None
    assert "neither a length" in unknown["cost_basis"]["because"]


def test_a_model_that_fits_one_gpu_is_not_sharded() -> None:
    small = planned("accelerator: {type: p5.48xlarge}\nmodel: {parameters: 350M}\n")
    assert small["parallelism"]["choice"] == "ddp"
    large = planned("accelerator: {type: p5.48xlarge}\nmodel: {parameters: 13B}\nrun: {nodes: 2}\n")
    assert large["parallelism"]["choice"].startswith(("zero2", "fsdp"))
    huge = planned("accelerator: {type: p5.48xlarge}\nmodel: {parameters: 1T}\nrun: {nodes: 64}\n")
    assert "tp 8" in huge["parallelism"]["choice"]
    for row in huge["parallelism"]["considered"]:
        parts = ("parameters", "gradients", "optimizer", "buffers", "activations")
        assert row["total_bytes"] == pytest.approx(sum(row[f"{p}_bytes"] for p in parts), abs=5)
        assert row["data"] * row["tensor"] * row["pipeline"] == 512


def test_compliance_adds_its_duties() -> None:
    made = planned("model: {parameters: 7B}\nsecurity: {compliance: [hipaa]}\n", "inference")
    assert [duty["regime"] for duty in made["compliance"]] == ["hipaa"]
    assert made["compliance"][0]["sources"]


def test_a_fact_in_doubt_is_quoted_with_its_doubt() -> None:
    assert {source.mark for source in cite("plan.mps")} == {"conflict"}
    with pytest.raises(KeyError):
        cite("plan.nothing")
    text = HEAD.format(use="development") + "sharing: {wish: share}\n"
    shown = page(design(resolve(None, load_workload(text, "w.yaml"))))
    assert "(undated, conflict; plan.mps)" in shown


@pytest.mark.parametrize("use", ["inference", "training", "development"])
def test_no_gpu_where_there_is_no_accelerator(use: str) -> None:
    lines = "accelerator: {type: cpu}\nmodel: {parameters: 10M}\n"
    if use == "training":
        lines += "run: {nodes: 2, duration: 1d}\n"
    text = HEAD.format(use=use) + lines
    made = design(resolve(None, load_workload(text, "w.yaml")))
    shown = page(made)
    for word in ("whole GPUs", "twice the GPUs", "GPU memory", "Xid", "EFA interfaces", "of GPUs."):
        assert word not in shown
    said = view(made)
    assert choice(said, "D1") == "fargate"
    assert choice(said, "D3") == "fargate-on-demand"
    assert all("GPU" not in lever["lever"] for lever in said["levers"])


@pytest.mark.parametrize(
    ("lines", "host"),
    [
        ("", "fargate"),
        ("security: {runtime_monitoring: true}\n", "fargate"),
        ("security: {custom_ami: true}\n", "ecs-on-ec2"),
        ("storage: {lustre: true}\n", "ecs-on-ec2"),
        ("team: {platform: managed_instances}\n", "managed-instances"),
    ],
)
def test_what_takes_a_cpu_workload_off_fargate(lines: str, host: str) -> None:
    text = "accelerator: {type: cpu}\nmodel: {parameters: 10M}\n" + lines
    made = planned(text, "inference")
    assert choice(made, "D1") == host
    if host != "fargate":
        assert rejected(made, "D1")["fargate"]


@pytest.mark.parametrize(("size", "host"), [("60B", "fargate"), ("70B", "managed-instances")])
def test_the_largest_task_on_fargate_is_that_of_the_facts(size: str, host: str) -> None:
    model = f"model: {{parameters: {size}, precision: bf16}}\n"
    made = planned(f"accelerator: {{type: cpu}}\n{model}", "inference")
    assert choice(made, "D1") == host
    if host == "fargate":
        assert "more than 32 vCPUs or 244 GiB" in str(made["decisions"][0]["would_change_if"])


def test_a_model_that_misses_by_the_tenth_says_so() -> None:
    lines = (
        "accelerator: {type: g6e.12xlarge}\nmodel: {parameters: 70B, layers: 80, hidden: 8192, "
        "heads: 64, kv_heads: 8, vocabulary: 128256, precision: bf16}\n"
    )
    made = planned(lines, "inference")
    message = finding(made, "model-does-not-fit")["message"]
    assert "179 GiB, of which nine tenths (161 GiB)" in message
    (lever,) = [one for one in made["levers"] if one["lever"] == "the right size of GPU"]
    assert lever["applies"] == "no"
    assert "fits" not in lever["because"]


@pytest.mark.parametrize(
    ("market", "said"), [("spot", "Spot is asked for"), ("on_demand", "On-Demand is asked for")]
)
def test_a_block_that_is_not_asked_for_says_what_would_ask(market: str, said: str) -> None:
    lines = "model: {parameters: 70B, layers: 80, hidden: 8192, sequence: 8192}\n"
    run = f"run: {{duration: 35d, market: {market}, resumes: false}}\n"
    why = rejected(planned(lines + run), "D3")["capacity-block"]
    assert why.startswith(said)
    assert "market: capacity_block" in why
    wanted = run.replace(market, "any")
    assert choice(planned(lines + wanted), "D3") == "capacity-block"
