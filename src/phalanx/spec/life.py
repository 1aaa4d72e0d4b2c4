"""How a job lives: checkpoints, hangs, stops, limits, messages, where it begins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from phalanx.spec.fields import (
    AutoDuration,
    Duration,
    Number,
    Often,
    Part,
    Text,
    Whole,
    Word,
    as_list,
    command_words,
    not_empty,
)
from phalanx.spec.web import WebAddress
from phalanx.spec.wrong import Wrong, kind_of


class Checkpoint(Part):
    """What is saved, and how often."""

    mode: Literal["api", "watch"] | None = Field(
        default=None,
        description="api: the script uses phalanx.train; watch: phalanx commits what an unchanged "
        "script writes to `dir`, and puts it back before a restart (default api).",
    )
    every: Often | None = Field(
        default=None, description='auto, a number of steps, "100 steps" or 10m (default auto).'
    )
    keep: Whole | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="How many committed checkpoints stay (default 3).",
    )
    dir: Text | None = Field(
        default=None,
        description="Folder that the script writes its checkpoints to, inside the working "
        "directory; needed in mode watch. The job begins with an empty one.",
    )

    @model_validator(mode="after")
    def _folder_for_watch(self) -> Checkpoint:
        if self.mode == "watch" and self.dir is None:
            raise Wrong("mode watch needs {path}", "write dir: ./out", ("dir",))
        if self.mode != "watch" and self.dir is not None:
            raise Wrong("{path} is for mode watch only", "add mode: watch, or remove it", ("dir",))
        if self.mode == "watch" and self.every is not None:
            said = "{path} is for mode api: in mode watch the script decides when it saves"
            raise Wrong(said, "remove it", ("every",))
        if self.dir is not None and (self.dir.startswith("/") or ".." in self.dir.split("/")):
            said = "{path} must be a folder inside the working directory"
            raise Wrong(said, "write dir: ./out", ("dir",))
        return self


class Hang(Part):
    """When a job that stands still counts as hung."""

    after_s: AutoDuration = Field(
        default=None,
        alias="after",
        description="Longest time without a step; auto learns it from step times (default auto).",
    )


class Stop(Part):
    """How ranks are stopped."""

    grace_s: Duration | None = Field(
        default=None,
        alias="grace",
        description="Time between the signal to end and the kill (default 90s).",
    )


class Elastic(Part):
    """What stays the same when the number of nodes changes."""

    hold: Literal["global_batch"] | None = Field(
        default=None, description="What stays constant (default global_batch)."
    )
    last_call_s: Duration | None = Field(
        default=None,
        alias="last_call",
        description="How long to wait for further nodes once the fewest are there (default 10s).",
    )
    grow_after_s: AutoDuration = Field(
        default=None,
        alias="grow_after",
        description="Shortest time between two sizes; auto: ten measured restarts, at least 30s "
        "(default auto).",
    )
    global_batch: Whole | None = Field(
        default=None,
        ge=1,
        le=10**9,
        description="Samples of one step over all ranks; the script asks for its share of them.",
    )


class Limits(Part):
    """Ends of patience: each of them ends the job."""

    max_runtime_s: Duration | None = Field(
        default=None,
        alias="max_runtime",
        description="Longest life of the job, pauses left out (default 30d).",
    )
    max_waiting_s: Duration | None = Field(
        default=None,
        alias="max_waiting",
        description="Longest wait for capacity (default 24h).",
    )
    max_instance_hours: Number | None = Field(
        default=None,
        gt=0,
        le=1e9,
        description="Most hours summed over all nodes (default: no limit).",
    )
    no_progress: Whole | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Attempts in a row without a newer committed step before the job fails "
        "(default 5).",
    )


Told = Literal["ended", "failed", "waiting", "restarted", "limit"]
"""Events of a job that somebody may be told of."""


class Notify(Part):
    """One receiver of messages."""

    webhook: WebAddress | None = Field(
        default=None, description="URL that receives a POST with the message as JSON."
    )
    command: (
        Annotated[tuple[Word, ...], BeforeValidator(command_words), AfterValidator(not_empty)]
        | None
    ) = Field(
        default=None,
        description="Program and arguments, one word each; the message is on its standard input.",
    )
    sns: Text | None = Field(default=None, description="ARN of an SNS topic; AWS targets only.")
    on: Annotated[tuple[Told, ...], BeforeValidator(as_list), AfterValidator(not_empty)] | None = (
        Field(default=None, description="Events to tell of (default ended and failed).")
    )
    waiting_longer_than_s: Duration | None = Field(
        default=None,
        alias="waiting_longer_than",
        description="Tell of a wait once it is this long (default 10m).",
    )

    @model_validator(mode="after")
    def _one_receiver(self) -> Notify:
        if sum(to is not None for to in (self.webhook, self.command, self.sns)) != 1:
            raise Wrong("{path} needs exactly one of webhook, command or sns")
        return self

    @model_validator(mode="after")
    def _waits_are_told(self) -> Notify:
        if self.waiting_longer_than_s and self.on is not None and "waiting" not in self.on:
            said = "{path} goes with waiting among notify's events"
            raise Wrong(said, "add waiting to on", ("waiting_longer_than",))
        return self


class Evidence(Part):
    """What is kept for people to look at: logs of the ranks, stacks, notices."""

    keep_s: Duration | None = Field(
        default=None,
        alias="keep",
        description="Age at which logs and evidence are removed; checkpoints are not touched "
        "(default 30d).",
    )


class InitFrom(Part):
    """What the job begins from, until it has a commit of its own."""

    job: Text | None = Field(
        default=None,
        description="Another job under the same root: an id, or a name for the newest of it.",
    )
    step: Whole | None = Field(
        default=None, ge=0, description="A committed step of that job (default the newest)."
    )
    weights: Text | None = Field(
        default=None, description="File or folder with weights: SafeTensors, or torch's own files."
    )
    take: Literal["weights", "all"] | None = Field(
        default=None,
        description="weights: the modules' weights, at step 0; all: the whole state, its step "
        "included (default weights).",
    )

    @model_validator(mode="after")
    def _one_origin(self) -> InitFrom:
        if self.job is not None and self.weights is not None:
            raise Wrong("{path} takes either job or weights, not both")
        if self.job is None and self.weights is None:
            raise Wrong("{path} needs either job or weights")
        if self.step is not None and self.job is None:
            raise Wrong("{path} goes with init_from.job", below=("step",))
        if self.take == "all" and self.job is None:
            raise Wrong("{path} goes with init_from.job", "remove it", ("take",))
        return self


class SecretReference(Part):
    """Where a secret is kept; its value never stands in a file."""

    env: Text | None = Field(
        default=None, description="Variable of the environment that starts the job."
    )
    ssm: Text | None = Field(default=None, description="Name of an SSM parameter.")
    secretsmanager: Text | None = Field(default=None, description="ARN in Secrets Manager.")

    @model_validator(mode="after")
    def _one_place(self) -> SecretReference:
        if sum(ref is not None for ref in (self.env, self.ssm, self.secretsmanager)) != 1:
            raise Wrong("{path} needs exactly one of env, ssm or secretsmanager")
        return self


def by_reference(value: object) -> object:
    """Refuses a secret written down. Raises `Wrong`; never shows it."""
    if not isinstance(value, dict):
        said = f"{{path}} must name where the secret is kept, not {kind_of(value)}"
        raise Wrong(said, "write {env: NAME}, {ssm: name} or {secretsmanager: arn}")
    return value
