"""The file of kind `workload`: what a plan needs to know beyond a job file.

None means that the file does not say; `phalanx.plan.resolve` names the assumption in its place.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from phalanx.spec.fields import Duration, Name, Number, Part, Size, Text, Truth, Whole, as_list
from phalanx.spec.resources import NodeCount
from phalanx.spec.workload_fields import Count, Day
from phalanx.spec.wrong import Wrong

Wish = Literal[
    "operators",
    "karpenter",
    "kuberay",
    "kserve",
    "gang_queue",
    "job_queue",
    "fair_share",
    "array_jobs",
    "managed_training",
    "managed_endpoints",
    "hyperpod",
    "experiment_tracking",
]
"""What a team asks of a platform beyond running containers."""
Baseline = Literal["SB1", "SB2", "SB3", "SB4", "SB5", "SB6", "SB7", "SB8"]
"""Items of the security baseline."""
Regime = Literal["pci", "hipaa", "fedramp", "gdpr"]
"""Compliance regimes that change a decision."""


class Model(Part):
    """The model: its size, and how it is trained or served."""

    parameters: Count | None = Field(default=None, description="Parameters: 7B, 350M or a number.")
    family: Literal["transformer", "cnn", "mlp", "recurrent", "other"] | None = Field(
        default=None, description="Kind of network (default transformer when layers are given)."
    )
    layers: Whole | None = Field(default=None, ge=1, le=10_000, description="Number of layers.")
    hidden: Whole | None = Field(default=None, ge=1, le=10**6, description="Width of a layer.")
    heads: Whole | None = Field(default=None, ge=1, le=10_000, description="Attention heads.")
    kv_heads: Whole | None = Field(
        default=None, ge=1, le=10_000, description="Heads of keys and values (default: heads)."
    )
    vocabulary: Whole | None = Field(
        default=None, ge=1, le=10**8, description="Entries of the vocabulary."
    )
    precision: Literal["fp32", "bf16", "fp16", "mixed", "int8", "int4"] | None = Field(
        default=None,
        description="mixed keeps fp32 parameters and computes in half precision (default mixed "
        "for training, bf16 for inference).",
    )
    optimizer: (
        Literal[
            "adamw", "adam", "adamw8bit", "adafactor", "adagrad", "rmsprop", "lion", "momentum",
            "sgd",
        ]
        | None
    ) = Field(default=None, description="Optimizer (default adamw).")  # fmt: skip
    tuning: Literal["full", "lora"] | None = Field(
        default=None, description="Train every parameter, or adapters beside frozen ones."
    )
    sequence: Whole | None = Field(default=None, ge=1, le=10**8, description="Tokens of a sample.")
    micro_batch: Whole | None = Field(
        default=None, ge=1, le=10**6, description="Samples of one step on one GPU (default 1)."
    )
    activation_checkpointing: Truth | None = Field(
        default=None, description="Recompute activations (default: where the plan needs it)."
    )


class Devices(Part):
    """What it should run on."""

    vendor: Literal["nvidia", "neuron", "any"] | None = Field(
        default=None, description="Maker of the accelerator (default any)."
    )
    type: Text | None = Field(
        default=None, description="An instance type (p5.48xlarge) or an accelerator (H100); cpu."
    )
    count: Whole | None = Field(
        default=None, ge=0, le=10**6, description="Accelerators of the whole job, or of a replica."
    )
    own: Whole | None = Field(default=None, ge=0, le=10**6, description="GPUs that stand on site.")
    neuron_supported: Truth | None = Field(
        default=None, description="Whether the model is on the list of the Neuron SDK."
    )


class Run(Part):
    """How a training or a development box runs."""

    nodes: Whole | None = Field(default=None, ge=1, le=4096, description="Number of nodes.")
    duration_s: Duration | None = Field(
        default=None, alias="duration", description="How long one run takes, such as 21d."
    )
    deadline_s: Duration | None = Field(
        default=None, alias="deadline", description="The run must be over within this time."
    )
    market: Literal["any", "on_demand", "spot", "reserved", "capacity_block"] | None = Field(
        default=None, description="Kind of capacity that is preferred (default any)."
    )
    resumes: Truth | None = Field(
        default=None, description="Whether a run goes on from its last checkpoint by itself."
    )
    frequency: Literal["once", "weekly", "daily", "continuous"] | None = Field(
        default=None, description="How often it runs (default once)."
    )
    utilisation: Number | None = Field(
        default=None, gt=0, le=1, description="Share of the time that a device is busy."
    )


class Serving(Part):
    """How an inference endpoint is used."""

    latency_s: Duration | None = Field(
        default=None, alias="latency", description="Latency that is promised, such as 300ms."
    )
    traffic: Literal["steady", "bursty", "office_hours", "batch"] | None = Field(
        default=None, description="Shape of the load (default steady)."
    )
    replicas: NodeCount | None = Field(default=None, description="Fewest and most replicas.")
    concurrency: Whole | None = Field(
        default=None, ge=1, le=10**6, description="Sequences at once in one replica (default 8)."
    )
    own_weights: Truth | None = Field(
        default=None, description="Whether the weights are your own (default true)."
    )
    scale_to_zero: Truth | None = Field(
        default=None, description="Must start from nothing when a request comes."
    )
    facing: Literal["internal", "public"] | None = Field(
        default=None, description="Who reaches the endpoint (default internal)."
    )


class Team(Part):
    """Who runs it, and on what today."""

    platform: (
        Literal["none", "ecs", "managed_instances", "fargate", "kubernetes", "sagemaker", "batch"]
        | None
    ) = Field(default=None, description="What the team runs today (default none).")
    self_host: Truth | None = Field(
        default=None, description="Whether GPUs should be operated at all (default true)."
    )
    containers: Truth | None = Field(
        default=None, description="Whether the team operates containers (default true)."
    )
    wants: Annotated[tuple[Wish, ...], BeforeValidator(as_list)] | None = Field(
        default=None, description="What is asked of the platform beside running containers."
    )
    fee_sensitive: Truth | None = Field(
        default=None, description="Whether the fee of Managed Instances decides."
    )


class Sharing(Part):
    """Several tasks on one GPU."""

    wish: Literal["none", "share", "mps", "mig", "time_slicing", "fractional"] | None = Field(
        default=None, description="How a GPU is to be divided (default none)."
    )
    tenants: Literal["one", "many"] | None = Field(
        default=None, description="Whether all sharers trust each other (default one)."
    )


class Security(Part):
    """Duties, and what is in place."""

    compliance: Annotated[tuple[Regime, ...], BeforeValidator(as_list)] | None = Field(
        default=None, description="Regimes that apply."
    )
    runtime_monitoring: Truth | None = Field(
        default=None, description="Whether GuardDuty Runtime Monitoring is required."
    )
    custom_ami: Truth | None = Field(
        default=None, description="Whether an own AMI or kernel is required."
    )
    done: Annotated[tuple[Baseline, ...], BeforeValidator(as_list)] | None = Field(
        default=None, description="Items of the security baseline that are in place."
    )


class Storage(Part):
    """What is read and written."""

    dataset_mib: Size | None = Field(default=None, alias="dataset", description="Size of the data.")
    weights_mib: Size | None = Field(
        default=None, alias="weights", description="Size of the weights (default: from the model)."
    )
    lustre: Truth | None = Field(default=None, description="Whether FSx for Lustre is wanted.")


class Losses(Part):
    """What a checkpoint and a loss cost in time."""

    stall_s: Duration | None = Field(
        default=None, alias="stall", description="Time that a checkpoint stops training."
    )
    restart_s: Duration | None = Field(
        default=None, alias="restart", description="From a loss to the next new step (default 2m)."
    )
    lag_s: Duration | None = Field(
        default=None, alias="lag", description="From the snapshot until it is durable."
    )
    per_1000_node_days: Number | None = Field(
        default=None, gt=0, le=10**7, description="Losses of 1,000 nodes in a day."
    )
    announced: Number | None = Field(
        default=None, ge=0, lt=1, description="Share of losses announced in time (default 0)."
    )


class Price(Part):
    """Price of one instance for an hour, as a range that you looked up."""

    low: Number = Field(ge=0, le=10**9, description="Lowest price of one instance for an hour.")
    high: Number = Field(ge=0, le=10**9, description="Highest price of one instance for an hour.")
    currency: Text = Field(description="Currency, such as USD.")
    source: Text = Field(description="Where the prices were read.")
    date: Day = Field(description="The day on which they were read, such as 2026-11-30.")

    @model_validator(mode="after")
    def _ordered(self) -> Price:
        if self.low >= self.high:
            raise Wrong("{path} must be above price.low", "a price is a range", ("high",))
        return self


class Quota(Part):
    """vCPU quota of the accelerator's family in the account."""

    vcpus: Whole = Field(ge=0, le=10**8, description="vCPUs that the account may use.")


class WorkloadSpec(Part):
    """One workload, as its file says it."""

    kind: Literal["workload"] = Field(description="What the file describes.")
    name: Name = Field(description="Name of the workload.")
    use: Literal["training", "inference", "development"] = Field(description="What it does.")
    model: Model | None = Field(default=None, description="The model.")
    accelerator: Devices | None = Field(default=None, description="What it should run on.")
    run: Run | None = Field(default=None, description="How it runs.")
    serving: Serving | None = Field(default=None, description="How it is served.")
    team: Team | None = Field(default=None, description="Who runs it.")
    sharing: Sharing | None = Field(default=None, description="Several tasks on one GPU.")
    security: Security | None = Field(default=None, description="Duties, and what is in place.")
    storage: Storage | None = Field(default=None, description="What is read and written.")
    losses: Losses | None = Field(default=None, description="What losses cost.")
    price: Price | None = Field(default=None, description="A range of prices that you looked up.")
    quota: Quota | None = Field(default=None, description="Quota of the account.")
