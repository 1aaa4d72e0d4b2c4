"""More ranks on a host than GPUs asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.linting import environment, only, task

RANKS = "ranks-above-gpus"
COMMAND = "containerDefinitions[0].command"


def needs(count: str) -> dict[str, Any]:
    return {"resourceRequirements": [{"type": "GPU", "value": count}]}


@pytest.mark.parametrize(
    ("command", "gpus", "severity"),
    [
        ("vllm serve a/b --tensor-parallel-size 4", "1", "error"),
        ("vllm serve a/b --tensor-parallel-size=4", "2", "error"),
        ("vllm serve a/b -tp 4", "4", ""),
        ("vllm serve a/b -tp 2 -pp 2", "2", "error"),
        ("vllm serve a/b -tp 2 --pipeline-parallel-size 2", "4", ""),
        ("python -m vllm.entrypoints.openai.api_server --tensor-parallel-size 2", "1", "error"),
        ("python -m sglang.launch_server --tp 8", "4", "error"),
        ("text-generation-launcher --num-shard 2", "1", "error"),
        ("vllm serve a/b --tensor-parallel-size 16 --distributed-executor-backend ray", "8", ""),
        ("python -m sglang.launch_server --tp 16 --nnodes 2 --node-rank 0", "8", ""),
        ("vllm serve a/b --tensor-parallel-size $TP", "1", ""),
        ("vllm serve a/b --tensor-parallel-size 4", "ALL", ""),
        ("torchrun --nproc-per-node=8 t.py", "1", "warning"),
        ("torchrun --nnodes=2 --nproc_per_node 8 t.py", "4", "warning"),
        ("torchrun --nproc-per-node=gpu t.py", "1", ""),
        ("torchrun --nproc-per-node=8 t.py", "8", ""),
        ("python own.py --tensor-parallel-size 4", "1", ""),
    ],
)
def test_ranks(command: str, gpus: str, severity: str) -> None:
    held = {"command": command.split(), **needs(gpus)}
    assert only(RANKS, task(held)) == ([(severity, COMMAND)] if severity else [])


def test_variables_and_cards_that_are_shown_all_the_same() -> None:
    command = {"command": ["sh", "-c", "exec vllm serve a/b --tensor-parallel-size ${TP:-4}"]}
    assert only(RANKS, task({**command, **needs("1")})) == [("error", COMMAND)]
    held = {**command, **needs("1"), **environment(TP="1")}
    assert only(RANKS, task(held)) == []
    shown = {**command, **needs("1"), **environment(NVIDIA_VISIBLE_DEVICES="all")}
    assert only(RANKS, task(shown)) == []
    assert only(RANKS, task({**command, "resourceRequirements": []})) == []
    assert only(RANKS, task({**command, **needs("1"), "privileged": True})) == []


def test_shards_of_the_environment() -> None:
    image = {"image": "ghcr.io/huggingface/text-generation-inference:3.0"}
    held = {**image, **needs("1"), **environment(NUM_SHARD="4")}
    where = "containerDefinitions[0].environment[0]"
    assert only(RANKS, task(held)) == [("error", where)]
    assert only(RANKS, task({**held, **needs("4")})) == []


def test_a_compose_service() -> None:
    text = """
services:
  llm:
    image: vllm/vllm-openai:v0.9.0
    command: --model a/b --tensor-parallel-size 4
    deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: COUNT}]}}}
"""
    where = "services.llm.command"
    assert only(RANKS, text.replace("COUNT", "1"), "compose.yaml") == [("error", where)]
    for right in ("4", "all", "'${GPUS}'"):
        assert only(RANKS, text.replace("COUNT", right), "compose.yaml") == []
