"""Health checks of paths that the engine does not have."""

from __future__ import annotations

from phalanx.lint.engines import engine_of
from phalanx.lint.infra import TargetGroup
from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.world import World

_PATH = "healthCheckPath"


@rule(
    id="SRV009",
    slug="health-path-of-engine",
    severity="warning",
    areas=("serving",),
    on=Service,
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
def health_path_of_engine(service: Service, world: World) -> Found:
    """The engine by image or command of the balanced container; silent where 404 is a success."""
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
            text = f"{engine.name} has no {path}; its health path is {engine.ready}"
            yield Hit(group, _PATH, text)
        elif engine.name == "Triton" and path == "/v2/health/live":
            text = (
                "The load balancer asks for liveness; /v2/health/ready says that models are loaded"
            )
            yield Hit(group, _PATH, text, severity="info")


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
