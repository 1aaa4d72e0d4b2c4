"""The job file of kind `train`: every field, frozen and typed.

None means that the file does not say; `phalanx.plan.build` fills every default.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from phalanx.spec.fields import (
    AutoRanks,
    Folder,
    Module,
    Name,
    Part,
    Text,
    Whole,
    Word,
    as_list,
    command_words,
    not_empty,
    variables,
)
from phalanx.spec.life import (
    Checkpoint,
    Elastic,
    Evidence,
    Hang,
    InitFrom,
    Limits,
    Notify,
    SecretReference,
    Stop,
    by_reference,
)
from phalanx.spec.resources import NodeCount, Resources, Target
from phalanx.spec.restart import Rule, no_class_twice
from phalanx.spec.wrong import Wrong

Secrets = Annotated[
    dict[str, Annotated[SecretReference, BeforeValidator(by_reference)]],
    BeforeValidator(variables),
]


class JobSpec(Part):
    """One training job, as its file says it."""

    kind: Literal["train"] = Field(description="What the file describes.")
    name: Name = Field(
        description="Name of the job; its runs are called <name>-1, <name>-2 and so on."
    )
    image: Text | None = Field(
        default=None, description="Container image; the local target does not need one."
    )
    command: Annotated[
        tuple[Word, ...], BeforeValidator(command_words), AfterValidator(not_empty)
    ] = Field(
        description="Program and arguments of every rank, one word each.",
        json_schema_extra={"minItems": 1},
    )
    source: Text | None = Field(
        default=None,
        description="Folder that is shipped with the job, relative to this file (default: the "
        "file's own folder when there is no image; null ships nothing).",
    )
    launcher: Literal["ranks", "torchrun", "none"] | None = Field(
        default=None, description="Who starts the ranks of a node (default ranks)."
    )
    nodes: NodeCount | None = Field(default=None, description="Number of nodes (default 1).")
    ranks_per_node: AutoRanks = Field(
        default=None, description="Processes of each node; auto: one for each GPU, else 1."
    )
    resources: Resources | None = Field(default=None, description="What every node offers.")
    env: Annotated[dict[str, Word], BeforeValidator(variables)] | None = Field(
        default=None, description="Environment variables of every rank."
    )
    secrets: Secrets | None = Field(
        default=None, description="Environment variables whose values are kept elsewhere."
    )
    working_directory: Folder | None = Field(
        default=None, description="Folder inside the source where commands start (default .)."
    )
    exclude: Annotated[tuple[Text, ...], BeforeValidator(as_list)] | None = Field(
        default=None,
        description='Patterns of files that are not shipped (default ".git" and "*.pt").',
    )
    total_steps: Whole | None = Field(
        default=None,
        ge=1,
        le=10**12,
        description="Steps of the whole training, for progress and the time that is left.",
    )
    checkpoint: Checkpoint | None = Field(default=None, description="What is saved, how often.")
    hang: Hang | None = Field(default=None, description="When standing still counts as a hang.")
    stop: Stop | None = Field(default=None, description="How ranks are stopped.")
    elastic: Elastic | None = Field(
        default=None, description="What holds when the number of nodes changes."
    )
    restart: (
        Annotated[tuple[Rule, ...], BeforeValidator(as_list), AfterValidator(no_class_twice)] | None
    ) = Field(
        default=None,
        description="What happens after a failure: ordered rules, the first that names the "
        "failure's class decides; built-in rules follow.",
    )
    restart_scope: Literal["slot", "gang"] | None = Field(
        default=None,
        description="Replace the lost task only, or all of them (default slot).",
    )
    warm: Annotated[tuple[Module, ...], BeforeValidator(as_list)] | None = Field(
        default=None, description="Modules that are imported before ranks are forked."
    )
    limits: Limits | None = Field(default=None, description="Ends of patience.")
    notify: Annotated[tuple[Notify, ...], BeforeValidator(as_list)] | None = Field(
        default=None, description="Who is told when the job ends, fails or waits."
    )
    init_from: InitFrom | None = Field(
        default=None, description="Weights, or a step of another job, to begin from."
    )
    evidence: Evidence | None = Field(
        default=None, description="How long logs and evidence are kept."
    )
    target: Target | None = Field(default=None, description="Where the job runs.")

    @model_validator(mode="after")
    def _has_a_program(self) -> JobSpec:
        if not self.command[0].strip():
            raise Wrong("{path} must name a program", "write [python, train.py]", ("command", 0))
        return self

    @model_validator(mode="after")
    def _no_variable_twice(self) -> JobSpec:
        for name in self.secrets or ():
            if name in (self.env or ()):
                raise Wrong(f"{name} is given in env and in secrets", "keep one", ("secrets", name))
        return self

    @model_validator(mode="after")
    def _launcher_none_has_one_rank(self) -> JobSpec:
        if self.launcher == "none" and self.ranks_per_node not in (None, 1):
            said = "{path} must be 1 with launcher none"
            raise Wrong(said, "launcher ranks starts several", ("ranks_per_node",))
        return self
