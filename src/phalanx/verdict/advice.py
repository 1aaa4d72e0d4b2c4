"""What each failure class means, what phalanx does about it, and what a person should do."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.words import FailureClass


@dataclass(frozen=True)
class Advice:
    """Three sentences about one failure class."""

    means: str
    phalanx: str
    person: str


def advice(failure: FailureClass) -> Advice:
    """The advice for a class; every class has one."""
    return ADVICE[failure]


_RESTARTS = "Restarts the gang from the last committed checkpoint, on the class's budget."

ADVICE: dict[FailureClass, Advice] = {
    FailureClass.NON_ZERO_EXIT: Advice(
        "A rank ended by itself with an exit code that is not 0.",
        _RESTARTS,
        "Read the last error line of that rank; an error that comes back at the same step is in "
        "the program or its data.",
    ),
    FailureClass.KILLED: Advice(
        "A rank or its task was ended by a signal that nobody here sent.",
        _RESTARTS,
        "Find who sent it: the kernel's log names its own kills, SIGSEGV and SIGABRT point into "
        "native code.",
    ),
    FailureClass.OUT_OF_MEMORY: Advice(
        "Memory ran out: the GPU's, the container's or the host's.",
        "Restarts at most as often as the class's budget says: the same step needs the same "
        "memory again.",
        "Lower the micro-batch, turn on activation checkpointing or sharding, or ask for more "
        "memory before the next try.",
    ),
    FailureClass.HANG: Advice(
        "No rank finished a step for longer than the job allows, and none had ended.",
        "Keeps the evidence, stops the gang and restarts it from the last committed checkpoint.",
        "Compare the ranks' last steps: the one that is behind, or waits in another collective, "
        "is where to look.",
    ),
    FailureClass.HOST_LOST: Advice(
        "The host is gone, and with it the task.",
        "Launches the lost slot elsewhere and restarts from the last committed checkpoint; does "
        "not count against the job.",
        "Nothing, unless one type or zone loses hosts again and again.",
    ),
    FailureClass.SPOT_INTERRUPTION: Advice(
        "Spot capacity was taken back with a two-minute notice.",
        "Saves when the notice leaves time, launches the lost slots anew and resumes; does not "
        "count against the job.",
        "Keep the time of one save well below the notice; use a reservation where interruptions "
        "cost more than they save.",
    ),
    FailureClass.CAPACITY_UNAVAILABLE: Advice(
        "There was nothing free to run on.",
        "Waits on a budget of its own and asks again.",
        "Check the quota of this purchase option and family, then another zone, type or a "
        "reservation.",
    ),
    FailureClass.IMAGE_PULL: Advice(
        "The container image could not be fetched.",
        "Does not repeat what cannot work; retries only what the registry calls temporary.",
        "Check the image's name, the execution role's access and the route to the registry.",
    ),
    FailureClass.DISK_FULL: Advice(
        "A disk that the job writes to is full.",
        "Restarts only within the class's small budget: a full disk is full for the next try too.",
        "Make the volume larger or remove what is old; the layers of an image need room as well.",
    ),
    FailureClass.DRIVER_MISMATCH: Advice(
        "The program or image needs another GPU driver than the host has.",
        "Does not retry: every host of the same image fails in the same way.",
        "Use a newer GPU machine image, or a container image built for an older CUDA.",
    ),
    FailureClass.START_TIMEOUT: Advice(
        "The ranks did not come up in the time allowed.",
        _RESTARTS,
        "Look at what the ranks did last: loading data, compiling, or waiting for one another.",
    ),
    FailureClass.RENDEZVOUS_TIMEOUT: Advice(
        "The members of the gang did not find one another in time.",
        _RESTARTS,
        "Check address, port and security group between the hosts, and that every member started.",
    ),
    FailureClass.GPU_FAULT: Advice(
        "A GPU or its driver reported an error.",
        "Restarts the gang from the last committed checkpoint and, where hosts can be chosen, "
        "avoids that host.",
        "Read the Xid in the kernel's log: some name the program (13, 31, 43), others the "
        "hardware (48, 64, 74, 79, 94, 95), and the hardware ones need another host.",
    ),
    FailureClass.NETWORK_FAULT: Advice(
        "Connections between ranks broke, and no rank is known to have died first.",
        _RESTARTS,
        "Look for a rank that ended early, then at the interfaces, security groups and the "
        "collective library's log.",
    ),
    FailureClass.CHECKPOINT_UNREADABLE: Advice(
        "A committed checkpoint is missing, short or has a wrong digest.",
        "Never names that checkpoint again and falls back to the one before; deletes nothing.",
        "Find out what changed the files; `phalanx checkpoints verify` reads every byte.",
    ),
    FailureClass.STORE_UNREACHABLE: Advice(
        "The root, where the job's state is kept, could not be reached.",
        "Decides nothing without it, and goes on when it is back.",
        "Check the path or bucket, its space and the access to it.",
    ),
    FailureClass.SOURCE_DAMAGED: Advice(
        "The source that was shipped with the job is missing, was altered, or holds what no source "
        "may hold.",
        "Runs none of it and fails the job: every task would find the same.",
        "Find out who can write to the root; run the job file again to ship the source anew.",
    ),
    FailureClass.NO_PROGRESS: Advice(
        "Several attempts in a row ended without a newer committed step.",
        "Ends the job: trying again costs and changes nothing.",
        "Read the first causes in the history, fix that one, and run the job file again: a new "
        "job, from the beginning.",
    ),
    FailureClass.SUPERSEDED: Advice(
        "A newer incarnation took the place of this one.",
        "Nothing: this is how it should end.",
        "Nothing.",
    ),
    FailureClass.STOPPED_BY_USER: Advice(
        "A person or another tool stopped it.",
        "Does not start it again.",
        "Run the job file again when you want it: a new job, from the beginning.",
    ),
    FailureClass.STOPPED_BY_US: Advice(
        "Phalanx stopped it, because a sibling ended or the job was over.",
        "Nothing: such an ending is never a cause.",
        "Nothing; look at the first cause.",
    ),
    FailureClass.BAD_COMMAND: Advice(
        "The command, or one that it runs, is not to be found (exit code 127) or cannot be "
        "executed (126), and no step was ever finished.",
        "Fails the job at once: another try would run the same command.",
        "Mend the command, its PATH or the file's mode; `phalanx exec` shows what a slot sees.",
    ),
    FailureClass.RESIZED: Advice(
        "An elastic job went on with another number of nodes: no failure.",
        "Opens an attempt with the nodes that there are, from the last committed checkpoint; "
        "counts neither as a restart nor as an attempt without progress.",
        "Nothing; `phalanx why` names the slots that do not take part, and why.",
    ),
    FailureClass.UNKNOWN: Advice(
        "Nothing tells why it ended.",
        _RESTARTS,
        "Keep the evidence folder and the target's own events; the cause may be outside of what "
        "is recorded.",
    ),
}
