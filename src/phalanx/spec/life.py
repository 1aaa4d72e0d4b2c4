"""How a job lives: checkpoints, hangs, stops, limits, messages, where it begins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from phalanx.spec.fields import (
    AutoDuration,
    Duration,
    Name,
    Number,
    Often,
    Part,
    Text,
    Whole,
    as_list,
)
from phalanx.spec.wrong import Wrong, kind_of


class Checkpoint(Part):
    """What is saved, and how often."""

    mode: Literal["api", "watch"] | None = Field(
        default=None,
        description="api: the script uses phalanx.train; watch: phalanx commits what a framework "
        "writes to `dir` (default api).",
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
        default=None, description="Folder that the framework writes to, for mode watch."
    )

    @model_validator(mode="after")
    def _folder_for_watch(self) -> Checkpoint:
        if self.mode == "watch" and self.dir is None:
            raise Wrong("mode watch needs {path}", "write dir: ./out", ("dir",))
        if self.mode != "watch" and self.dir is not None:
            raise Wrong("{path} is for mode watch only", "add mode: watch, or remove it", ("dir",))
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


class Limits(Part):
    """Ends of patience: each of them ends the job."""

    max_runtime_s: Duration | None = Field(
        default=None, alias="max_runtime", description="Longest life of the job (default 30d)."
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


class Notify(Part):
    """One receiver of messages."""

    webhook: Text | None = Field(default=None, description="URL that receives a POST.")
    sns: Text | None = Field(default=None, description="ARN of an SNS topic.")
    on: (
        Annotated[tuple[Literal["ended", "failed", "waiting"], ...], BeforeValidator(as_list)]
        | None
    ) = Field(default=None, description="Events to tell of (default ended and failed).")
    waiting_longer_than_s: Duration | None = Field(
        default=None,
        alias="waiting_longer_than",
        description="Tell of a wait once it is this long.",
    )

    @model_validator(mode="after")
    def _one_receiver(self) -> Notify:
        if (self.webhook is None) == (self.sns is None):
            raise Wrong("{path} needs either webhook or sns")
        return self


class InitFrom(Part):
    """Where the first attempt takes its state from."""

    job: Name | None = Field(default=None, description="Another job, whose state is taken.")
    step: Whole | None = Field(
        default=None, ge=0, description="A committed step of that job (default the newest)."
    )
    weights: Text | None = Field(default=None, description="Folder or URL with weights.")

    @model_validator(mode="after")
    def _one_origin(self) -> InitFrom:
        if (self.job is None) == (self.weights is None):
            raise Wrong("{path} needs either job or weights")
        if self.step is not None and self.job is None:
            raise Wrong("{path} goes with init_from.job", below=("step",))
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
