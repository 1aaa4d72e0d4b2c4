"""The whole error tree of phalanx.

    PhalanxError
    ├─ InputError                 the words of the command or a file are wrong        exit 2
    │  └─ SpecError               a job file, with file, line, column and hint
    ├─ PlanError                  no plan, or a promise that the target cannot keep   exit 3
    ├─ BackendError               the target refused                                  exit 4
    │  ├─ Throttled               try again on the next tick
    │  ├─ NoCapacity              wait, on a budget of its own
    │  └─ LaunchRefused           access, quota or an invalid request: permanent
    ├─ StoreError                 the root refused                                    exit 4
    │  ├─ StoreConflict           somebody else decided first
    │  ├─ StoreUnclear            the answer was lost; read back before believing
    │  ├─ StoreUnavailable        cannot be reached, is full or is read-only
    │  ├─ StoreUnfit              this file system or endpoint ignores the conditions
    │  ├─ ObjectDamaged           an object of the root is not what phalanx writes there
    │  └─ SourceDamaged           the shipped source is missing, altered or unsafe
    ├─ CheckpointError            a checkpoint cannot be written or read              exit 1
    │  ├─ CheckpointUnreadable    missing, short, or its digest is wrong
    │  └─ StateUnsupported        the state holds something no checkpoint can carry
    └─ JobFailed                  the job that was followed did not succeed           exit 1

A *job* that fails is data in its record, never an exception inside the core.
"""

from __future__ import annotations


class PhalanxError(Exception):
    """What went wrong, where, and what to do about it, in one line.

    `exit_code` is the process's exit code, `hint` says what to do next.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def line(self) -> str:
        """The one line that a person reads."""
        text = " ".join(self.message.split())
        return f"{text} ({self.hint})" if self.hint else text


class InputError(PhalanxError):
    """The words of the command, or a file it names, are wrong."""

    exit_code = 2


class SpecError(InputError):
    """A file that says what to run is wrong at one place.

    `line` and `column` start at 1; 0 means that the place is not known.
    """

    def __init__(
        self, message: str, *, file: str = "", at: tuple[int, int] = (0, 0), hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.row, self.column = at

    def line(self) -> str:
        """`file:line:column: message (hint)`."""
        place = self.file
        if self.row:
            place = f"{place}:{self.row}:{self.column}"
        return f"{place}: {super().line()}" if place else super().line()


class PlanError(PhalanxError):
    """The plan cannot be made, or the target cannot keep a promise the job file demands."""

    exit_code = 3


class BackendError(PhalanxError):
    """The target refused."""

    exit_code = 4


class Throttled(BackendError):
    """The target asks for patience; the next tick tries again."""


class NoCapacity(BackendError):
    """Nothing free to run on; waiting has a budget of its own."""


class LaunchRefused(BackendError):
    """Permanent: access, quota, or a request the target finds invalid."""


class StoreError(PhalanxError):
    """The root refused."""

    exit_code = 4


class StoreConflict(StoreError):
    """Somebody else created or replaced the object first."""


class StoreUnclear(StoreError):
    """The write may or may not have happened."""


class StoreUnavailable(StoreError):
    """The root cannot be reached, is full, or is read-only."""


class StoreUnfit(StoreError):
    """The root's file system or endpoint cannot keep create-once or compare-and-swap."""


class ObjectDamaged(StoreError, ValueError):
    """An object of the root is not what phalanx writes there."""


class SourceDamaged(StoreError):
    """The source that was shipped with a job is missing, altered or unsafe: none of it is run."""


class CheckpointError(PhalanxError):
    """A checkpoint cannot be written or read."""


class CheckpointUnreadable(CheckpointError):
    """A committed checkpoint is missing, short, or has a wrong digest."""


class StateUnsupported(CheckpointError):
    """The state holds a value that no checkpoint can carry."""


class JobFailed(PhalanxError):
    """The job that was followed ended without success."""
