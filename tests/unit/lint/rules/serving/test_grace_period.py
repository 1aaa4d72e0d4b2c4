"""Grace periods of load-balanced model servers."""

from __future__ import annotations

import json

from tests.support.linting import report, task

SLUG = "lb-no-grace-period"
BALANCED = {"loadBalancers": [{"targetGroupArn": "arn", "containerPort": 80}]}


def grace(definition: str, **service: object) -> list[str]:
    whole = {"serviceName": "s", "taskDefinition": "t", **service}
    files = (("t.json", definition), ("s.json", json.dumps(whole)))
    return [f.where for f in report(*files).findings if f.slug == SLUG]


def test_missing_or_zero() -> None:
    assert grace(task(), **BALANCED) == ["healthCheckGracePeriodSeconds"]
    assert grace(task(), **BALANCED, healthCheckGracePeriodSeconds=0) == [
        "healthCheckGracePeriodSeconds"
    ]


def test_given_or_not_needed() -> None:
    assert grace(task(), **BALANCED, healthCheckGracePeriodSeconds=900) == []
    assert grace(task()) == []
    assert grace(task({"resourceRequirements": []}), **BALANCED) == []
    assert grace(task(family="other"), **BALANCED) == []


def test_neuron_counts_as_an_accelerator() -> None:
    devices = {"linuxParameters": {"devices": [{"hostPath": "/dev/neuron0"}]}}
    definition = task({"resourceRequirements": [], **devices})
    assert grace(definition, **BALANCED) == ["healthCheckGracePeriodSeconds"]
