"""Job files of ours. A file that the job reader refuses is still linted as far as it goes."""

from __future__ import annotations

import re
from typing import Any

from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Path, Place, Span
from phalanx.lint.readers.build import with_containers
from phalanx.lint.readers.origin import DocumentOrigin
from phalanx.lint.workload import JobFile
from phalanx.spec.places import Document

_SIZE = Pattern(r"(\d+(?:\.\d+)?)\s*(KiB|MiB|GiB|TiB|KB|MB|GB|TB)?")
_MIB = {"KiB": 2**-10, "MiB": 1.0, "GiB": 2.0**10, "TiB": 2.0**20}
_OWN: dict[tuple[str, ...], Path] = {
    ("environment",): ("env",),
    ("resourceRequirements",): ("resources", "accelerator"),
    ("linuxParameters", "sharedMemorySize"): ("resources", "shared_memory"),
    ("linuxParameters", "devices"): ("resources", "efa"),
    ("memory",): ("resources", "memory"),
    ("stopTimeout",): ("stop", "grace"),
}


class JobOrigin(DocumentOrigin):
    """Gives places of the container's members in the words of the job file."""

    def locate(self, path: Path) -> Place:
        """The place of a member; a missing one is where it belongs."""
        return super().locate(self._own(path))

    def span(self, path: Path) -> Span | None:
        """Where a scalar is written."""
        return super().span(self._own(path))

    def _own(self, path: Path) -> Path:
        if path[:1] != ("containerDefinitions",):
            return path
        path = path[2:]
        for words, own in _OWN.items():
            if path[: len(words)] == words:
                keeps = words == ("environment",)
                return (*own, *path[len(words) :]) if keeps else own
        return path


def read_job(document: Document) -> list[Entity]:
    """The job with its own words, and its one container in those of task definitions."""
    value = document.value
    assert isinstance(value, dict)
    data = {**value, "containerDefinitions": [_container(value)]}
    origin = JobOrigin(document, ())
    job = JobFile(data, origin, address=document.file, scope=(document.file, 0))
    return [job, *with_containers(job, job.items("containerDefinitions"))]


def _container(value: dict[str, Any]) -> dict[str, Any]:
    resources = value.get("resources")
    resources = resources if isinstance(resources, dict) else {}
    out: dict[str, Any] = {"name": value.get("name"), "linuxParameters": {}}
    for key in ("image", "command"):
        if key in value:
            out[key] = value[key]
    if isinstance(value.get("env"), dict):
        out["environment"] = value["env"]
    accelerator = str(resources.get("accelerator") or "")
    if accelerator:
        name, _, count = accelerator.partition(":")
        kind = "NeuronDevice" if re.match(r"(?i)trn|inf|trainium|neuron", name) else "GPU"
        out["resourceRequirements"] = [{"type": kind, "value": count or "1"}]
    if "shared_memory" in resources:
        out["linuxParameters"]["sharedMemorySize"] = _mib(resources["shared_memory"])
    if "memory" in resources:
        out["memory"] = _mib(resources["memory"])
    return out


def _mib(value: Any) -> Any:
    match = _SIZE.fullmatch(str(value).strip())
    if not match:
        return value
    return float(match[1]) * _MIB.get((match[2] or "MiB").replace("B", "iB").replace("ii", "i"), 1)
