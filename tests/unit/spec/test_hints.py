"""What a hint tells people to write is taken when they write it."""

from __future__ import annotations

import re

import pytest

from phalanx.errors import SpecError
from phalanx.spec.load import load
from phalanx.spec.refusal import _WRITE

JOB = "kind: train\nname: a\ncommand: [python, t.py]\n"
FIELDS = (
    "nodes: {}",
    "nodes: {{min: {}, max: 3}}",
    "nodes: {{min: 3, max: {}}}",
    "ranks_per_node: {}",
    "total_steps: {}",
    "resources: {{accelerator: {}}}",
    "resources: {{cpus: {}}}",
    "resources: {{memory: {}}}",
    "resources: {{shared_memory: {}}}",
    "checkpoint: {{every: {}}}",
    "checkpoint: {{keep: {}}}",
    "hang: {{after: {}}}",
    "stop: {{grace: {}}}",
    "elastic: {{last_call: {}}}",
    "elastic: {{grow_after: {}}}",
    "elastic: {{global_batch: {}}}",
    "restart: [{{on: [Hang], limit: {}}}]",
    "limits: {{max_runtime: {}}}",
    "limits: {{max_waiting: {}}}",
    "limits: {{max_instance_hours: {}}}",
    "limits: {{no_progress: {}}}",
    "notify: [{{command: [a], waiting_longer_than: {}}}]",
    "init_from: {{job: b, step: {}}}",
    "evidence: {{keep: {}}}",
)
VALUES = (
    *("-1", "0", "0.0", "-0.5", "'-1'", "'0'", "-1s", "0s", "-1 steps", "0 steps", "1.5", "7"),
    *("'7'", "true", "[]", "soon", "'-'", "-1GiB", "0GiB", "0kb", "0.3gb", "8gb", "123456789g"),
    *("gpu:0", "gpu:99999", "5000", "2000000", "99999999999999", "-99999999999999", "0.0000000001"),
    *("9" * 40, "999999999999d", "1e3", "0x1f"),
)


def offered(hint: str) -> list[str]:
    """The values that a hint says to write."""
    words = re.sub(r" for (?:seconds|minutes)", "", hint.partition("write ")[2])
    return [word for word in re.split(r", (?![a-z]+: )| or ", words) if word]


@pytest.mark.parametrize("field", FIELDS)
def test_no_hint_of_a_number_or_a_duration_offers_what_is_refused(field: str) -> None:
    refused = 0
    for value in VALUES:
        try:
            load(JOB + field.format(value))
        except SpecError as error:
            refused += 1
            for word in offered(error.hint):
                load(JOB + (word if word.startswith("nodes: ") else field.format(word)))
    assert refused > 10


def test_what_is_offered_is_found_in_a_hint() -> None:
    assert offered("write 5s for seconds or 5m for minutes") == ["5s", "5m"]
    assert offered('write auto, "100 steps" or 10m') == ["auto", '"100 steps"', "10m"]
    assert offered("write 4 or {min: 2, max: 4}") == ["4", "{min: 2, max: 4}"]
    assert offered("did you mean nodes?") == []


@pytest.mark.parametrize("name", ["Train Me", "LIST", "3", "_", "restore_", "ä", "x" * 40 + "Y"])
def test_a_name_for_example_is_one(name: str) -> None:
    with pytest.raises(SpecError) as refused:
        load(f"kind: train\nname: {name!r}\ncommand: [a]\n")
    example = refused.value.hint.rpartition(" ")[2]
    assert load(f"kind: train\nname: {example}\ncommand: [a]\n").spec.name == example


@pytest.mark.parametrize("text", [text for text in _WRITE.values() if "on:" not in text])
def test_the_examples_of_single_fields_are_taken(text: str) -> None:
    field = text.removeprefix("write ")
    job = {"kind": "kind: train", "name": "name: a", "command": "command: [a]"}
    job[field.partition(":")[0]] = field
    assert load("\n".join(job.values())).spec.kind == "train"
