"""Health checks of paths that the engine does not have."""

from __future__ import annotations

from phalanx.lint.engines import Engine, engine_of, port_of
from phalanx.lint.entity import Entity
from phalanx.lint.infra import TargetGroup
from phalanx.lint.launch import Service
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_PATH = "healthCheckPath"
_URL = Pattern(
    r"(?:(https?)://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::(\d+))?(/[^\s\"'?#;|&)]*)?"
)
_STRICT = Pattern(
    r"\bcurl\b(?=.*\s(?:-[A-Za-z]*f[A-Za-z]*|--fail\S*)(?=\s|$))|\bwget\b|\burlopen\b"
    r"|\braise_for_status\b"
)
"""Probes that fail on an answer of 404; curl alone does not."""
_FORGIVES = Pattern(r"\|\|\s*(?:true|:|exit\s+0)\b|;\s*(?:true|exit\s+0)\s*$")


@rule(
    id="SRV009",
    slug="health-path-of-engine",
    severity="warning",
    areas=("serving",),
    on=Entity,
    message="The health check asks a path that the model server does not have",
    why="The server answers 404 (or the load balancer asks /), so healthy tasks are replaced for "
    "ever; a liveness path on the load balancer sends requests to models that still load.",
    fix="vLLM: /health. Triton: /v2/health/ready (not live). TorchServe: /ping.",
    sources=(
        ("https://docs.vllm.ai/en/latest/", "undated"),
        (
            "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/README.html",
            "undated",
        ),
        ("https://docs.pytorch.org/serve/inference_api.html", "undated"),
    ),
    facts=("SRV-01", "SRV-02", "SRV-03"),
)
def health_path_of_engine(entity: Entity, world: World) -> Found:
    """Checks of load balancers and of containers; silent where 404 is a success."""
    if isinstance(entity, Service):
        yield from _balanced(entity, world)
    elif isinstance(entity, Container):
        yield from _own(entity)


def _balanced(service: Service, world: World) -> Found:
    """The engine by image or command of the balanced container."""
    task = service.task
    if task is None:
        return
    for balancer in service.items("loadBalancers"):
        group = world.link(service, balancer.raw("targetGroupArn"), TargetGroup)
        name = balancer.text("containerName")
        container = next((c for c in task.containers if c.text("name") == name), None)
        engine = engine_of(container) if container is not None else None
        if group is None or engine is None or not _asks_http(group):
            continue
        path = group.text(_PATH)
        if path is None and group.has(_PATH):
            continue
        path = "/" if path is None else path.partition("?")[0]
        if path in engine.not_there:
            yield Hit(group, _PATH, _says(engine, path))
        elif engine.name == "Triton" and path == "/v2/health/live":
            text = (
                "The load balancer asks for liveness; /v2/health/ready says that models are loaded"
            )
            yield Hit(group, _PATH, text, severity="info")


def _own(container: Container) -> Found:
    """The container's own check, where every address in it is one that its engine has not."""
    engine = engine_of(container) if container.has("healthCheck") else None
    command = " ".join(container.texts("healthCheck.command"))
    if engine is None or HOLE in command or _FORGIVES.search(command):
        return
    if not _STRICT.search(command):
        return
    port = port_of(engine, container)
    asked = [
        match
        for match in _URL.finditer(command)
        if match[1] or match[2] or match[3]  # a bare host name is no address
    ]
    default = {"https": 443}
    if any(int(m[2] or default.get(m[1] or "", 80)) != port for m in asked):
        return
    paths = [match[3] or "/" for match in asked]
    if paths and all(path in engine.not_there for path in paths):
        yield Hit(container, "healthCheck.command", _says(engine, paths[0]))


def _says(engine: Engine, path: str) -> str:
    return f"{engine.name} has no {path}; its health path is {engine.ready}"


def _asks_http(group: TargetGroup) -> bool:
    words = [group.text(key) or "" for key in ("healthCheckProtocol", "protocol")]
    if any(word.upper() in ("TCP", "TLS", "UDP", "GRPC", "GENEVE") for word in words):
        return False
    if (group.text("protocolVersion") or "").upper() == "GRPC":
        return False
    codes = group.raw("matcher")
    return codes is None or (
        HOLE not in str(codes) and "404" not in str(codes) and "499" not in str(codes)
    )
