"""Each clean file with one mistake put in: the mistake is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.lint.collect import collect
from phalanx.lint.engine import lint
from phalanx.lint.source import SourceFile

CLEAN = Path(__file__).parents[2] / "clean"
CAPACITY = "tf_gpu_service/modules/gpu_capacity/main.tf"
CASES = [
    (
        "tf_efa_training.tf",
        "for n in range(local.efa_cards) :",
        "for n in range(3) :",
        "efa-device-count",
    ),
    ("tf_efa_training.tf", '"read", "write", "mknod"', '"READ"', "device-permission-case"),
    ("tf_efa_training.tf", 'strategy = "cluster"', 'strategy = "spread"', "efa-nodes-apart"),
    ("tf_efa_training.tf", "softLimit = -1", "softLimit = 64", "efa-memlock"),
    (
        "tf_efa_training.tf",
        'network_mode             = "host"',
        'network_mode = "bridge"',
        "nccl-bridge-mode",
    ),
    (
        "tf_efa_training.tf",
        'name = "NCCL_DEBUG", value = "WARN"',
        'name = "NCCL_PROTO", value = "Simple"',
        "nccl-proto-legacy",
    ),
    ("tf_efa_training.tf", 'value = "en"', 'value = "docker0"', "nccl-socket-ifname"),
    ("tf_efa_training.tf", 'value = "efa" }', 'value = "tcp" }', "fi-values"),
    ("tf_efa_training.tf", "efa_cards = 4", "efa_cards = 5", "efa-interfaces-of-type"),
    ("tf_efa_training.tf", "cpu        = 94208", "cpu        = 131072", "cpu-above-type"),
    ("tf_efa_training.tf", "memory     = 1105920", "memory     = 1179648", "memory-no-headroom"),
    (
        "tf_efa_training.tf",
        '{ type = "GPU", value = "8" }',
        '{ type = "GPU", value = "16" }',
        "gpu-count-above-type",
    ),
    (
        "tf_efa_training.tf",
        "--shutdown-timeout 100",
        "--shutdown-timeout 10",
        "launcher-grace-below-stop-timeout",
    ),
    (
        "tf_efa_training.tf",
        'ERROR_HANDLING", value = "1"',
        'ERROR_HANDLING", value = "0"',
        "process-group-timeout-missing",
    ),
    (
        "cfn_capacity_block.yaml",
        "  FabricOut:\n    Type: AWS::EC2::SecurityGroupEgress",
        "  FabricOut:\n    Type: AWS::EC2::EIP",
        "efa-security-group-self",
    ),
    (
        "cfn_capacity_block.yaml",
        "InterfaceType: efa, Groups",
        "InterfaceType: efa-only, Groups",
        "efa-interfaces-of-type",
    ),
    (
        "cfn_capacity_block.yaml",
        "amazon-linux-2023/gpu/",
        "amazon-linux-2023/",
        "host-registers-without-gpu",
    ),
    (
        "cfn_capacity_block.yaml",
        "ECS_ENABLE_GPU_SUPPORT=true",
        "ECS_ENABLE_GPU_SUPPORT=false",
        "host-registers-without-gpu",
    ),
    (
        "cfn_training_events.yaml",
        "lastStatus: [STOPPED]",
        "desiredStatus: [STOPPED]",
        "event-rule-desired-status",
    ),
    ("cfn_training_events.yaml", "group: [!Sub", "tags: [!Sub", "event-rule-on-tags"),
    (
        "cfn_training_events.yaml",
        "instance-type == g5.12xlarge",
        "instance-type == g5.*",
        "placement-expression-matches-nothing",
    ),
    (
        "cfn_training_events.yaml",
        "StopTimeout: 120",
        "StopTimeout: 120\n          RestartPolicy: {Enabled: true}",
        "restart-policy-on-rank",
    ),
    (
        "cfn_training_events.yaml",
        "RequiresCompatibilities: [EC2]",
        "RequiresCompatibilities: [FARGATE]",
        "fargate-gpu",
    ),
    (
        "cdk_gpu_inference.template.json",
        '"CapacityProviderStrategy": [{',
        '"LaunchType": "EC2", "CapacityProviderStrategy": [{',
        "launch-type-beside-strategy",
    ),
    (
        "cdk_gpu_inference.template.json",
        '"Type": "GPU", "Value": "1"',
        '"Type": "GPU", "Value": "2"',
        "gpu-count-above-type",
    ),
    (
        "cdk_managed_instances.template.json",
        '["MANAGED_INSTANCES"]',
        '["EC2"]',
        "compatibility-not-of-capacity",
    ),
    (
        "cdk_managed_instances.template.json",
        '"Type": "GPU", "Value": "1"',
        '"Type": "NeuronDevice", "Value": "1"',
        "neuron-device-value",
    ),
    (
        "cdk_managed_instances.template.json",
        '["g6.2xlarge"]',
        '["inf1.*"]',
        "neuron-type-out-of-scope",
    ),
    (
        "batch_multinode.json",
        '["READ", "WRITE", "MKNOD"]',
        '["read", "WRITE", "MKNOD"]',
        "device-permission-case",
    ),
    (
        "batch_multinode.json",
        '"name": "NCCL_DEBUG"',
        '"name": "AWS_BATCH_JOB_NODE_INDEX"',
        "batch-reserved-variable",
    ),
    ("batch_multinode.json", '"VCPU", "value": "90"', '"VCPU", "value": "128"', "cpu-above-type"),
    (
        "tf_inferentia.tf",
        'hostPath      = "/dev/neuron0"',
        'hostPath = "/dev/neuron1"',
        "neuron-device-count",
    ),
    ("tf_inferentia.tf", "amazon-linux-2023/neuron/", "amazon-linux-2023/gpu/", "neuron-ami"),
    (
        "tf_inferentia.tf",
        '"serve", "--compiled-model", ',
        '"serve", "--compile", ',
        "neuron-compile-at-start",
    ),
    (
        "tf_fargate_rag.tf",
        "linuxParameters = { initProcessEnabled = true }",
        "linuxParameters = { sharedMemorySize = 64 }",
        "fargate-invalid-parameter",
    ),
    (
        "tf_fargate_rag.tf",
        "    essential    = true",
        "    essential    = true\n    privileged   = true",
        "fargate-privileged",
    ),
    (
        "tf_fargate_rag.tf",
        'compatibilities = ["FARGATE"]',
        'compatibilities = ["EC2"]',
        "compatibility-not-of-capacity",
    ),
    (CAPACITY, "mkfs.xfs", "nvidia-smi -mig 1\n    mkfs.xfs", "mig-without-scheduler"),
    (CAPACITY, "mkfs.xfs", "dnf install -y nvidia-driver\n    mkfs.xfs", "driver-updated-in-place"),
    ("tf_gpu_service/main.tf", '"g6e.2xlarge"', '"g6f.2xlarge"', "fractional-gpu-driver"),
    (
        "tf_gpu_service/main.tf",
        '{ type = "GPU", value = "1" }',
        '{ type = "GPU", value = "one" }',
        "gpu-value",
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "slug"), CASES)
def test_one_mistake_is_found(name: str, old: str, new: str, slug: str) -> None:
    files = collect([str(CLEAN / name.partition("/")[0])])
    texts = [f.text.replace(old, new, 1) if f.name == str(CLEAN / name) else f.text for f in files]
    assert texts != [f.text for f in files]
    broken = [
        SourceFile(f.name, text, named=f.named, data_only=f.data_only)
        for f, text in zip(files, texts, strict=True)
    ]
    loud = {f.slug for f in lint(broken).findings if f.severity.value != "info"}
    assert slug in loud
