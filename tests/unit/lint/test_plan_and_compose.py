"""Plans, compose files, job files, API inputs."""

from __future__ import annotations

import json
import textwrap

import pytest

from phalanx.errors import InputError
from tests.support.linting import found, only, report


def plan() -> dict[str, object]:
    group = {
        "name": "g",
        "mixed_instances_policy": [
            {
                "launch_template": [
                    {"override": [{"instance_type": "g5.xlarge", "weighted_capacity": "2"}]}
                ]
            }
        ],
    }
    provider = {"name": "p", "auto_scaling_group_provider": [{"managed_scaling": []}]}

    def resource(kind: str, name: str, values: object) -> dict[str, object]:
        return {
            "address": f"{kind}.{name}",
            "mode": "managed",
            "type": kind,
            "name": name,
            "values": values,
        }

    return {
        "format_version": "1.2",
        "planned_values": {
            "root_module": {
                "resources": [
                    resource("aws_autoscaling_group", "g", group),
                    resource("aws_ecs_capacity_provider", "p", provider),
                ]
            }
        },
        "resource_changes": [
            {
                "address": "aws_ecs_capacity_provider.p",
                "change": {
                    "after_unknown": {
                        "auto_scaling_group_provider": [{"auto_scaling_group_arn": True}]
                    }
                },
            }
        ],
        "configuration": {
            "root_module": {
                "resources": [
                    {
                        "address": "aws_ecs_capacity_provider.p",
                        "expressions": {
                            "auto_scaling_group_provider": [
                                {
                                    "auto_scaling_group_arn": {
                                        "references": [
                                            "aws_autoscaling_group.g.arn",
                                            "aws_autoscaling_group.g",
                                        ]
                                    }
                                }
                            ]
                        },
                    }
                ]
            }
        },
    }


def test_a_plan_links_what_is_only_known_after_apply() -> None:
    text = json.dumps(plan(), indent=1)
    where = "aws_autoscaling_group.g.mixed_instances_policy"
    assert only("asg-weights-with-capacity-provider", text, "plan.json") == [("error", where)]
    (finding,) = [f for f in report(("plan.json", text)).findings if f.where == where]
    assert text.splitlines()[finding.line - 1].strip().startswith('"mixed_instances_policy"')


def test_a_compose_file_with_a_gpu_is_read() -> None:
    text = textwrap.dedent("""
        services:
          train:
            image: a:1
            command: python -m vision.train --num-workers 8
            environment:
              - HF_TOKEN=hf_abcdefghijklmnopqrst
              - OTHER=${FROM_SHELL}
            deploy:
              resources:
                reservations:
                  devices:
                    - driver: nvidia
                      count: 1
                      capabilities: [gpu]
        """)
    triples = found(text, "compose.yaml")
    assert ("secret-in-env", "error", "services.train.environment[0]") in triples
    assert ("shm-default-with-loader", "warning", "services.train.shm_size") in triples
    larger = text.replace("    image", "    shm_size: 8gb\n    image")
    assert only("shm-default-with-loader", larger, "compose.yaml") == []


def test_a_compose_file_without_a_gpu_is_left_alone() -> None:
    text = "services: {db: {image: postgres, environment: {POSTGRES_PASSWORD: abcdef}}}"
    assert found(text, "compose.yaml") == []
    both = text.replace("services: {", "services: {a: {image: 'a:1', gpus: all}, ")
    assert [severity for _, severity, _ in found(both, "compose.yaml")] == ["info"]


def test_a_list_of_containers_is_read() -> None:
    text = json.dumps([{"name": "a", "image": "a", "command": ["torchrun", "$RANK"]}])
    assert only("exec-form-env-not-expanded", text) == [("error", "[0].command[1]")]


def test_a_job_file_is_read() -> None:
    text = textwrap.dedent("""
        kind: train
        name: a
        command: [python, train.py]
        nodes: 2
        env: {NCCL_PROTO: simple}
        resources: {accelerator: "H100:8", efa: true}
        """)
    assert found(text, "job.yaml") == [("nccl-proto-legacy", "warning", "env.NCCL_PROTO")]


def test_a_service_and_its_task_definition_in_two_files() -> None:
    task = {
        "family": "llm",
        "containerDefinitions": [
            {"name": "a", "resourceRequirements": [{"type": "GPU", "value": "1"}]}
        ],
    }
    service = {
        "serviceName": "llm",
        "taskDefinition": "llm:3",
        "loadBalancers": [{"targetGroupArn": "arn:x", "containerPort": 8000}],
    }
    findings = report(("t.json", json.dumps(task)), ("s.json", json.dumps(service))).findings
    assert [(f.slug, f.file, f.where) for f in findings] == [
        ("lb-no-grace-period", "s.json", "healthCheckGracePeriodSeconds")
    ]


def test_a_link_into_a_template_with_conditions() -> None:
    template = (
        "Parameters: {A: {Type: String, Default: x}}\n"
        "Conditions: {C: !Equals [!Ref A, y]}\n"
        "Resources:\n  T:\n    Type: AWS::ECS::TaskDefinition\n    Properties:\n"
        "      Family: llm\n      ContainerDefinitions:\n"
        "        - {Name: a, ResourceRequirements: [{Type: GPU, Value: '1'}]}\n"
    )
    service = {
        "serviceName": "llm",
        "taskDefinition": "llm",
        "loadBalancers": [{"targetGroupArn": "arn:x", "containerPort": 8000}],
    }
    findings = report(("t.yaml", template), ("s.json", json.dumps(service))).findings
    assert [f.slug for f in findings] == ["lb-no-grace-period"]


def test_overrides_of_run_task_are_environments() -> None:
    text = json.dumps(
        {
            "taskDefinition": "t",
            "overrides": {
                "containerOverrides": [
                    {"name": "a", "environment": [{"name": "NCCL_PROTO", "value": "Simple"}]}
                ]
            },
        }
    )
    where = "overrides.containerOverrides[0].environment[0]"
    assert only("nccl-proto-legacy", text) == [("warning", where)]


@pytest.mark.parametrize("key", ["tasks", "containerInstances", "events", "Activities"])
def test_evidence_names_the_verb_that_reads_it(key: str) -> None:
    with pytest.raises(InputError, match="evidence") as error:
        report(("e.json", json.dumps({key: []})))
    assert "phalanx explain" in error.value.hint


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(InputError, match="none of the kinds"):
        report(("e.json", '{"a": 1}'))
    with pytest.raises(InputError, match="does not read this kind"):
        report(("e.txt", "a"))
