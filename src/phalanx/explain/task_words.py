"""The words of findings about tasks, by the name of the sign that the classifier recognised."""

from __future__ import annotations

from phalanx.explain import pages
from phalanx.explain.model import ERROR, INFO, WARNING, Words

DUPLICATE = Words(
    "EVT001",
    "duplicate-ignored",
    INFO,
    "these deliveries tell nothing new and change no decision",
    "Events are delivered at least once. One `detail.version` is one state; a later version of a "
    "task that had already stopped tells the same ending again.",
    "Key what you do by (job, attempt, task) and not by delivery, write that down with a "
    "conditional write before acting, and give RunTask a client token.",
    (pages.EVENT_HANDLING, pages.TASK_EVENTS),
)
LATE = Words(
    "EVT002",
    "late-delivery-ignored",
    INFO,
    "these deliveries are older than what was already known",
    "Events are not delivered in order; `detail.version` is the order.",
    "Compare `detail.version` with the highest one seen for the task, and drop what is lower.",
    (pages.TASK_EVENTS,),
)
STRAY = Words(
    "EVT003",
    "task-of-no-job",
    INFO,
    "the task belongs to no attempt that the file describes; it changes no decision",
    "A late event of an earlier attempt must not restart the present one.",
    "",
    (pages.EVENT_HANDLING,),
)
SIGTERM = Words(
    "TSK001",
    "sigterm-not-handled",
    WARNING,
    "the task was asked to stop and ended by SIGKILL: its process did not handle SIGTERM in time",
    "StopTask sends the image's stop signal (SIGTERM), waits stopTimeout (30 s unless set) and "
    "then kills. A shell as first process, or a trainer without a handler, loses its last save.",
    "Handle SIGTERM in the trainer, start it with `exec` or initProcessEnabled, and set "
    "stopTimeout longer than one save.",
    (pages.STOP_TASK,),
)
UNKNOWN_CODE = Words(
    "TSK002",
    "unknown-stop-code",
    INFO,
    "the stop code is none of those that ECS documents; the class stays Unknown",
    "New stop codes appear before their documentation does. Guessing a meaning would decide "
    "wrongly for somebody.",
    "Read stoppedReason and the container reasons yourself.",
    (pages.TASK_SHAPE,),
)

SIDE_ENDED = Words(
    "TSK033",
    "side-container-ended-task",
    ERROR,
    "another container of the task ended, and the training was stopped with it",
    "When an essential container ends, ECS stops all the others: SIGTERM, then SIGKILL. The "
    "training's exit code 143 or 137 is the answer to that and no failure of its own.",
    "Read that container's log first. Set `essential` to false for a container that the training "
    "can do without.",
    (pages.STOP_CODES,),
)
SIDE_FAILED = Words(
    "TSK034",
    "side-container-failed",
    WARNING,
    "another container of the task ended badly; the training itself exited 0",
    "What it forwards or measures (logs, metrics, traffic) may be missing from then on.",
    "Read that container's log, and give it more memory if memory ended it.",
    (pages.STOP_CODES,),
)

UNHEALTHY = Words(
    "CAP011",
    "service-health-check-failing",
    WARNING,
    "tasks of the service are stopped because a health check fails",
    "A model that loads longer than the grace period is killed while it loads.",
    "Compare the time to load with the service's health-check grace period, then look at the "
    "container's log.",
    (pages.STOP_CODES,),
)

BY_SIGN: dict[str, Words] = {
    words.slug: words
    for words in (
        UNHEALTHY,
        Words(
            "TSK010",
            "container-out-of-memory",
            ERROR,
            "the container was killed because it used more memory than it may",
            "Exit code 137 is SIGKILL; the container's reason says that the kernel sent it for "
            "memory. The same step needs the same memory again.",
            "Raise `memory` (or the container's limit) or use less: fewer loader workers, smaller "
            "batches, offloading turned off. Then start again from the last complete checkpoint.",
            (pages.STOP_CODES,),
        ),
        Words(
            "TSK011",
            "diagnose-disk-full",
            ERROR,
            "the host's disk was full before the container could start",
            "Image layers are downloaded and unpacked on the root volume, and old images stay "
            "until they are cleaned up. It is neither the network nor permissions.",
            "Give the launch template a larger gp3 root volume (room for two versions of the image "
            "and what the job writes), use a smaller image, and clean up images earlier "
            "(ECS_IMAGE_CLEANUP_INTERVAL, ECS_IMAGE_MINIMUM_CLEANUP_AGE). Replace the hosts: the "
            "same host stays full.",
            (pages.PULL, pages.AGENT_CONFIG),
        ),
        Words(
            "TSK012",
            "driver-too-old-for-image",
            ERROR,
            "the image asks for a newer GPU driver than the host has",
            "The image declares a minimum CUDA level and the container hook refuses to start it on "
            "an older driver. Every host of the same machine image answers alike.",
            "Move the hosts to a newer release of the ECS GPU-optimized AMI (new launch-template "
            "version, then an instance refresh), or build the image on an older CUDA. Never update "
            "drivers in place.",
            (pages.GPU, pages.AMI),
        ),
        Words(
            "TSK013",
            "driver-not-loaded",
            ERROR,
            "the host's GPU driver is not loaded, or the NVIDIA container runtime is missing",
            "The container hook cannot talk to the driver: a machine image without it, a kernel "
            "update without its module, or a driver that was updated in place.",
            "Use the ECS GPU-optimized AMI and replace the host instead of repairing it.",
            (pages.GPU, pages.AMI),
        ),
        Words(
            "TSK014",
            "fabric-manager-not-ready",
            ERROR,
            "CUDA reports that the system is not ready (802): the GPU fabric is not up",
            "Hosts with NVSwitch need the fabric manager in exactly the driver's version. This is "
            "not an old driver: the container starts and then fails inside CUDA.",
            "Take a machine image whose fabric manager matches its driver, see that the service "
            "runs before the agent, and replace the host.",
            (pages.GPU, pages.AMI),
        ),
        Words(
            "TSK015",
            "gpu-vanished",
            ERROR,
            "a GPU that was assigned to the container is not there any more",
            "The agent reads the list of GPUs once, at its start; a GPU that fell off the bus "
            "stays on that list.",
            "Take the host out of service, read its kernel log for an Xid, and run elsewhere.",
            (pages.AGENT_CONFIG, pages.XID),
        ),
        Words(
            "TSK016",
            "device-missing-on-host",
            ERROR,
            "a device of the container's device map does not exist on the host",
            "The map names more devices than the instance type has, or its driver is missing.",
            "Map exactly the devices of this instance type, and see that the machine image has "
            "their driver.",
            (pages.START, pages.EFA),
        ),
        Words(
            "TSK017",
            "image-not-found",
            ERROR,
            "the image or its tag does not exist",
            "The registry answered; what was asked for is not in it.",
            "Correct the image's name or tag. If the repository is private, the registry "
            "answers the same to somebody who is not signed in: let the execution role (or the "
            "host's role) read it, or set repositoryCredentials.",
            (pages.PULL,),
        ),
        Words(
            "TSK027",
            "image-wrong-architecture",
            ERROR,
            "the image is not built for the architecture of the host",
            "The host asks for its own platform (linux/arm64 or linux/amd64), and the image has no "
            "manifest for it, or holds programs of the other one.",
            "Build the image for the host's platform (`docker buildx build --platform "
            "linux/amd64,linux/arm64`), or set runtimePlatform.cpuArchitecture and the instance "
            "type to the platform that the image has.",
            (pages.PULL,),
        ),
        Words(
            "TSK026",
            "secret-access-denied",
            ERROR,
            "the execution role may not read a secret of the task",
            "The agent fetches `secrets` with the execution role (executionRoleArn), not with the "
            "task role, before any container starts.",
            "Let the execution role read it: secretsmanager:GetSecretValue for Secrets Manager, "
            "ssm:GetParameters for Parameter Store, and kms:Decrypt when a key of your own "
            "encrypts it. Look at the secret's and the key's own policies too.",
            (pages.STOP_CODES,),
        ),
        Words(
            "TSK018",
            "image-pull-rate-limited",
            WARNING,
            "the registry refused the pull because too many were made",
            "Public registries limit anonymous pulls by address.",
            "Use a pull-through cache or a registry of your own, or sign in.",
            (pages.PULL,),
        ),
        Words(
            "TSK019",
            "image-pull-denied",
            ERROR,
            "the registry refused access to the image",
            "The execution role (or the host's role) may not read this repository, or there is no "
            "sign-in for a private registry.",
            "Give the execution role read access to the repository, or set repositoryCredentials.",
            (pages.PULL,),
        ),
        Words(
            "TSK020",
            "image-pull-network",
            WARNING,
            "the registry could not be reached from the host",
            "The pull ended in a time-out or a broken connection.",
            "Check the route from the task's subnet to the registry.",
            (pages.PULL,),
        ),
        Words(
            "TSK021",
            "image-pull-failed",
            ERROR,
            "the image could not be pulled, for a reason that is not known here",
            "",
            "Read the whole reason, and pull the image by hand on the same host.",
            (pages.PULL,),
        ),
        Words(
            "TSK022",
            "capacity-unavailable",
            WARNING,
            "there was nothing free that could run the task",
            "",
            "Wait and ask again with pauses, or allow another zone, type or purchase option; look "
            "at the quota of the family first.",
            (pages.RUN_TASK_FAILURES, pages.CAPACITY_PROVIDERS),
        ),
        Words(
            "TSK023",
            "start-timed-out",
            WARNING,
            "the container runtime did not create or start the container in time",
            "A busy disk or a large image makes Docker slower than the agent waits.",
            "Raise ECS_CONTAINER_START_TIMEOUT or ECS_CONTAINER_CREATE_TIMEOUT, or use a faster "
            "root volume.",
            (pages.AGENT_CONFIG,),
        ),
        Words(
            "TSK024",
            "task-init-failed",
            WARNING,
            "a resource of the task (network interface, secret, volume, log group) was not set up",
            "",
            "The text after ResourceInitializationError names the resource; check the execution "
            "role and the way to it.",
            (pages.STOP_CODES,),
        ),
        Words(
            "TSK025",
            "container-cannot-start",
            ERROR,
            "the container runtime refused to start the container",
            "A missing command, a wrong mount or a wrong entry point fails in the same way "
            "everywhere.",
            "Correct the command, mount or option that the reason names.",
            (pages.START,),
        ),
    )
}
