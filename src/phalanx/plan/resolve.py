"""From a job file, a workload file or both to a workload with its assumptions named."""

from __future__ import annotations

from dataclasses import replace

from phalanx.facts.instances import all_instances
from phalanx.plan.from_job import workload_of_job
from phalanx.plan.workload import (
    DeviceNeed,
    LossNeed,
    ModelNeed,
    PriceRange,
    RunNeed,
    SecurityNeed,
    ServingNeed,
    TeamNeed,
    Workload,
)
from phalanx.spec import workload as asked
from phalanx.spec.job import JobSpec
from phalanx.spec.workload import WorkloadSpec


def resolve(job: JobSpec | None, spec: WorkloadSpec | None) -> Workload:
    """The workload; what the workload file says goes before what the job file says.

    At least one of the two is given.
    """
    base = workload_of_job(job) if job else None
    if spec is None:
        assert base is not None
        return _assume(base, said_use=False)
    base = base or Workload(name=spec.name, use=spec.use)
    made = replace(
        base,
        name=spec.name,
        use=spec.use,
        model=_model(base.model, spec.model or asked.Model(), spec.use),
        devices=_devices(base.devices, spec.accelerator or asked.Devices()),
        run=_run(base.run, spec.run or asked.Run()),
        serving=_serving(spec.serving or asked.Serving()),
        team=_team(spec.team or asked.Team()),
        security=_security(base.security, spec.security or asked.Security()),
        losses=_losses(base.losses, spec.losses or asked.Losses()),
        sharing=_or((spec.sharing or asked.Sharing()).wish, "none"),
        tenants=_or((spec.sharing or asked.Sharing()).tenants, "one"),
        dataset_mib=spec.storage.dataset_mib if spec.storage else None,
        weights_mib=spec.storage.weights_mib if spec.storage else None,
        lustre=spec.storage.lustre if spec.storage else None,
        price=PriceRange(**spec.price.model_dump()) if spec.price else None,
        quota_vcpus=spec.quota.vcpus if spec.quota else None,
    )
    return _assume(made, said_use=True)


def _or(value: str | None, default: str) -> str:
    return default if value is None else value


def _model(base: ModelNeed, said: asked.Model, use: str) -> ModelNeed:
    family = said.family or ("transformer" if said.layers or said.parameters else base.family)
    kv_share = said.kv_heads / said.heads if said.kv_heads and said.heads else base.kv_share
    return replace(
        base,
        parameters=said.parameters or _counted(said) or base.parameters,
        family=family,
        layers=said.layers or 0,
        hidden=said.hidden or 0,
        kv_share=min(kv_share, 1.0),
        vocabulary=said.vocabulary or 0,
        precision=said.precision or ("bf16" if use == "inference" else "mixed"),
        optimizer=said.optimizer or base.optimizer,
        tuning=said.tuning or base.tuning,
        sequence=said.sequence or base.sequence,
        micro_batch=said.micro_batch or base.micro_batch,
        recompute=said.activation_checkpointing,
    )


def _counted(said: asked.Model) -> int:
    """Parameters of a Transformer from its shape: 12 h^2 a layer, and the embedding."""
    if not (said.layers and said.hidden) or said.family not in (None, "transformer"):
        return 0
    return 12 * said.layers * said.hidden**2 + (said.vocabulary or 0) * said.hidden


def _devices(base: DeviceNeed, said: asked.Devices) -> DeviceNeed:
    kind = said.type or base.type
    word = kind.lower()
    vendor = said.vendor or base.vendor
    makers = {row.maker for row in all_instances() if named(kind, row.name, row.accelerator)}
    if said.vendor is None and kind and makers == {"AWS"}:
        vendor = "neuron"
    return replace(
        base,
        vendor=vendor,
        type="" if word in ("cpu", "gpu") else kind,
        count=base.count if said.count is None else said.count,
        own=said.own or base.own,
        neuron_supported=said.neuron_supported,
        is_cpu=_is_cpu(base, said),
    )


def _is_cpu(base: DeviceNeed, said: asked.Devices) -> bool:
    if said.type is not None:
        return said.type.lower() == "cpu"
    if said.count is not None or said.own or said.vendor is not None:
        return said.count == 0
    return base.is_cpu


def named(word: str, type_name: str, accelerator: str) -> bool:
    """Whether `word` names this instance type or its accelerator."""
    plain = word.lower().replace("_", "-")
    return bool(plain) and plain in (type_name.lower(), accelerator.lower().replace(" ", "-"))


def _run(base: RunNeed, said: asked.Run) -> RunNeed:
    return replace(
        base,
        nodes=said.nodes or base.nodes,
        duration_s=base.duration_s if said.duration_s is None else said.duration_s,
        deadline_s=said.deadline_s,
        market=said.market or base.market,
        resumes=base.resumes if said.resumes is None else said.resumes,
        frequency=said.frequency or base.frequency,
        utilisation=said.utilisation,
    )


def _serving(said: asked.Serving) -> ServingNeed:
    default = ServingNeed()
    replicas = (said.replicas.min, said.replicas.max) if said.replicas else default.replicas
    return ServingNeed(
        latency_s=said.latency_s,
        traffic=said.traffic or default.traffic,
        replicas=replicas,
        concurrency=said.concurrency or default.concurrency,
        own_weights=said.own_weights is not False,
        scale_to_zero=bool(said.scale_to_zero),
        facing=said.facing or default.facing,
    )


def _team(said: asked.Team) -> TeamNeed:
    return TeamNeed(
        platform=said.platform or "none",
        self_host=said.self_host is not False,
        containers=said.containers is not False,
        wants=said.wants or (),
        fee_sensitive=bool(said.fee_sensitive),
    )


def _security(base: SecurityNeed, said: asked.Security) -> SecurityNeed:
    return replace(
        base,
        compliance=said.compliance or (),
        runtime_monitoring=bool(said.runtime_monitoring),
        custom_ami=bool(said.custom_ami),
        stated=said.done or (),
    )


def _losses(base: LossNeed, said: asked.Losses) -> LossNeed:
    return replace(
        base,
        stall_s=said.stall_s,
        restart_s=said.restart_s or base.restart_s,
        lag_s=said.lag_s or base.lag_s,
        per_1000_node_days=said.per_1000_node_days,
        announced=said.announced or base.announced,
    )


_HIDDEN_PER_LAYER = 128
"""A common shape of Transformers: width = 128 x depth."""


def _assume(made: Workload, *, said_use: bool) -> Workload:
    notes = list(made.assumptions)
    model = made.model
    if not said_use:
        notes.append("The file is a training job; nothing is said of serving, team or compliance.")
    if not model.is_sized and not made.devices.is_cpu:
        notes.append("The size of the model is not said, so nothing is sized by its memory.")
    if model.is_sized and model.family == "transformer" and not (model.layers and model.hidden):
        model, note = _shaped(model)
        notes.append(note)
    if made.trains and made.run.duration_s is None and not made.devices.is_cpu:
        notes.append("The length of a run is not said; it is taken to be at most 14 days.")
    if made.use == "inference" and made.serving.latency_s is None:
        notes.append("No latency is promised.")
    if made.quota_vcpus is None and not made.devices.is_cpu:
        notes.append("The account's vCPU quota was not looked up; the first step does it.")
    return replace(made, model=model, assumptions=tuple(notes))


def _shaped(model: ModelNeed) -> tuple[ModelNeed, str]:
    if model.hidden:
        layers = max(1, round(model.parameters / (12 * model.hidden**2)))
        hidden = model.hidden
    else:
        layers = model.layers or max(
            1, round((model.parameters / (12 * _HIDDEN_PER_LAYER**2)) ** (1 / 3))
        )
        hidden = max(1, round((model.parameters / (12 * layers)) ** 0.5))
    shaped = replace(model, layers=layers, hidden=hidden)
    said = (
        f"Depth and width are not both said: {layers} layers of width {hidden} are taken from "
        "parameters = 12 x layers x width^2, with a width of about 128 x depth where neither is "
        "known."
    )
    return shaped, said
