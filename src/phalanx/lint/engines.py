"""Model servers and models by name: which engine a container runs, which model, how large it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from phalanx.lint.entity import Node
from phalanx.lint.pattern import Pattern
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container


@dataclass(frozen=True)
class Engine:
    """A model server: how it is recognised, the path that says ready, paths that it has not.

    `port` is what it listens on where no flag or variable says another.
    """

    name: str
    sign: Pattern
    ready: str
    not_there: tuple[str, ...]
    port: int


_COMMON = ("/", "/healthz", "/healthcheck", "/status", "/ready", "/readyz", "/live", "/livez")
_PORT = Pattern(r"--(?:http[-_])?port[=\s]+[\"']?(\d+)")
ENGINES = (
    Engine(
        "Triton",
        Pattern(r"\btritonserver\b|nvcr\.io/nvidia/tritonserver", re.IGNORECASE),
        "/v2/health/ready",
        (*_COMMON, "/health", "/ping", "/api/health/ready"),
        8000,
    ),
    Engine(
        "vLLM",
        Pattern(
            r"vllm/vllm-|vllm-(?:openai|neuron|server)\b|(?:^|/)vllm[:\s]|\bvllm\s+serve\b"
            r"|vllm\.entrypoints",
            re.IGNORECASE,
        ),
        "/health",
        (*_COMMON, "/v2/health/ready", "/v2/health/live", "/v1/health", "/api/health"),
        8000,
    ),
    Engine(
        "TorchServe",
        Pattern(r"\btorchserve\b", re.IGNORECASE),
        "/ping",
        (*_COMMON, "/health", "/v2/health/ready"),
        8080,
    ),
)
_MODEL_FLAG = Pattern(
    r"(?:--(?:model|model-id|model_id|model-name|pretrained_model_name_or_path|"
    r"model_name_or_path)[=\s]+|\bvllm\s+serve\s+)[\"']?([A-Za-z0-9][\w.-]*/[\w.-]+)"
)
_MODEL_NAMES = ("MODEL_ID", "HF_MODEL_ID", "MODEL", "MODEL_NAME", "SERVED_MODEL", "LLM_MODEL")
_HUB = Pattern(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_SIZE = Pattern(r"(?<![\w.])(?:(\d+)x)?(\d{1,4}(?:\.\d+)?)[bB](?![A-Za-z0-9])")
_BYTES = (
    (Pattern(r"int4|4bit|awq|gptq|w4a16|nf4|bnb|bitsandbytes|mxfp4|nvfp4|q4", re.I), 0.5),
    (Pattern(r"fp8|int8|8bit|w8a8|q8", re.I), 1.0),
)


def engine_of(container: Container) -> Engine | None:
    """The model server that the image or the command names; None when neither does."""
    image = container.text("image") or ""
    text = f"{image.rpartition('@')[0] or image} {container.command.text}"
    return next((engine for engine in ENGINES if engine.sign.search(text)), None)


def port_of(engine: Engine, container: Container) -> int | None:
    """The port that the engine listens on; None where a flag or variable leaves it unknown."""
    text = container.command.text
    match = _PORT.search(text)
    if match:
        return int(match[1])
    unsure = "port" in text or "ts-config" in text or container.environment.get("VLLM_PORT")
    return None if unsure else engine.port


def hub_model(container: Container) -> tuple[Node, str] | None:
    """(where it stands, `owner/name`) of a model of a public hub; None when none is named."""
    match = _MODEL_FLAG.search(container.command.text)
    if match:
        return container.command.node, match[1]
    for name in _MODEL_NAMES:
        variable = container.environment.get(name)
        content = variable.content if variable else None
        if variable is not None and content and _HUB.fullmatch(content):
            return variable, content
    return None


def weights_mib(container: Container, model: str) -> float | None:
    """Least MiB of the model's weights, from the size in its name; None when it says none.

    A mixture of experts (`8x7B`) counts as its product. Quantisation is taken from the name and
    from the command; else two bytes for each parameter.
    """
    if HOLE in model:
        return None
    sizes = [float(n or 1) * float(size) for n, size in _SIZE.findall(model.replace("_", "-"))]
    if not sizes:
        return None
    text = f"{model} {container.command.text}"
    text += " ".join(f" {v.key}={v.content}" for v in container.environment.variables)
    each = next((size for sign, size in _BYTES if sign.search(text)), 2.0)
    return max(sizes) * 1e9 * each / 2**20
