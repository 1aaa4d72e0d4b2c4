"""Where a job's first state comes from, resolved so that it can never mean something else later."""

from __future__ import annotations

from phalanx.frozen import frozen

WEIGHTS = "weights"
"""Modules take their weights; optimizer, step and everything else begin anew."""
ALL = "all"
"""The whole training state goes on, its step included."""


@frozen
class WeightsFile:
    """One file of weights; `name` is relative to the folder that was named."""

    name: str
    bytes: int
    sha256: str
    """As `store.digest` says."""


@frozen
class Ancestor:
    """One link of the chain before the origin: a job's checkpoint, or a folder of weights."""

    job: str = ""
    checkpoint: str = ""
    weights: str = ""
    digest: str = ""


@frozen
class Origin:
    """A committed checkpoint of another job, or files of weights: exactly one of the two.

    It stands in the job's plan and in every manifest of the job, so it outlives what it names.
    """

    take: str = WEIGHTS
    job: str | None = None
    checkpoint: str | None = None
    """The checkpoint's name; the new job holds it under `init/` as its own."""
    step: int = 0
    """Optimizer steps done in it; 0 for files of weights."""
    digest: str = ""
    """SHA-256 of the manifest, or of the list of files."""
    weights: str | None = None
    """Absolute path of a file or folder of weights."""
    files: tuple[WeightsFile, ...] = ()
    """The files of it that are read."""
    before: tuple[Ancestor, ...] = ()
    """What the other job itself began from, nearest first."""

    @property
    def first_step(self) -> int:
        """Steps that count as done when the job begins."""
        return self.step if self.take == ALL else 0

    def words(self) -> str:
        """`all of step 400 of gpt-1`, `the weights in /models/tiny`."""
        if self.job is None:
            return f"the weights in {self.weights}"
        what = "everything" if self.take == ALL else "the weights"
        return f"{what} of step {self.step} of {self.job}"

    def as_ancestor(self) -> Ancestor:
        """This origin as a link of the chain of a job that begins from this job."""
        return Ancestor(self.job or "", self.checkpoint or "", self.weights or "", self.digest)
