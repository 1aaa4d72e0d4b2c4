"""More processes, each with a GPU of its own, than GPUs are asked for."""

from __future__ import annotations

from phalanx.lint.nodes import WORD, value_of
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import is_ray
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_SERVERS = Pattern(
    r"\bvllm\b|\bsglang\b|text-generation-(?:inference|launcher)|\btgi\b|\blmdeploy\b|tensorrt_llm"
    r"|trtllm-serve",
)
_TENSOR = Pattern(
    r"(?:^|\s)(?:--tensor[-_]parallel[-_]size|--tp[-_]size|--tp|-tp|--num[-_]shard)" + WORD
)
_PIPELINE = Pattern(r"(?:^|\s)(?:--pipeline[-_]parallel[-_]size|--pp[-_]size|-pp)" + WORD)
_LAUNCHED = Pattern(
    r"\b(?:torchrun|torch\.distributed\.(?:run|launch))\b.*?--nproc[-_]per[-_]node" + WORD
)
_SEVERAL_HOSTS = Pattern(
    r"\bray\b|--(?:nnodes|node[-_]rank|num[-_]nodes|headless|dist[-_]init[-_]addr)|multi[-_]node"
)
_SHARDS = "NUM_SHARD"


@rule(
    id="PLC011",
    slug="ranks-above-gpus",
    severity="error",
    areas=("placement", "gpu", "serving", "gang"),
    on=Container,
    message="More ranks are started on this host than GPUs are asked for",
    why="Every rank takes a GPU of its own, and the container sees only those it asks for: the "
    "rank after the last one finds no device, and the whole server or run ends while it starts.",
    fix="Ask for as many GPUs as there are ranks (the product of tensor and pipeline parallelism, "
    "or --nproc-per-node), on a type that has them; or start fewer ranks.",
    sources=(
        ("https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html", "undated"),
        ("https://docs.pytorch.org/docs/stable/elastic/run.html", "undated"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu-specifying.html",
            "2026-05-20",
        ),
    ),
    facts=("CMP-29", "SRV-08"),
)
def ranks_above_gpus(container: Container, world: World) -> Found:
    """A server on one host is an error; torchrun, which may also run on CPUs, is a warning."""
    gpus = container.gpus
    if not container.wants_gpu or not gpus or container.is_privileged or _sees_more(container):
        return
    text = container.command.text
    launched = _number(_LAUNCHED, container)
    if launched and launched > gpus:
        said = f"{launched} ranks are started; {gpus:g} {_cards(gpus)} asked for"
        yield Hit(container.command.node, message=said, severity="warning")
        return
    named = f"{(container.text('image') or '').partition('@')[0]} {text}"
    if not _SERVERS.search(named) or _SEVERAL_HOSTS.search(named) or is_ray(container):
        return
    if container.workload.is_multi_node or container.environment.get("RAY_ADDRESS"):
        return
    tensor, pipeline = _number(_TENSOR, container), _number(_PIPELINE, container)
    node = container.command.node
    shards = container.environment.get(_SHARDS)
    if tensor is None and shards is not None and "text-generation" in named:
        tensor, node = int(shards.value.number() or 0), shards
    ranks = (tensor or 1) * (pipeline or 1)
    if ranks > gpus:
        said = f"The model is split over {ranks} GPUs; {gpus:g} {_cards(gpus)} asked for"
        yield Hit(node, message=said)


def _sees_more(container: Container) -> bool:
    """The container is shown cards that it does not ask for."""
    shown = container.environment.get("NVIDIA_VISIBLE_DEVICES")
    return shown is not None or container.maps("/dev/nvidia")


def _cards(gpus: float) -> str:
    return "GPU is" if gpus == 1 else "GPUs are"


def _number(pattern: Pattern, container: Container) -> int | None:
    match = pattern.search(container.command.text)
    value = value_of(match[1], container) if match else ""
    return int(value) if value.isascii() and value.isdigit() else None
