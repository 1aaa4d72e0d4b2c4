"""D2: NVIDIA or Neuron, and which type. Figures come from the tables, with their source."""

from __future__ import annotations

from phalanx.plan.decisions.decision import Decision, Rejected, cite, cite_type
from phalanx.plan.sharing import no_part
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload

QUESTION = "Which accelerator?"


def vendor_of(workload: Workload) -> str:
    """`nvidia`, `neuron` or `none`."""
    devices = workload.devices
    if devices.is_cpu:
        return "none"
    if devices.own:
        return "nvidia"
    if devices.vendor == "neuron":
        return "nvidia" if devices.neuron_supported is False else "neuron"
    if devices.vendor == "any" and not devices.type and devices.neuron_supported:
        fits = workload.use != "development" and workload.model.family == "transformer"
        return "neuron" if fits else "nvidia"
    return "nvidia"


def decide(workload: Workload, vendor: str, sized: Sized, host: str) -> Decision:
    """The decision with its reasons."""
    if vendor == "none":
        return _none()
    reasons = [*_vendor_reasons(workload, vendor), *_type_reasons(workload, sized)]
    facts = ["plan.nvidia" if vendor == "nvidia" else "plan.neuron", "plan.neuron-support"]
    facts += ["plan.right-size"]
    if vendor == "neuron":
        facts += ["plan.neuron-compile", "plan.neuron-scope"]
    sources = cite(*facts)
    if sized.instance and not workload.devices.own:
        sources = (cite_type(sized.instance), *sources)
    other = "neuron" if vendor == "nvidia" else "nvidia"
    rejected = [Rejected(other, _not(other, workload))]
    if workload.sharing == "fractional":
        sources += cite("plan.fractional")
        if not (sized.instance and sized.instance.is_fractional):
            rejected.append(Rejected("part-of-a-gpu (g6f, gr6f)", no_part(workload, vendor, host)))
    change = _change(workload, vendor)
    return Decision("D2", QUESTION, vendor, tuple(reasons), tuple(rejected), sources, change)


def _none() -> Decision:
    rejected = (
        Rejected("nvidia", "no accelerator is asked for"),
        Rejected("neuron", "no accelerator is asked for"),
    )
    reasons = ("No accelerator is asked for.",)
    change = ("the workload needs a GPU or a Neuron device",)
    return Decision("D2", QUESTION, "none", reasons, rejected, cite("plan.no-accelerator"), change)


def _vendor_reasons(workload: Workload, vendor: str) -> list[str]:
    devices = workload.devices
    if devices.own:
        return [f"{devices.own} GPUs stand on site."]
    if vendor == "neuron":
        said = "Neuron is asked for" if devices.vendor == "neuron" else "The model is supported"
        reasons = [
            f"{said}; the first model takes 1 to 2 weeks of porting.",
            "The model is compiled ahead of time and its artefact shipped, never compiled when a "
            "task starts.",
        ]
        if devices.neuron_supported is None:
            reasons.append("Whether the Neuron SDK supports the model must be confirmed first.")
        return reasons
    if devices.vendor == "neuron":
        return ["Neuron is wished for, but its SDK does not support the model."]
    if devices.vendor == "nvidia" or devices.type:
        return ["NVIDIA GPUs are asked for."]
    return [
        "CUDA runs any model without porting; Neuron is proposed once the model is known to be "
        "on its list."
    ]


def _type_reasons(workload: Workload, sized: Sized) -> list[str]:
    row = sized.instance
    if workload.devices.own:
        return []
    if row is None:
        said = (
            f"No type is proposed: {sized.problem}."
            if sized.problem
            else ("No type is proposed: neither the model's size nor a number of devices is known.")
        )
        return [said]
    named = bool(workload.devices.type)
    figures = f"{row.count} x {row.accelerator}, {row.device_memory_mib} MiB each"
    if row.is_fractional:
        figures = f"{row.share:g} of one {row.accelerator}, {row.device_memory_mib} MiB"
    if named:
        start = f"{workload.devices.type} is asked for: {row.name} ({figures})."
    elif workload.model.is_sized:
        start = f"{row.name} ({figures}) is the least device memory in which the model fits."
    else:
        start = f"{row.name} ({figures}) is the least that has the number of devices asked for."
    reasons = [start, "Nothing is said of speed: no throughput is known here."]
    if sized.problem:
        reasons.append(f"It does not fit: {sized.problem}.")
    return reasons


def _not(other: str, workload: Workload) -> str:
    devices = workload.devices
    if other == "nvidia":
        return "Neuron is asked for or the model is supported by it"
    if devices.own:
        return "the GPUs are there already"
    if devices.neuron_supported is False:
        return "its SDK does not support the model"
    if workload.use == "development":
        return "development wants CUDA's breadth, and Neuron compiles each shape first"
    if devices.vendor == "nvidia" or devices.type:
        return "NVIDIA is asked for"
    return "support for the model is not confirmed"


def _change(workload: Workload, vendor: str) -> tuple[str, ...]:
    if vendor == "neuron":
        return (
            "the Neuron SDK does not support the model",
            "the first result must come before a port of 1 to 2 weeks can be done",
        )
    if workload.devices.own:
        return ("the GPUs on site are too few or too small",)
    return (
        "the model is on the list of the Neuron SDK and 1 to 2 weeks of porting are worth it",
        "a measurement shows that a smaller or a larger GPU does the work at less cost",
    )
