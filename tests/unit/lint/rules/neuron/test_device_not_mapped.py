"""Neuron devices on EC2."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.linting import environment, only, task

SLUG = "neuron-device-not-mapped"
WHERE = "containerDefinitions[0].linuxParameters.devices"
WISH = {**environment(AWS_NEURON_VISIBLE_DEVICES="ALL"), "resourceRequirements": []}
MAP = {"linuxParameters": {"devices": [{"hostPath": "/dev/neuron0"}]}}
PIN = [{"type": "memberOf", "expression": "attribute:ecs.instance-type == inf2.xlarge"}]


def test_a_wish_without_a_device() -> None:
    assert only(SLUG, task(WISH)) == [("error", WHERE)]
    assert only(SLUG, task({**WISH, **environment(NEURON_RT_NUM_CORES="2")})) == [("error", WHERE)]


def test_an_image_on_a_neuron_type() -> None:
    image = {"image": "example/neuron-server:1", "resourceRequirements": []}
    assert only(SLUG, task(image, placementConstraints=PIN)) == [("error", WHERE)]
    assert only(SLUG, task(image)) == []


@pytest.mark.parametrize(
    "container",
    [
        {**WISH, **MAP},
        {**WISH, "privileged": True},
        {**WISH, "resourceRequirements": [{"type": "NeuronDevice", "value": "ALL"}]},
        {"resourceRequirements": []},
    ],
)
def test_mapped_or_not_wished_for(container: dict[str, Any]) -> None:
    assert only(SLUG, task(container)) == []


def test_managed_instances_have_a_form_of_their_own() -> None:
    assert only(SLUG, task(WISH, requiresCompatibilities=["MANAGED_INSTANCES"])) == []
