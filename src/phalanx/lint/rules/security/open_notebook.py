"""Notebooks and dashboards started without a password."""

from __future__ import annotations

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_NOTEBOOK = Pattern(
    r"--(?:NotebookApp|ServerApp|IdentityProvider|LabApp)\.token=(?:''|\"\"|(?=\s|$))"
    r"|--(?:NotebookApp|ServerApp|PasswordIdentityProvider)\.(?:hashed_)?password=(?:''|\"\"|(?=\s|$))"
    r"|--auth[= ]none\b"
)
_DASHBOARD = Pattern(r"--dashboard-host[=\s]+(?:0\.0\.0\.0|::)")


@rule(
    id="SEC011",
    slug="notebook-without-password",
    severity="error",
    areas=("security",),
    on=Container,
    message="A notebook server is started without token and password",
    why="Whoever reaches its port runs code with the task's role and its cards.",
    fix="Let the token be generated, or hand it over as a secret; keep the port closed and reach "
    "it through a port forward.",
    sources=(
        (
            "https://jupyter-server.readthedocs.io/en/latest/operators/security.html",
            "undated",
        ),
        ("https://docs.ray.io/en/latest/ray-security/index.html", "undated"),
    ),
    guards=("SB6",),
    facts=("SCY-24",),
)
def notebook_without_password(container: Container, world: World) -> Found:
    """An info in compose files. Ray's dashboard on every address is an info: it has no password."""
    text = container.command.text
    local = container.workload.flavour in ("compose", "job")
    if ("token" in text or "assword" in text or "auth" in text) and _NOTEBOOK.search(text):
        yield Hit(container.command.node, severity="info" if local else "")
        return
    if "dashboard-host" in text and _DASHBOARD.search(text) and not local:
        said = "Ray's dashboard listens on every address, and it has no password: keep 8265 closed"
        yield Hit(container.command.node, message=said, severity="info")
