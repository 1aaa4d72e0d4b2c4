"""The interview: what is asked, when, and the files that the answers make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Answers = Mapping[str, str]
"""Path of a field (`model.parameters`) → what was typed."""


def _always(answers: Answers) -> bool:
    return True


def _trains(answers: Answers) -> bool:
    return answers.get("use") == "training"


def _serves(answers: Answers) -> bool:
    return answers.get("use") == "inference"


def _develops(answers: Answers) -> bool:
    return answers.get("use") == "development"


def _has_model(answers: Answers) -> bool:
    return not _develops(answers) and answers.get("team.self_host") != "no"


@dataclass(frozen=True)
class Question:
    """One question. An empty answer takes `default`; with an empty default it says nothing."""

    path: str
    text: str
    default: str = ""
    when: Callable[[Answers], bool] = _always


QUESTIONS: tuple[Question, ...] = (
    Question("name", "Name of the workload", "my-workload"),
    Question("use", "What does it do: training, inference or development", "training"),
    Question("team.self_host", "Shall GPUs be operated at all (yes, no)", "yes"),
    Question(
        "team.platform",
        "What does the team run today: none, ecs, managed_instances, fargate, kubernetes, "
        "sagemaker, batch",
        "none",
    ),
    Question("serving.own_weights", "Are the weights your own (yes, no)", "yes", _serves),
    Question("model.parameters", "Parameters of the model, such as 7B", "", _has_model),
    Question("model.tuning", "Train every parameter (full) or adapters (lora)", "full", _trains),
    Question("model.sequence", "Tokens of a sample, such as 4096", "", _trains),
    Question("accelerator.type", "An instance type or accelerator that is fixed already"),
    Question("accelerator.own", "GPUs that stand on site", "0"),
    Question(
        "accelerator.neuron_supported",
        "Does the Neuron SDK support the model (yes, no; empty: not known)",
        "",
        _has_model,
    ),
    Question("run.nodes", "Number of nodes, if it is fixed", "", _trains),
    Question("run.duration", "How long is one run, such as 12h or 21d", "", _trains),
    Question(
        "run.resumes",
        "Does a run resume from its last checkpoint by itself (yes, no)",
        "yes",
        _trains,
    ),
    Question(
        "run.market",
        "Capacity: any, on_demand, spot, reserved, capacity_block",
        "any",
        lambda answers: not _serves(answers),
    ),
    Question("serving.latency", "Latency that is promised, such as 300ms", "", _serves),
    Question("serving.traffic", "Load: steady, bursty, office_hours, batch", "steady", _serves),
    Question(
        "sharing.wish",
        "Divide a GPU: none, share, mps, mig, time_slicing, fractional",
        "none",
        _develops,
    ),
    Question(
        "sharing.tenants", "Do all sharers trust each other (one) or not (many)", "one", _develops
    ),
    Question("security.compliance", "Regimes that apply, with commas: pci, hipaa, fedramp, gdpr"),
    Question(
        "security.runtime_monitoring", "Is GuardDuty Runtime Monitoring required (yes, no)", "no"
    ),
    Question("quota.vcpus", "vCPU quota of the family in the account, if you know it"),
)
"""In the order in which they are asked."""

_LISTS = frozenset({"security.compliance"})
_WHOLE = frozenset({"model.sequence", "accelerator.own", "run.nodes", "quota.vcpus"})
_TRUTH = frozenset(
    {
        *("team.self_host", "serving.own_weights", "accelerator.neuron_supported"),
        *("run.resumes", "security.runtime_monitoring"),
    }
)


def workload_file(answers: Answers) -> dict[str, Any]:
    """The members of the workload file that the answers make; empty answers are left out."""
    made: dict[str, Any] = {"kind": "workload"}
    for path, said in answers.items():
        if not said:
            continue
        section, _, field = path.rpartition(".")
        place = made.setdefault(section, {}) if section else made
        place[field] = _value(path, said)
    return made


def _value(path: str, said: str) -> Any:
    if path in _LISTS:
        return [word.strip() for word in said.split(",") if word.strip()]
    if path in _WHOLE and said.isascii() and said.isdigit():
        return int(said[:18])
    if path in _TRUTH and said.lower() in ("yes", "no"):
        return said.lower() == "yes"
    return said


def job_file(name: str, accelerator: str, nodes: int, *, efa: bool, spot: bool) -> dict[str, Any]:
    """A job file for what the plan proposes; the command is the reader's to write."""
    made: dict[str, Any] = {
        "kind": "train",
        "name": name,
        "command": ["python", "train.py"],
        "nodes": nodes,
    }
    if accelerator:
        made["resources"] = {"accelerator": accelerator}
        if efa:
            made["resources"]["efa"] = True
    made["checkpoint"] = {"every": "auto"}
    market = "spot" if spot else "on_demand"
    made["target"] = {"kind": "ecs", "capacity": {"market": market}}
    return made
