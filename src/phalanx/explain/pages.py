"""Pages that say so, with the day on which the facts room last saw them checked."""

from __future__ import annotations

from phalanx.explain.model import Source

_ECS = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide"
_API = "https://docs.aws.amazon.com/AmazonECS/latest/APIReference"

TASK_EVENTS = Source(f"{_ECS}/ecs_task_events.html", "2026-05-20")
EVENT_HANDLING = Source(f"{_ECS}/ecs_cwet_handling.html", "undated")
STOP_CODES = Source(f"{_ECS}/stopped-task-error-codes.html", "2023-06-15")
TASK_SHAPE = Source(f"{_API}/API_Task.html", "2026-05-20")
STOP_TASK = Source(f"{_API}/API_StopTask.html", "2026-05-20")
RUN_TASK = Source(f"{_API}/API_RunTask.html", "2026-05-20")
RUN_TASK_FAILURES = Source(f"{_ECS}/api_failures_messages.html", "undated")
STANDALONE = Source(f"{_ECS}/standalone-tasks.html", "2026-07-10")
SPOT_STOP = Source(f"{_ECS}/container-instance-spot.html", "2026-06-29")
GPU = Source(f"{_ECS}/ecs-gpu.html", "2026-07-10")
AGENT_CONFIG = Source(f"{_ECS}/ecs-agent-config.html", "2026-06-29")
AMI = Source(f"{_ECS}/ecs-optimized_AMI.html", "2026-07-10")
CAPACITY_PROVIDERS = Source(f"{_ECS}/asg-capacity-providers.html", "2026-07-10")
SCALING = Source(f"{_ECS}/managed-scaling-behavior.html", "2026-07-10")
MI_PATCHING = Source(f"{_ECS}/managed-instances-patching.html", "2026-07-10")
MI = Source(f"{_ECS}/ManagedInstances.html", "2026-07-10")
MI_DRAIN = Source(
    "https://docs.aws.amazon.com/batch/latest/userguide/ecs-managed-instances-instance-draining.html",
    "undated",
)
HEALTH = Source(f"{_API}/API_AutoRepairConfiguration.html", "2026-05-20")
FARGATE = Source(f"{_ECS}/fargate-tasks-services.html", "2026-07-10")
PULL = Source(f"{_ECS}/task_cannot_pull_image.html", "undated")
START = Source(f"{_ECS}/cannot-start-container.html", "undated")
SPOT_LIMITS = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html", "undated"
)
VCPU_LIMITS = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances-limits.html",
    "undated",
)
SPOT_ADVICE = Source("https://aws.amazon.com/ec2/spot/instance-advisor/", "2026-07-10")
GUARDDUTY_MI = Source(
    "https://docs.aws.amazon.com/guardduty/latest/ug/guardduty_managed-instances.md", "undated"
)
BLOCKS = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-how.html", "undated"
)
BATCH_RETRY = Source(
    "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html", "undated"
)
BATCH_STUCK = Source(
    "https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html", "undated"
)
XID = Source("https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html", "undated")
NCCL_ENV = Source("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", "undated")
EFA = Source("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html", "2026-07-10")
TORCH_MEMORY = Source("https://docs.pytorch.org/docs/stable/notes/cuda.html", "undated")
TORCH_DISTRIBUTED = Source("https://docs.pytorch.org/docs/stable/distributed.html", "undated")
KERNEL_OOM = Source("https://docs.kernel.org/admin-guide/mm/concepts.html", "undated")
ATOMIC_SAVE = Source("https://github.com/huggingface/transformers/issues/35782", "undated")
PUBLISHERS = Source("https://github.com/huggingface/transformers/issues/28015", "undated")
