"""Service events, scaling activities, container instances and Batch jobs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input
from phalanx.facts.instances import instance as facts

SPOT = "Max spot instance count exceeded. Launching EC2 instance failed."


def answer(*values: Any) -> dict[str, Any]:
    files = [Input(f"{n}.json", json.dumps(v).encode()) for n, v in enumerate(values)]
    return explain(files).plain()


def found(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f["slug"], f["where"]) for f in given["findings"]]


def instance(kind: str, *resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    attributes = [{"name": "ecs.instance-type", "value": kind}]
    return {"registeredResources": list(resources), "attributes": attributes, **more}


GPU = {"name": "GPU", "type": "STRINGSET", "stringSetValue": ["GPU-1"]}


def gpus(count: int) -> dict[str, Any]:
    return {**GPU, "stringSetValue": [f"GPU-{n}" for n in range(count)]}


NO_GPU = {"name": "GPU", "type": "STRINGSET", "stringSetValue": []}
CPU = {"name": "CPU", "type": "INTEGER", "integerValue": 4096}


@pytest.mark.parametrize("kind", ["p5.48xlarge", "g6e.12xlarge", "gr6.4xlarge", "p6-b200.48xlarge"])
def test_a_gpu_instance_without_gpus(kind: str) -> None:
    row = facts(kind)
    assert row is not None
    value = {"containerInstances": [instance(kind, CPU, gpus(row.gpus)), instance(kind, CPU)]}
    where = "containerInstances[1].registeredResources"
    assert found(answer(value)) == [("instance-registered-without-gpu", where)]


@pytest.mark.parametrize(("count", "slugs"), [(8, 0), (7, 1), (1, 1)])
def test_an_instance_with_a_part_of_its_gpus(count: int, slugs: int) -> None:
    given = answer({"containerInstances": [instance("p5.48xlarge", gpus(count))]})
    where = "containerInstances[0].registeredResources"
    assert found(given) == [("instance-registered-with-fewer-gpus", where)] * slugs
    assert all(f"{count} of 8" in f["message"] for f in given["findings"])


def test_an_unknown_type_or_gone_instance_has_no_number_of_gpus() -> None:
    gone = instance("p5.48xlarge", gpus(1), status="INACTIVE")
    assert found(answer({"containerInstances": [instance("p99.48xlarge", GPU), gone]})) == []


@pytest.mark.parametrize(
    "kind", ["c6i.large", "g4ad.xlarge", "m5.large", "inf2.xlarge", "mac2.metal"]
)
def test_an_instance_that_has_no_nvidia_gpu(kind: str) -> None:
    assert found(answer({"containerInstances": [instance(kind, CPU, NO_GPU)]})) == []


def test_a_missing_list_of_resources_or_type_says_nothing() -> None:
    assert found(answer({"containerInstances": [{"status": "ACTIVE"}, instance("", CPU)]})) == []


def test_a_fractional_type_names_its_driver() -> None:
    given = answer({"containerInstances": [instance("g6f.xlarge", NO_GPU)]})
    assert "driver flavour" in given["findings"][0]["fix"]


def activity(message: str, code: str = "Failed") -> dict[str, Any]:
    return {"StatusCode": code, "StatusMessage": message, "AutoScalingGroupName": "g"}


@pytest.mark.parametrize(
    ("message", "slug"),
    [
        (SPOT, "spot-quota-zero"),
        (
            "You have requested more vCPU capacity than your current vCPU limit of 0 allows for "
            "the instance bucket that the specified instance type belongs to.",
            "on-demand-quota-exceeded",
        ),
        (
            "We currently do not have sufficient p4d.24xlarge capacity in the Availability Zone "
            "you requested (us-east-1a).",
            "instance-capacity-unavailable",
        ),
        ("You are not authorized to perform this operation.", "instance-launch-refused"),
        ("Something that nobody has seen.", "instance-launch-failed"),
    ],
)
def test_failed_activities(message: str, slug: str) -> None:
    value = {"Activities": [activity("fine", "Successful"), activity(message), activity(message)]}
    assert found(answer(value)) == [(slug, "Activities[1].StatusMessage")]


def test_a_quota_that_is_not_zero_is_used_up() -> None:
    quotas = {"context": {"quotas": {"All P5 Spot Instance Requests": 192}}, "events": []}
    given = answer({"Activities": [activity(SPOT)]}, quotas)
    assert found(given)[0][0] == "spot-quota-exceeded"
    assert "All P5 Spot Instance Requests" in given["findings"][0]["fix"]


def test_a_service_that_cannot_place_without_a_known_root() -> None:
    message = "(service a) was unable to place a task because no container instance met all."
    value = {"services": [{"serviceName": "a", "events": [{"id": "1", "message": message}]}]}
    assert found(answer(value)) == [("service-cannot-place", "services[0].events[0].message")]


def test_a_steady_service_says_nothing() -> None:
    value = {"events": [{"id": "1", "message": "(service a) has reached a steady state."}]}
    assert found(answer(value)) == []


def batch(status: str, **more: Any) -> dict[str, Any]:
    return {"jobs": [{"jobId": "1", "jobName": "train", "status": status, **more}]}


def attempt(code: int | None, reason: str = "", status: str = "") -> dict[str, Any]:
    container = {"exitCode": code} if code is not None else {}
    return {"container": {**container, "reason": reason}, "statusReason": status}


@pytest.mark.parametrize(
    ("value", "name", "next_"),
    [
        (batch("SUCCEEDED"), None, "succeeded"),
        (batch("RUNNING"), None, "none"),
        (batch("FAILED", attempts=[attempt(1)]), "NonZeroExit", "restart"),
        (
            batch("FAILED", attempts=[attempt(137, "OutOfMemoryError: Container killed")]),
            "OutOfMemory",
            "fail",
        ),
        (
            batch("FAILED", attempts=[attempt(None, "", "Host EC2 (instance i-1) terminated.")]),
            "HostLost",
            "restart",
        ),
        (batch("FAILED", attempts=[attempt(143)], isTerminated=True), "StoppedByUser", "none"),
        (
            batch("FAILED", attempts=[attempt(1)] * 3, retryStrategy={"attempts": 3}),
            "NonZeroExit",
            "fail",
        ),
        (batch("FAILED"), "Unknown", "restart"),
    ],
)
def test_batch_jobs(value: Any, name: str | None, next_: str) -> None:
    given = answer(value)
    assert given["tasks"][0]["class"] == name
    assert given["decision"]["next"] == next_


def test_a_stuck_batch_job() -> None:
    given = answer(batch("RUNNABLE", statusReason="MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - x"))
    assert found(given) == [("batch-job-stuck", "jobs[0].statusReason")]


def test_nodes_of_one_batch_job_are_one_gang() -> None:
    nodes = [
        {"jobId": "1#0", "jobName": "t", "status": "FAILED", "attempts": [attempt(143)]},
        {"jobId": "1#1", "jobName": "t", "status": "FAILED",
         "attempts": [attempt(137, "OutOfMemoryError: x")]},
    ]  # fmt: skip
    given = answer({"jobs": nodes})
    assert given["decision"]["next"] == "fail"
    assert [t["first_cause"] for t in given["tasks"]] == [False, True]
