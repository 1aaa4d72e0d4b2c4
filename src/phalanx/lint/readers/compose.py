"""Compose files: services with GPU reservations, in the words of task definitions."""

from __future__ import annotations

import re
import shlex
from typing import Any

from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Path, Place, Span, spell
from phalanx.lint.readers.build import with_containers
from phalanx.lint.readers.origin import DocumentOrigin
from phalanx.lint.values import HOLE
from phalanx.lint.workload import ComposeService
from phalanx.spec.places import Document

_SIZE = Pattern(r"\s*(\d+(?:\.\d+)?)\s*([bkmgt]?)i?b?\s*", re.IGNORECASE)
_UNIT = {"": 1 / 2**20, "b": 1 / 2**20, "k": 1 / 2**10, "m": 1.0, "g": 2.0**10, "t": 2.0**20}
_VARIABLE = Pattern(r"\$\{(\w+)(?::?-([^}]*))?[^}]*\}|\$(\w+)")
_OWN: dict[str, Path] = {
    "resourceRequirements": ("deploy", "resources", "reservations", "devices"),
    "linuxParameters.sharedMemorySize": ("shm_size",),
    "linuxParameters.devices": ("devices",),
    "linuxParameters.initProcessEnabled": ("init",),
    "linuxParameters.capabilities.add": ("cap_add",),
    "stopTimeout": ("stop_grace_period",),
    "portMappings": ("ports",),
    "mountPoints": ("volumes",),
    "entryPoint": ("entrypoint",),
    "healthCheck": ("healthcheck",),
    "healthCheck.command": ("healthcheck", "test"),
    "logConfiguration": ("logging",),
    "memory": ("mem_limit",),
}


class ComposeOrigin(DocumentOrigin):
    """Gives places in the words of the compose file."""

    def locate(self, path: Path) -> Place:
        """The place of a member; a missing one is where it belongs."""
        return super().locate(self._own(path))

    def span(self, path: Path) -> Span | None:
        """Where a scalar is written."""
        return super().span(self._own(path))

    def _own(self, path: Path) -> Path:
        if path[:1] == ("containerDefinitions",):
            path = path[2:]
        for length in range(len(path), 0, -1):
            own = _OWN.get(spell(path[:length]))
            if own is not None:
                return (*own, *path[length:]) if own[-1] != "shm_size" else own
        return path


def read_compose(document: Document) -> list[Entity]:
    """One workload with one container for every service; nothing where none wants a GPU."""
    value = document.value
    services = value.get("services") if isinstance(value, dict) else None
    known = {k: v for k, v in _object(services).items() if isinstance(v, dict)}
    out: list[Entity] = []
    if not any(_gpus(raw) for raw in known.values()):
        return out
    for name, raw in known.items():
        container = {"name": name, **_container(raw)}
        data = {"containerDefinitions": [container]}
        if raw.get("network_mode") == "host":
            data["networkMode"] = "host"  # type: ignore[assignment]
        if isinstance(raw.get("ipc"), str):
            data["ipcMode"] = raw["ipc"]
        origin = ComposeOrigin(document, ("services", name))
        service = ComposeService(data, origin, address=name, scope=(document.file, 0))
        out += [service, *with_containers(service, service.items("containerDefinitions"))]
    return out


def _container(raw: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"linuxParameters": _linux(raw)}
    for key in ("image", "privileged", "user"):
        if key in raw:
            out[key] = _filled(raw[key])
    for key, target in (("command", "command"), ("entrypoint", "entryPoint")):
        if raw.get(key) is not None:
            out[target] = _words(_filled(raw[key]))
    out["environment"] = _environment(raw.get("environment"))
    test = _object(raw.get("healthcheck")).get("test")
    found = {
        "healthCheck": {"command": ["CMD-SHELL", _filled(test)]}
        if isinstance(test, str)
        else {"command": _filled(_list(test))}
        if test
        else None,
        "portMappings": [{"containerPort": _port(p)} for p in _list(raw.get("ports"))],
        "ulimits": [_ulimit(n, v) for n, v in _object(raw.get("ulimits")).items()],
        "resourceRequirements": _gpus(raw),
        "mountPoints": [
            {"containerPath": str(v).split(":")[1]}
            for v in _list(raw.get("volumes"))
            if ":" in str(v)
        ],
    }
    return {**out, **{key: value for key, value in found.items() if value}}


def _linux(raw: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if raw.get("shm_size") is not None:
        out["sharedMemorySize"] = _mib(raw["shm_size"])
    if raw.get("devices"):
        out["devices"] = [_device(text) for text in _list(raw["devices"])]
    if raw.get("init") is not None:
        out["initProcessEnabled"] = raw["init"]
    return out


def _port(text: object) -> str:
    return str(text).rpartition(":")[2]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _gpus(raw: dict[str, Any]) -> list[dict[str, Any]]:
    node: Any = raw
    for step in ("deploy", "resources", "reservations", "devices"):
        node = node.get(step) if isinstance(node, dict) else None
    out = []
    for device in node if isinstance(node, list) else []:
        if isinstance(device, dict) and "gpu" in str(device.get("capabilities")):
            ids = device.get("device_ids")
            count = len(ids) if isinstance(ids, list) else device.get("count", "ALL")
            out.append({"type": "GPU", "value": "ALL" if count in ("all", -1) else str(count)})
    if not out and raw.get("gpus"):
        listed = [d for d in _list(raw["gpus"]) if isinstance(d, dict)]
        count = listed[0].get("count", "ALL") if listed else raw["gpus"]
        out.append({"type": "GPU", "value": "ALL" if count in ("all", -1) else str(count)})
    return out or ([{"type": "GPU", "value": "ALL"}] if raw.get("runtime") == "nvidia" else [])


def _environment(raw: Any) -> Any:
    if isinstance(raw, dict):
        return {k: _filled(v) for k, v in raw.items() if v is not None}
    if isinstance(raw, list):
        pairs = (str(item).partition("=") for item in raw)
        return [
            {"name": key, "value": _filled(value) if sign else None} for key, sign, value in pairs
        ]
    return None


def _filled(value: Any) -> Any:
    """Interpolations become their default, or a hole."""
    if isinstance(value, list):
        return [_filled(item) for item in value]
    if not isinstance(value, str) or "$" not in value:
        return value
    filled = _VARIABLE.sub(lambda m: m[2] if m[2] else HOLE, value.replace("$$", "\0"))
    return filled.replace("\0", "$")


def _words(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return shlex.split(value)
        except ValueError:
            return value.split()
    return value


def _device(text: object) -> dict[str, Any]:
    if isinstance(text, dict):
        return {"hostPath": str(text.get("source", "")), "containerPath": str(text.get("target"))}
    host, _, inside = str(text).partition(":")
    return {"hostPath": host, "containerPath": inside.partition(":")[0] or host}


def _ulimit(name: str, limit: Any) -> dict[str, Any]:
    if isinstance(limit, dict):
        return {"name": name, "softLimit": limit.get("soft"), "hardLimit": limit.get("hard")}
    return {"name": name, "softLimit": limit, "hardLimit": limit}


def _mib(value: Any) -> Any:
    match = _SIZE.fullmatch(str(value))
    return float(match[1]) * _UNIT[match[2].lower()] if match else value
