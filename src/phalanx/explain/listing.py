"""A listing of a checkpoint root, sorted into steps, staging folders and the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from phalanx.explain.model import Path
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import integer, mapping, moment, objects, sequence, text
from phalanx.names import split_checkpoint_name

MARKERS = frozenset(
    {"_complete", "complete", ".complete", "_success", "success", "done", "_done", ".done",
     "_committed", "committed", ".metadata", "_checkpoint_complete"}
)  # fmt: skip
"""Names of files that a publisher writes last, in lower case."""

_STEP = re.compile(
    r"(?:^|[^a-z])(?:global_?step|step|checkpoint|ckpt|iteration|iter|epoch|save)s?[_=-]?"
    r"(?P<step>\d{1,15})(?P<rest>\.(?:pth?|ckpt|bin|safetensors|tar|zip|npz))?$",
    re.IGNORECASE,
)
_BARE = re.compile(r"^\d{1,15}$")
_HOLDING = frozenset({"tmp", "temp", "_tmp", ".tmp", "staging", "_staging", ".staging", "_temp"})
"""Folders that hold staging folders."""
_NAME_MAX = 255
_STAGING = re.compile(
    r"^(?:[._~]*(?:tmp|temp|staging|partial|incomplete|inprogress)[._-]*)(?P<name>.+)$"
    r"|^(?P<before>.+?)[._-](?P<tail>(?:tmp|temp|staging|partial|incomplete|inprogress)\b.*)$",
    re.IGNORECASE,
)
_WRITER = re.compile(r"(?:rank|host|node|worker|writer|proc|pid|r|w)[._-]?(\w+)", re.IGNORECASE)
_ATTEMPT = re.compile(r"^(?:a|attempt|try|retry)[._-]?\d+$", re.IGNORECASE)


@dataclass(frozen=True)
class Item:
    """One object or file."""

    path: str
    size: int | None
    at: float | None
    place: Path
    digest: str = ""


@dataclass(frozen=True)
class Wanted:
    """What a manifest says of one file."""

    size: int | None = None
    digest: str = ""

    def differs(self, item: Item) -> str:
        """How a listed file differs from it, in words; empty when it does not."""
        if None not in (self.size, item.size) and self.size != item.size:
            return f"has {item.size} bytes, the manifest says {self.size}"
        if self.digest and item.digest and self.digest != item.digest:
            return "has another digest than the manifest says"
        return ""


@dataclass
class Step:
    """One checkpoint: its files by their name inside it."""

    name: str
    order: tuple[int, int]
    files: dict[str, Item] = field(default_factory=dict)

    @cached_property
    def marker(self) -> Item | None:
        """The file that says complete."""
        return next((i for n, i in self.files.items() if n.lower() in MARKERS), None)


@dataclass
class Staging:
    """One folder in which somebody prepared a checkpoint."""

    folder: str
    target: str
    """Name of the checkpoint that it was to become."""
    writer: str
    """Who wrote it, if the name says so; attempts of one writer are the same writer."""
    place: Path = ()


@dataclass
class Listing:
    """The root, sorted."""

    evidence: Evidence
    root: str
    world_size: int | None
    steps: list[Step]
    stagings: list[Staging]
    manifests: dict[str, dict[str, Wanted]]
    latest: str
    uploads: list[str]

    @cached_property
    def marker_name(self) -> str:
        """Name of the marker that this root uses; empty when no checkpoint has one."""
        for step in self.steps:
            if step.marker is not None:
                return step.marker.path[len(step.name) :].lstrip("/")
        return ""


def sort_listing(evidence: Evidence) -> Listing:
    """The listing of one file."""
    value = evidence.value
    body = mapping(value)
    root = text(body.get("root")) or text(body.get("Prefix"))
    steps: dict[str, Step] = {}
    stagings: dict[str, Staging] = {}
    for item in _items(value, root):
        _place(item, steps, stagings)
    given = {k.strip("/"): v for k, v in mapping(body.get("manifests")).items()}
    return Listing(
        evidence,
        root,
        integer(body.get("world_size")),
        sorted(steps.values(), key=lambda s: (s.order, s.name)),
        list(stagings.values()),
        {_known(name, steps): _manifest(manifest) for name, manifest in given.items()},
        _latest(body.get("latest")),
        [_inside(_upload(item), root) for item in sequence(body.get("multipart_uploads"))],
    )


def _items(value: Any, root: str) -> list[Item]:
    body = mapping(value)
    key = "" if isinstance(value, list) else "entries" if "entries" in body else "Contents"
    found: dict[str, Item] = {}
    for index, entry in objects(value if isinstance(value, list) else body.get(key)):
        path = _inside(text(entry.get("path")) or text(entry.get("Key")), root)
        size = integer(entry.get("size", entry.get("Size")))
        at = moment(entry.get("mtime", entry.get("LastModified")))
        if path and not path.endswith("/"):
            place: Path = (key, index) if key else (index,)
            older = found.get(path)
            if older is None or (at or 0) >= (older.at or 0):
                found[path] = Item(path, size, at, place, _digest(entry))
    return [found[path] for path in sorted(found)]


def _inside(path: str, root: str) -> str:
    """The path below the root, without a leading slash or dot."""
    base = root.rstrip("/")
    if base and path.startswith(base + "/"):
        path = path[len(base) + 1 :]
    while path.startswith(("./", "/")):
        path = path[2:] if path.startswith("./") else path[1:]
    return path


def _place(item: Item, steps: dict[str, Step], stagings: dict[str, Staging]) -> None:
    parts = item.path.split("/")
    for depth, part in enumerate(parts):
        name = "/".join(parts[: depth + 1])
        held = depth > 0 and parts[depth - 1].lower() in _HOLDING
        staging = _staging(f"tmp-{part}" if held else part)
        if staging is not None and (depth < len(parts) - 1 or step_order(staging[0])):
            target, writer = staging
            stagings.setdefault(name, Staging(name, target, writer, item.place))
            return
        order = step_order(part)
        if order is not None:
            inner = "/".join(parts[depth + 1 :])
            steps.setdefault(name, Step(name, order)).files[inner] = item
            return


def step_order(part: str) -> tuple[int, int] | None:
    """(step, attempt) that a folder's name stands for; None when it is no checkpoint's name."""
    own = split_checkpoint_name(part)
    if own is not None:
        return own
    match = _STEP.search(part) if len(part) <= _NAME_MAX else None
    if match:
        return int(match["step"]), 0
    return (int(part), 0) if _BARE.match(part) else None


def _staging(part: str) -> tuple[str, str] | None:
    """(checkpoint, writer) of a staging folder's name; None when it is none."""
    match = _STAGING.match(part) if len(part) <= _NAME_MAX else None
    if not match:
        return None
    name = (match["name"] or match["before"]).lstrip("._")
    tail = match["tail"] or ""
    base, *suffixes = name.split(".")
    if step_order(base) is None:
        for cut in range(len(name), 0, -1):
            if step_order(name[:cut]) is not None:
                base, suffixes = name[:cut], [name[cut:]]
                break
        else:
            return None
    return base, _writer([*suffixes, *re.split(r"[.]", tail)])


def _writer(suffixes: list[str]) -> str:
    words = [w for suffix in suffixes for w in re.split(r"[._-]+", suffix) if w]
    words = [w for w in words if not _ATTEMPT.match(w)]
    words = [w for w in words if w.lower() not in ("tmp", "temp", "staging", "partial")]
    named = [w for w in words if _WRITER.fullmatch(w)]
    return ".".join(named or words).lower()


def _known(name: str, steps: dict[str, Step]) -> str:
    """The listed step that a manifest belongs to, also when only its last part is given."""
    if name in steps:
        return name
    name = name.removesuffix("/manifest.json")
    ends = [step for step in steps if step == name or step.endswith(f"/{name}")]
    return ends[0] if len(ends) == 1 else name


def _manifest(value: Any) -> dict[str, Wanted]:
    """File name to what is wanted, from the forms in which manifests are written."""
    files = mapping(value).get("files", value)
    found: dict[str, Wanted] = {}
    for name, what in mapping(files).items():
        found[name] = _wanted(what) if isinstance(what, dict) else Wanted(integer(what))
    for _, item in objects(files):
        name = text(item.get("path")) or text(item.get("name")) or text(item.get("file"))
        if name:
            found[name] = _wanted(item)
    for name in sequence(files):
        if isinstance(name, str):
            found[name] = Wanted()
    return found


def _wanted(what: dict[str, Any]) -> Wanted:
    return Wanted(integer(what.get("size", what.get("bytes"))), _digest(what))


def _digest(what: dict[str, Any]) -> str:
    """`kind:digest`, so that only digests of one kind are compared."""
    for kind in ("sha256", "crc32", "md5", "checksum", "etag"):
        digest = text(what.get(kind)).strip('"').lower()
        if digest:
            return f"{kind}:{digest.removeprefix(f'{kind}:')}"
    return ""


def _latest(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("content") or value.get("target") or value.get("name")
    return text(value).strip().strip("/")


def _upload(value: Any) -> str:
    if isinstance(value, dict):
        return text(value.get("path")) or text(value.get("key")) or text(value.get("Key"))
    return text(value)
