"""What lines of logs say: each kind of line once, with words of its own.

The table names what a line shows. Which of several lines was the cause is decided by the one
classifier of the verdict room: by kind before order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from phalanx.explain import pages
from phalanx.explain.model import ERROR, INFO, WARNING, Words
from phalanx.explain.task_words import BY_SIGN
from phalanx.words import FailureClass


@dataclass(frozen=True)
class Line:
    """One kind of line."""

    words: Words
    pattern: re.Pattern[str]
    failure: FailureClass | None = None
    """What it means for the process that wrote it; None for a remark."""


def _line(
    words: Words, pattern: str, failure: FailureClass | None = None, flags: int = re.IGNORECASE
) -> Line:
    return Line(words, re.compile(pattern, flags), failure)


XID_PROGRAM = Words(
    "LOG001",
    "gpu-xid-program",
    ERROR,
    "the GPU driver reported an error whose first suspect is the program",
    "",
    "Run one step with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to find the kernel; if other "
    "programs fail on the same GPU as well, suspect the GPU.",
    (pages.XID,),
)
XID_HARDWARE = Words(
    "LOG002",
    "gpu-xid-hardware",
    ERROR,
    "the GPU driver reported an error of the hardware",
    "",
    "Take the host out of service and replace it, then go on from the last complete checkpoint "
    "on another host.",
    (pages.XID,),
)
XID_OTHER = Words(
    "LOG003",
    "gpu-xid",
    WARNING,
    "the GPU driver reported an error whose number is not in the table here",
    "",
    "Look the number up in the catalogue of Xid errors.",
    (pages.XID,),
)
XID_CONSEQUENCE = Words(
    "LOG004",
    "gpu-xid-consequence",
    INFO,
    "the GPU driver cleaned up after something else",
    "",
    "Look for what came before it.",
    (pages.XID,),
)
XID_NOTICE = Words(
    "LOG005",
    "gpu-xid-notice",
    WARNING,
    "the GPU driver gave a notice that ends no process by itself",
    "",
    "Look for the Xid that came with it. Reset the GPU or replace the host before its next job, "
    "and watch whether it comes again.",
    (pages.XID,),
)
XID = re.compile(r"NVRM: Xid\s*\([^)]*\):\s*(?P<number>\d{1,4})", re.IGNORECASE)
OFF_BUS = re.compile(r"fallen off the bus|\bGPU is lost\b", re.IGNORECASE)
"""The driver's other words for Xid 79."""
NO_EFA = Words(
    "LOG020",
    "nccl-not-using-efa",
    WARNING,
    "NCCL did not find EFA and goes over sockets",
    "Without the EFA devices in the container, or without the plugin, NCCL falls back to "
    "TCP and runs many times slower.",
    "Map every /dev/infiniband/uverbs device, set an unlimited memlock, and see that the "
    "image has libfabric and the NCCL network plugin.",
    (pages.EFA, pages.NCCL_ENV),
)

LINES: tuple[Line, ...] = (
    _line(
        Words(
            "LOG010",
            "kernel-oom-kill",
            ERROR,
            "the kernel killed a process because memory ran out",
            "The process itself cannot say so: it is gone without a word, with SIGKILL (137).",
            "Give the container or host more memory, or use less: fewer loader workers, smaller "
            "batches, no copies of the data set per rank.",
            (pages.KERNEL_OOM, pages.STOP_CODES),
        ),
        r"Out of memory: Kill(?:ed)? process|Memory cgroup out of memory|oom-kill:"
        r"|oom_reaper: reaped",
        FailureClass.OUT_OF_MEMORY,
    ),
    _line(
        Words(
            "LOG011",
            "cuda-out-of-memory",
            ERROR,
            "a GPU ran out of memory",
            "Parameters, gradients, optimizer state and activations of one rank do not fit at "
            "once. The same step needs the same memory again.",
            "Smaller micro-batch with gradient accumulation, activation checkpointing, or "
            "sharding (FSDP). If much is reserved but not allocated, try "
            "PYTORCH_ALLOC_CONF=expandable_segments:True.",
            (pages.TORCH_MEMORY,),
        ),
        r"CUDA out of memory|OutOfMemoryError: |CUDA_ERROR_OUT_OF_MEMORY|CUDA error: out of memory",
        FailureClass.OUT_OF_MEMORY,
    ),
    _line(
        Words(
            "LOG012",
            "shared-memory-too-small",
            ERROR,
            "the loader workers ran out of shared memory (/dev/shm)",
            "A container has 64 MiB of /dev/shm unless told otherwise, and loader workers pass "
            "batches through it.",
            "Set linuxParameters.sharedMemorySize (or host IPC), or use fewer workers.",
            (pages.TASK_SHAPE,),
        ),
        r"insufficient shared memory \(shm\)|out of shared memory|unable to (?:write to|allocate) "
        r"(?:file|shared memory).*(?:shm|torch_)|unable to open shared memory object"
        r"|Error while creating shared memory segment",
        FailureClass.OUT_OF_MEMORY,
    ),
    _line(
        Words(
            "LOG013",
            "diagnose-disk-full",
            ERROR,
            "a disk is full",
            "",
            "Make the volume larger, write checkpoints to S3 or a shared file system, and remove "
            "what is old.",
            (pages.PULL,),
        ),
        r"No space left on device|\bENOSPC\b|Disk quota exceeded",
        FailureClass.DISK_FULL,
    ),
    _line(
        BY_SIGN["driver-too-old-for-image"],
        r"unsatisfied condition: ?(?:cuda|driver)|CUDA driver version is insufficient"
        r"|driver on your system is too old|forward compatibility was attempted",
        FailureClass.DRIVER_MISMATCH,
    ),
    _line(
        BY_SIGN["fabric-manager-not-ready"],
        r"system not yet initialized|cudaErrorSystemNotReady|\berror 802\b",
        FailureClass.DRIVER_MISMATCH,
    ),
    _line(
        BY_SIGN["driver-not-loaded"],
        r"NVIDIA-SMI has failed|nvml error: driver not loaded|driver/library version mismatch"
        r"|Found no NVIDIA driver on your system",
        FailureClass.DRIVER_MISMATCH,
    ),
    _line(
        BY_SIGN["image-wrong-architecture"],
        r"exec format error",
        FailureClass.BAD_COMMAND,
    ),
    _line(
        Words(
            "LOG014",
            "gpu-memory-error",
            ERROR,
            "a GPU reported an uncorrectable error of its memory or of NVLink",
            "This is the hardware; the program did nothing wrong.",
            "Take the host out of service and go on elsewhere from the last complete checkpoint.",
            (pages.XID,),
        ),
        r"uncorrectable (?:ECC|NVLink)|CUDA_ERROR_ECC",
        FailureClass.GPU_FAULT,
    ),
    _line(
        Words(
            "LOG015",
            "cuda-error",
            ERROR,
            "CUDA reported an error inside a kernel",
            "Such errors are reported late: the line that fails is rarely the line at fault. An "
            "index out of range and a broken GPU can look alike.",
            "Run again with CUDA_LAUNCH_BLOCKING=1; look at the kernel's log for an Xid.",
            (pages.XID,),
        ),
        r"device-side assert|CUDA error: (?:an )?illegal|CUDA error: (?:unspecified launch failure"
        r"|misaligned address|hardware stack error|unknown error|the launch timed out)",
        FailureClass.GPU_FAULT,
    ),
    _line(
        Words(
            "LOG016",
            "nccl-watchdog-timeout",
            WARNING,
            "a collective did not finish in time",
            "Some rank did not come to this collective: it died, hangs, or took another way. The "
            "rank that reports it is mostly the victim.",
            "Find the rank that is behind (the one whose last sequence number is lowest), and "
            "read its log first.",
            (pages.TORCH_DISTRIBUTED,),
        ),
        r"Watchdog caught collective operation timeout|collective operation timeout"
        r"|Some NCCL operations have failed or timed out",
        FailureClass.NETWORK_FAULT,
    ),
    _line(
        Words(
            "LOG017",
            "peer-connection-lost",
            WARNING,
            "the connection to another rank broke",
            "This follows from the end of the other rank more often than from the network.",
            "Look for the rank that ended first.",
            (pages.TORCH_DISTRIBUTED,),
        ),
        r"Connection (?:closed by (?:remote )?peer|reset by peer|refused)|ncclRemoteError"
        r"|remote process exited|NCCL communicator was aborted|Broken pipe|Connection reset",
        FailureClass.NETWORK_FAULT,
    ),
    _line(
        Words(
            "LOG018",
            "rendezvous-timeout",
            WARNING,
            "the ranks did not find one another in time",
            "",
            "Check that every rank started, that MASTER_ADDR resolves to rank 0's host, and that "
            "the security group lets the port through.",
            (pages.TORCH_DISTRIBUTED,),
        ),
        r"RendezvousTimeoutError|DistStoreError.*(?:timed out|wait timeout)"
        r"|client socket has timed out|waiting for clients",
        FailureClass.RENDEZVOUS_TIMEOUT,
    ),
    _line(
        Words(
            "LOG019",
            "port-in-use",
            ERROR,
            "the rendezvous port is taken",
            "Another job, or what an earlier attempt left behind, listens on it.",
            "Choose a free port for each attempt, and end leftovers first.",
            (pages.TORCH_DISTRIBUTED,),
        ),
        r"EADDRINUSE|Address already in use",
        FailureClass.NON_ZERO_EXIT,
    ),
    _line(
        NO_EFA,
        r"NET/OFI.*No eligible providers|NET/OFI.*Unable to find|OFI.*fi_getinfo.*failed"
        r"|Failed to initialize NET plugin",
    ),
)
"""Kinds of lines, the most telling first: one line gives at most one finding."""

TRACE = Words(
    "LOG030",
    "python-exception",
    ERROR,
    "the program ended with an exception",
    "",
    "Read the trace above this line.",
)
SURVIVED = Words(
    "LOG033",
    "exception-reported",
    INFO,
    "the program reported an exception, which is no sign of its end",
    "Programs log exceptions that they survive. Only a trace that nobody caught ends one, and not "
    "even that when the same rank goes on after it.",
    "Nothing, unless it comes again and again.",
)
KILLED = Words(
    "LOG031",
    "killed-by-signal",
    ERROR,
    "a process was ended by a signal",
    "",
    "Find who sent it: the kernel's log names its own kills.",
    (pages.STOP_CODES,),
)
CAUSE = Words(
    "LOG032",
    "first-cause",
    INFO,
    "what happened first, by kind before order",
    "Connection and collective errors follow from somebody's end and are no cause of their own "
    "while a stronger one is in the evidence.",
)
EXCEPTION = re.compile(
    r"(?:^|\]:?|\s)(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt))(?::\s|$)"
)
SIGNAL = re.compile(
    r"Signal (?P<number>\d{1,2}) \((?P<name>SIG[A-Z]+)\)|exitcode\s*:\s*-(?P<n2>\d{1,2})\b"
)
