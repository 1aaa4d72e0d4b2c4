"""D3: where the capacity comes from; one homogeneous group for each type."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.facts.rows import rows
from phalanx.plan.decisions.decision import Decision, Rejected, cite, cite_type
from phalanx.plan.decisions.host import ANYWHERE, EC2, FARGATE, MANAGED
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload

QUESTION = "Where does the capacity come from?"
BLOCK_NODES = 64
"""Most instances in one Capacity Block."""
BLOCK_DAYS = 182
"""Longest Capacity Block, with all its extensions."""


@dataclass(frozen=True)
class Chosen:
    """A kind of capacity, why, and on which facts it rests."""

    choice: str
    reasons: tuple[str, ...]
    facts: tuple[str, ...]
    change: tuple[str, ...]


_WHAT = {
    "capacity-block": "Capacity Blocks are for planned training on P and Trn types",
    "on-demand-reservation": "a reservation is paid for while it stands idle, and nothing promised "
    "needs it",
    "on-demand-group": "On-Demand assures nothing for scarce types, or costs more where a run can "
    "resume",
    "spot-group": "Spot is taken back at two minutes' notice",
    "managed-instances-on-demand": "the host is a scaling group of one's own",
    "managed-instances-reserved": "the host is a scaling group of one's own",
}


def choose(workload: Workload, sized: Sized, host: str) -> Chosen:
    """The kind of capacity."""
    if host == ANYWHERE:
        reasons = ("The GPUs on site are the capacity; nothing scales out behind them.",)
        change = ("more GPUs are needed than stand on site",)
        return Chosen("own-hosts", reasons, ("plan.anywhere-gpu",), change)
    if host == FARGATE:
        return _tasks(workload)
    if host not in (EC2, MANAGED):
        reasons = ("There is no accelerator to find capacity for.",)
        return Chosen("none", reasons, ("plan.no-accelerator",), ("GPUs are to be operated",))
    if host == MANAGED:
        return _managed(workload)
    if workload.trains:
        return _training(workload, sized)
    return _standing(workload)


def decide(workload: Workload, sized: Sized, host: str, chosen: Chosen) -> Decision:
    """The decision: step zero is the quota, then the group, then the kind of capacity."""
    own = host in (EC2, MANAGED) and not workload.devices.is_cpu
    reasons = [*chosen.reasons]
    facts = [*chosen.facts]
    if own:
        reasons.insert(0, _quota(workload, sized))
        facts += ["plan.quota-per-family", "plan.homogeneous-group"]
    if own and host == EC2:
        reasons.append(_groups(sized, chosen.choice))
        facts += ["plan.smallest-type-protects", "provider.weights-refused", "plan.strategy"]
    none = "there is no accelerator to find capacity for" if chosen.choice == "none" else ""
    none = none or ("Fargate has no instances" if host == FARGATE else "")
    rejected = [
        Rejected(name, none or _not(name, workload, sized) or why)
        for name, why in _WHAT.items()
        if name != chosen.choice
    ]
    if host == MANAGED:
        rejected = [
            Rejected("capacity-block", "not a documented pattern on Managed Instances"),
            Rejected("on-demand-group", "Managed Instances are the host"),
        ]
        if workload.run.market == "spot" and (why := no_spot(workload)):
            rejected.append(Rejected("managed-instances-spot", why))
    if own:
        rejected.append(
            Rejected(
                "mixed-type-group",
                "allowed, but a trap: tasks that do not fit the smallest type stay in PROVISIONING",
            )
        )
    sources = cite(*facts)
    if own and sized.instance:
        sources += (cite_type(sized.instance),)
    return Decision(
        "D3", QUESTION, chosen.choice, tuple(reasons), tuple(rejected), sources, chosen.change
    )


def block_sizes(sized: Sized) -> tuple[int, ...]:
    """Nodes of each Capacity Block of the run, as even as can be; the larger blocks first."""
    blocks = max(1, -(-sized.nodes // BLOCK_NODES))
    least, more = divmod(sized.nodes, blocks)
    return tuple(least + (number < more) for number in range(blocks))


def no_block(workload: Workload, sized: Sized) -> str:
    """Why no Capacity Block can hold the workload, in words; empty when one can."""
    if not workload.trains:
        return "Capacity Blocks are for planned training"
    if sized.instance is None:
        return "no type is known that has Capacity Blocks"
    if "capacity-block" not in sized.instance.usage:
        return f"{sized.instance.name} has no Capacity Blocks"
    if workload.days is not None and workload.days > BLOCK_DAYS:
        days = f"{workload.days:g}"
        return f"a Capacity Block lasts at most {BLOCK_DAYS} days and the run takes {days}"
    return ""


def _groups(sized: Sized, choice: str) -> str:
    """How scaling groups and providers are cut."""
    sizes = block_sizes(sized)
    if choice == "capacity-block" and len(sizes) > 1:
        shown = " + ".join(str(size) for size in sizes)
        return (
            f"A launch template names one block, so there is one scaling group and one capacity "
            f"provider for each block ({shown} nodes), blended by one strategy. All blocks have "
            "to be bought for the same dates and the same zone, for EFA stays inside a zone."
        )
    return (
        "One scaling group and one capacity provider for the one instance type: managed scaling "
        "protects on the smallest type of a group and knows no accelerator's memory."
    )


def _not(name: str, workload: Workload, sized: Sized) -> str:
    """Why a kind of capacity is out for this workload; empty where the usual reason says it."""
    if name == "capacity-block":
        return no_block(workload, sized) or _block_not_asked(workload, sized)
    if name == "spot-group" and workload.run.market == "spot":
        return no_spot(workload)
    return ""


def _block_not_asked(workload: Workload, sized: Sized) -> str:
    """Why a run that a Capacity Block could hold is not given one."""
    market = workload.run.market
    if market in ("spot", "on_demand"):
        asked = "Spot" if market == "spot" else "On-Demand"
        name = sized.instance.name if sized.instance else ""
        span = f" for {workload.days:g} days" if workload.days is not None else ""
        return (
            f"{asked} is asked for, not a block; {sized.nodes} x {name}{span} could be had as one: "
            "say market: capacity_block (or any), and know the start date"
        )
    if market == "any" and sized.nodes == 1:
        return (
            "a run on one node without a deadline, and not known to be longer than 14 days, can "
            "wait for On-Demand"
        )
    return ""


def no_spot(workload: Workload) -> str:
    """Why Spot is out although it may be wished for, in words; empty when it is not."""
    if workload.use == "inference" and workload.serving.latency_s is not None:
        return "a latency is promised, and Spot is taken back at two minutes' notice"
    if workload.use == "inference" and workload.serving.traffic != "batch":
        return "somebody waits for the answers of a standing endpoint: only batch bears Spot"
    if workload.trains and not workload.run.resumes:
        return "the run does not resume: an interruption would lose it all"
    return ""


def quota_code(sized: Sized, choice: str) -> str:
    """Code of the vCPU quota of the type's family; empty where it is not confirmed."""
    if sized.instance is None:
        return ""
    codes: dict[str, str] = rows()["plan.quota-codes"].value
    letter = "inf" if sized.instance.family.startswith("inf") else sized.instance.family[0]
    spot = choice.endswith("spot") or choice == "spot-group"
    if spot and sized.instance.family == "p5":
        return codes["p5-spot"]
    return codes.get(f"{letter}-spot" if spot else letter, "")


def vcpus_needed(workload: Workload, sized: Sized) -> int:
    """vCPUs of all nodes, or of the most replicas, with the surge of a deployment."""
    if sized.instance is None:
        return 0
    nodes = sized.nodes
    if workload.use == "inference":
        replicas = max(1, sized.instance.count // max(sized.devices, 1))
        nodes = -(-workload.serving.replicas[1] // replicas)
    return nodes * sized.instance.vcpus


def _quota(workload: Workload, sized: Sized) -> str:
    need = vcpus_needed(workload, sized)
    if workload.quota_vcpus is not None and workload.quota_vcpus < need:
        return (
            f"Step zero: the quota is {workload.quota_vcpus} vCPUs and {need} are needed; nothing "
            "starts before it is raised."
        )
    said = f", at least {need} vCPUs" if need else ""
    return f"Step zero: check the vCPU quota of the family{said}; its default can be 0."


def _managed(workload: Workload) -> Chosen:
    promised = workload.use == "inference" and workload.serving.latency_s is not None
    if promised or workload.run.market == "reserved":
        why = "A latency is promised" if promised else "Assured capacity is asked for"
        return Chosen(
            "managed-instances-reserved",
            (f"{why}: capacityOptionType RESERVED with a reservation group.",),
            ("plan.mi-reserved",),
            ("a start delayed by missing capacity is acceptable",),
        )
    if workload.run.market == "spot" and not no_spot(workload):
        return Chosen(
            "managed-instances-spot",
            (_bears(workload),),
            ("plan.spot-policy",),
            ("an interruption costs more than it saves",),
        )
    return Chosen(
        "managed-instances-on-demand",
        ("Managed Instances start and replace instances on demand.", *_idle(workload)),
        ("plan.mi-choice", "plan.scale-in"),
        ("a latency is promised, or a type is scarce: then RESERVED with a reservation group",),
    )


def _tasks(workload: Workload) -> Chosen:
    """Fargate: each task brings its own capacity."""
    if workload.run.market == "spot" and not no_spot(workload):
        return Chosen(
            "fargate-spot",
            (
                "FARGATE_SPOT as capacity provider: the work bears interruptions, and a task is "
                "warned two minutes ahead by SIGTERM.",
            ),
            ("plan.no-accelerator", "plan.spot-policy"),
            ("an interruption costs more than it saves: FARGATE",),
        )
    return Chosen(
        "fargate-on-demand",
        ("Each task brings its own vCPUs and memory: there is no group or instance to plan.",),
        ("plan.no-accelerator",),
        ("interruptions are borne: FARGATE_SPOT",),
    )


def _bears(workload: Workload) -> str:
    if workload.use == "inference":
        return "A batch promises no latency: what an interruption took is asked for again."
    return "The work bears interruptions and promises no latency."


def _idle(workload: Workload) -> tuple[str, ...]:
    if workload.use != "development":
        return ()
    return ("The floor is 0, and a schedule covers office hours: idle GPUs cost most.",)


def _training(workload: Workload, sized: Sized) -> Chosen:
    market = workload.run.market
    without = no_block(workload, sized)
    long = workload.days is not None and workload.days > 14
    if market == "spot" and workload.run.resumes:
        return _spot()
    if not without and (
        market in ("capacity_block", "reserved")
        or (market == "any" and (sized.nodes > 1 or long or workload.run.deadline_s is not None))
    ):
        return _block(sized)
    if market in ("reserved", "capacity_block"):
        return _reservation(f"Assured capacity is asked for, and {without}.", "plan.block-duration")
    said = "The run is short enough to wait for On-Demand capacity."
    if market == "spot":
        said = "Spot is asked for, but the run does not resume: an interruption would lose it all."
    return Chosen(
        "on-demand-group",
        (said,),
        ("plan.homogeneous-group", "plan.spot-policy"),
        (
            "the start date matters: a Capacity Block (P, Trn) or a reservation (G)",
            "the run resumes from checkpoints and may be interrupted: Spot",
        ),
    )


def _block(sized: Sized) -> Chosen:
    blocks = -(-sized.nodes // BLOCK_NODES)
    count = f"{blocks} blocks" if blocks > 1 else "one block"
    return Chosen(
        "capacity-block",
        (
            f"A planned run on a scarce type: {count} for {sized.nodes} node"
            f"{'s' if sized.nodes > 1 else ''} (at most {BLOCK_NODES} in a block).",
            "It is one zone and a targeted reservation: the launch template names the block and "
            "its market type, the subnet and FSx stand in its zone.",
            "Instances start to end 30 minutes before the block does, warned 10 minutes ahead: "
            "the last checkpoint and the scale to zero come before that.",
            "It buys certainty, not a discount; it is charged up front and cannot be cancelled.",
        ),
        (
            *("plan.block-duration", "plan.block-one-zone", "plan.block-scale-down"),
            *("plan.block-assurance", "capacity-block.terminates-before-end-s"),
        ),
        (
            "no offering covers the dates: then On-Demand, Spot with resume, or later dates",
            "the run resumes and may be interrupted: Spot",
        ),
    )


def _spot() -> Chosen:
    return Chosen(
        "spot-group",
        (
            "The run resumes from committed checkpoints and may be interrupted.",
            "Spot stands in a group and provider of its own, in one zone for a gang; capacity "
            "rebalancing stays off, so that no member is taken without need.",
            "Draining leaves standalone tasks alone on EC2: a listener on the host tells the "
            "ranks, which save at the notice.",
            "Whether there is any Spot capacity of the type is not known here: ask for its "
            "placement score.",
        ),
        ("plan.spot-policy", "plan.spot-apart", "spot.notice-s", "draining.standalone-tasks"),
        (
            "interruptions take more time than Spot saves: see the checkpoint interval",
            "the run must be over by a fixed day: On-Demand or a Capacity Block",
        ),
    )


def _reservation(why: str, *facts: str) -> Chosen:
    return Chosen(
        "on-demand-reservation",
        (why, "An On-Demand Capacity Reservation assures it; it is paid for while it stands."),
        ("plan.odcr", "plan.spot-policy", *facts),
        ("a delayed start or a lost replica is acceptable: then On-Demand",),
    )


def _standing(workload: Workload) -> Chosen:
    """Inference and development on EC2."""
    promised = workload.use == "inference" and workload.serving.latency_s is not None
    if promised or workload.run.market in ("reserved", "capacity_block"):
        why = "A latency is promised, so capacity must be assured and Spot is out."
        return _reservation(why if promised else "Assured capacity is asked for.")
    if workload.run.market == "spot" and not no_spot(workload):
        return Chosen(
            "spot-group",
            (_bears(workload),),
            ("plan.spot-policy", "plan.spot-apart"),
            ("a latency is promised",),
        )
    return Chosen(
        "on-demand-group",
        ("No latency is promised and nothing is planned far ahead.", *_idle(workload)),
        ("plan.homogeneous-group", "plan.scale-in"),
        ("a latency is promised, or the type is scarce: then a reservation",),
    )
