"""Multi-node Batch jobs on Spot."""

from __future__ import annotations

import json

from tests.support.linting import only

SLUG = "batch-multi-node-on-spot"
TEXT = """
resource "aws_batch_compute_environment" "e" {
  compute_resources { type = "SPOT" }
}
resource "aws_batch_job_definition" "j" {
  name            = "j"
  type            = "multinode"
  node_properties = jsonencode({ numNodes = 2, mainNode = 0, nodeRangeProperties = [] })
}
"""


def test_terraform() -> None:
    where = "aws_batch_job_definition.j.node_properties"
    assert only(SLUG, TEXT, "m.tf") == [("error", where)]
    assert only(SLUG, TEXT.replace('"SPOT"', '"EC2"'), "m.tf") == []
    assert only(SLUG, TEXT.replace('"SPOT"', "var.kind"), "m.tf") == []
    assert (
        only(SLUG, TEXT.replace('"multinode"', '"container"').replace("node_p", "x"), "m.tf") == []
    )


def test_a_queue_that_names_another_environment() -> None:
    queue = """
    resource "aws_batch_job_queue" "q" {
      compute_environment_order {
        order               = 1
        compute_environment = "arn:aws:batch:eu-west-1:1:compute-environment/other"
      }
    }
    """
    assert only(SLUG, TEXT + queue, "m.tf") == []


def test_a_tag_alone_is_a_warning() -> None:
    job = {
        "jobDefinitionName": "j",
        "type": "multinode",
        "nodeProperties": {"numNodes": 4, "mainNode": 0, "nodeRangeProperties": []},
        "tags": {"capacity": "spot"},
    }
    assert only(SLUG, json.dumps(job)) == [("warning", "nodeProperties")]
    assert only(SLUG, json.dumps({**job, "tags": {}})) == []
