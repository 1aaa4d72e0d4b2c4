"""From which checkpoint to go on: the newest one that is provably complete, and no other.

A folder's number proves nothing, nor does a marker alone: a marker says that a publisher believed
it was done, a manifest says what must be there. Nothing is ever to be deleted on this evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from phalanx.explain import pages
from phalanx.explain.listing import MARKERS, Listing, Staging, Step, Wanted, sort_listing
from phalanx.explain.model import ERROR, INFO, WARNING, Finding, Path, Resume, Words, found
from phalanx.explain.peers import Peers, against_peers, is_silent, peers_in
from phalanx.explain.reading import Evidence

_MANIFESTS = ("manifest.json", "manifest", "_manifest.json")
_SHARD = re.compile(r"(?:shard|rank|part|model|optim\w*)s?[._-]?(?:rank[._-]?)?0*(\d{1,6})\b", re.I)
_OF = re.compile(r"-of-0*(\d{1,6})", re.IGNORECASE)
_LISTED_MAX = 8
_SHARDS_MAX = 100_000
_MISSING_MAX = 100

RESUME = Words(
    "CKP001",
    "resume-from",
    INFO,
    "the newest checkpoint that is provably complete",
    "Its marker is there, and every file of its manifest is there in the size that it names.",
    "Go on from here.",
    (pages.ATOMIC_SAVE,),
)
CANDIDATE = replace(
    RESUME,
    message="the newest checkpoint that is complete as far as names and sizes tell; no marker or "
    "manifest proves it",
    why="It has every file that the other checkpoints have, and none is shorter than theirs.",
    fix="Go on from here, and look whether it loads. Save with a manifest and a marker that is "
    "written last.",
)
INCOMPLETE = Words(
    "CKP002",
    "checkpoint-incomplete",
    WARNING,
    "the checkpoint is incomplete and must not be loaded",
    "The save was cut off: a folder with the highest number is no proof that its files are whole.",
    "Keep it as evidence, and let the program choose the newest complete checkpoint by manifest "
    "and marker instead of the highest number. Write the marker last.",
    (pages.ATOMIC_SAVE,),
)
MISMATCH = Words(
    "CKP003",
    "checkpoint-manifest-mismatch",
    ERROR,
    "the file is not what the manifest says, although the checkpoint is marked complete",
    "A marker says only that somebody was done. Whoever publishes second moves, overwrites or "
    "removes files of the first.",
    "Do not load this checkpoint. Let one rank publish, after a barrier, and write the marker "
    "last.",
    (pages.PUBLISHERS,),
)
PUBLISHERS = Words(
    "CKP004",
    "multiple-publishers",
    WARNING,
    "several writers prepared the same checkpoint",
    "When every rank runs the finishing step (create, rename, prune), they undo one another's "
    "work on shared storage.",
    "One publisher, a barrier before it, a staging name that is unique for writer and attempt, "
    "and the marker written last by the publisher.",
    (pages.PUBLISHERS,),
)
NONE_COMPLETE = Words(
    "CKP005",
    "no-complete-checkpoint",
    WARNING,
    "no checkpoint is provably complete",
    "The next start begins at step 0, or loads something that is half written.",
    "Save with a manifest and a marker that is written last; before the next start look at the "
    "newest checkpoint by hand.",
    (pages.ATOMIC_SAVE,),
)
POINTER = Words(
    "CKP006",
    "latest-points-to-incomplete",
    WARNING,
    "the `latest` pointer names a checkpoint that is not provably complete",
    "Programs that follow the pointer load it at every restart and fail each time.",
    "Set the pointer only after the marker, and check what it names before loading.",
    (pages.ATOMIC_SAVE,),
)
CHANGED = Words(
    "CKP007",
    "checkpoint-changed-after-marker",
    INFO,
    "a file is newer than the marker that says the checkpoint is complete",
    "Somebody wrote after the publisher was done, or the files were copied.",
    "Check its digest before you rely on it.",
    (pages.PUBLISHERS,),
)


@dataclass(frozen=True)
class Judged:
    """One checkpoint and what is wrong with it."""

    step: Step
    missing: tuple[str, ...] = ()
    wrong: tuple[tuple[str, str], ...] = ()
    """(file, what is wrong with it)."""
    unproven: str = ""
    uploads: tuple[str, ...] = ()
    """Missing files whose upload was begun and not finished."""

    @property
    def is_complete(self) -> bool:
        """Whether it is provably complete."""
        return not (self.missing or self.wrong or self.unproven)

    def because(self) -> str:
        """Why it is refused."""
        parts = [f"{name} {what}" for name, what in self.wrong[:_LISTED_MAX]]
        if self.missing:
            names = ", ".join(self._told(name) for name in self.missing[:_LISTED_MAX])
            more = len(self.missing) - _LISTED_MAX
            parts.append(f"missing: {names}{f' and {more} more' if more > 0 else ''}")
        if self.unproven:
            parts.append(self.unproven)
        return "; ".join(parts)

    def _told(self, name: str) -> str:
        return f"{name} (upload not finished)" if name in self.uploads else name


def explain_listing(evidence: Evidence) -> tuple[Resume, list[Finding]]:
    """Where to go on, and the findings."""
    listing = sort_listing(evidence)
    peers = peers_in(listing) if is_silent(listing) else {}
    judged = [_judge(listing, step, peers.get(step.name)) for step in listing.steps]
    complete = [j for j in judged if j.is_complete]
    best = complete[-1] if complete else None
    refused = tuple((j.step.name, j.because()) for j in judged if not j.is_complete)
    resume = Resume(best.step.name if best else None, refused, listing.root)
    return resume, list(_findings(listing, judged, best))


def _judge(listing: Listing, step: Step, peers: Peers | None) -> Judged:
    manifest = listing.manifests.get(step.name)
    begun = (name.removeprefix(f"{step.name}/") for name in listing.uploads)
    uploads = tuple(
        name
        for name, whole in zip(begun, listing.uploads, strict=True)
        if name != whole and name not in step.files
    )
    if manifest:
        missing, wrong = _against_manifest(step, manifest)
    else:
        missing, wrong = _against_siblings(listing, step)
    if peers is not None:
        absent, short = against_peers(step, peers, listing.world_size)
        missing += absent
        wrong += [pair for pair in short if pair[0] not in dict(wrong)]
    missing += uploads
    if listing.marker_name and step.marker is None:
        missing.append(listing.marker_name)
    names = tuple(dict.fromkeys(missing))
    return Judged(step, names, tuple(wrong), _unproven(listing, step, peers), uploads)


def _against_manifest(
    step: Step, manifest: dict[str, Wanted]
) -> tuple[list[str], list[tuple[str, str]]]:
    missing, wrong = [], []
    for given, wanted in sorted(manifest.items()):
        name = given.removeprefix("./").removeprefix(f"{step.name}/")
        item = step.files.get(name)
        if item is None:
            missing.append(name)
        elif fault := wanted.differs(item):
            wrong.append((name, fault))
    return missing, wrong


def _against_siblings(listing: Listing, step: Step) -> tuple[list[str], list[tuple[str, str]]]:
    """Without a manifest: what other checkpoints and the world size say must be there."""
    expected = _usual_files(listing, step)
    missing = [name for name in sorted(expected, key=_natural) if name not in step.files]
    if step.marker is None or not listing.manifests:
        missing += _missing_ranks(listing, step)
    wrong = [
        (name, f"has {item.size} bytes, other checkpoints have {size}")
        for name, item in sorted(step.files.items())
        if (size := expected.get(name)) and _SHARD.search(name) and _is_shorter(item.size, size)
    ]
    empty = [
        (name, "is empty")
        for name, item in sorted(step.files.items())
        if item.size == 0 and name.lower() not in MARKERS and name not in dict(wrong)
    ]
    return missing, wrong + empty


def _is_shorter(size: int | None, usual: int) -> bool:
    return size is not None and size < usual


def _usual_files(listing: Listing, step: Step) -> dict[str, int | None]:
    """The files of the nearest older checkpoint that has a manifest and a marker."""
    for other in reversed(listing.steps):
        manifest = listing.manifests.get(other.name)
        if other is step or not manifest or other.order > step.order:
            continue
        if other.marker is not None and not any(_against_manifest(other, manifest)):
            files = {name: wanted.size for name, wanted in manifest.items()}
            files.update({n: None for n in other.files if n in _MANIFESTS})
            return files
    return {}


def _missing_ranks(listing: Listing, step: Step) -> list[str]:
    """Ranks of the world without a shard, where shards are numbered."""
    found: dict[str, set[int]] = {}
    widths: dict[str, int] = {}
    for name in sorted(step.files):
        match = _SHARD.search(name)
        if match:
            pattern = f"{name[: match.start(1)].rstrip('0')}*{name[match.end(1) :]}"
            found.setdefault(pattern, set()).add(int(match[1]))
            widths[pattern] = len(name) - len(pattern) + 1
    missing = []
    for pattern, numbers in sorted(found.items()):
        every = _numbers(pattern, numbers, listing.world_size)
        absent = (n for n in every if n not in numbers)
        width = widths[pattern] if len(str(max(numbers))) < widths[pattern] else 0
        missing += [
            pattern.replace("*", str(n).zfill(width), 1) for n in islice(absent, _MISSING_MAX)
        ]
    return missing


def _numbers(pattern: str, numbers: set[int], world_size: int | None) -> range:
    """The numbers that shards of one pattern must have."""
    total = _OF.search(pattern)
    if total:
        first = 0 if 0 in numbers else 1
        return range(first, min(int(total[1]), _SHARDS_MAX) + first)
    by_rank = len(numbers) > 1 or re.search(r"shard|part", pattern, re.IGNORECASE)
    least = world_size or 0 if by_rank else 0
    return range(min(max(least, max(numbers) + 1), _SHARDS_MAX)) if by_rank else range(0)


def _natural(name: str) -> tuple[object, ...]:
    return tuple(int(p) if p.isdigit() else p for p in re.split(r"(\d{1,15})", name))


def _unproven(listing: Listing, step: Step, peers: Peers | None) -> str:
    """Why a checkpoint without a visible fault is still not proven to be whole."""
    has_manifest = bool(listing.manifests.get(step.name))
    if has_manifest:
        return ""
    if listing.manifests:
        return "no manifest says what must be there"
    if step.marker is None and (peers is None or peers.count < 2):
        return "neither a marker nor a manifest says that it is complete"
    return ""


def _findings(listing: Listing, judged: list[Judged], best: Judged | None) -> Iterable[Finding]:
    newest = best.step.order if best else (-1, -1)
    for j in judged:
        if not j.is_complete:
            yield from _refusals(listing, j, WARNING if j.step.order > newest else INFO)
        elif j is best:
            yield from _late_writes(listing, j.step)
    if best:
        words = CANDIDATE if is_silent(listing) else RESUME
        yield _at(listing, words, best.step.name, _place_of(best.step))
    elif judged:
        name = judged[-1].step.name
        yield _at(listing, NONE_COMPLETE, name, _place_of(judged[-1].step))
    yield from _publishers(listing)
    yield from _pointer(listing, judged)


def _refusals(listing: Listing, j: Judged, severity: str) -> Iterable[Finding]:
    step = j.step
    marked = step.marker is not None and bool(listing.manifests.get(step.name))
    if not marked:
        yield _at(
            listing,
            INCOMPLETE,
            step.name,
            _place_of(step),
            message=f"{INCOMPLETE.message}: {j.because()}",
            severity=severity,
        )
        return
    level = ERROR if severity == WARNING else WARNING
    faults = [*j.wrong]
    for name in j.missing:
        open_ = " (its upload is not finished)" if name in j.uploads else ""
        faults.append((name, f"is missing{open_}"))
    for name, what in faults[:_LISTED_MAX]:
        item = step.files.get(name)
        yield _at(
            listing,
            MISMATCH,
            f"{step.name}/{name}",
            item.place if item else _place_of(step),
            message=f"{MISMATCH.message}: it {what}",
            severity=level,
        )


def _late_writes(listing: Listing, step: Step) -> Iterable[Finding]:
    marker = step.marker
    if marker is None or marker.at is None:
        return
    late = [i for i in step.files.values() if i.at is not None and i.at > marker.at]
    for item in late[:1]:
        yield _at(listing, CHANGED, item.path, item.place)


def _publishers(listing: Listing) -> Iterable[Finding]:
    groups: dict[str, list[Staging]] = {}
    for staging in listing.stagings:
        groups.setdefault(staging.target, []).append(staging)
    for group in groups.values():
        writers = {staging.writer for staging in group}
        if len(writers) < 2:
            continue
        names = [staging.folder for staging in group]
        yield _at(
            listing,
            PUBLISHERS,
            _pattern(names),
            group[0].place,
            message=f"{PUBLISHERS.message}: {', '.join(names[:_LISTED_MAX])}",
        )


def _pattern(names: list[str]) -> str:
    """`tmp-step_000900.*` for names that begin alike."""
    common = names[0]
    for name in names[1:]:
        while not name.startswith(common):
            common = common[:-1]
    cut = max(common.rfind("."), common.rfind("-"), common.rfind("_"))
    return f"{common[: cut + 1]}*" if cut >= 0 else f"{common}*"


def _pointer(listing: Listing, judged: list[Judged]) -> Iterable[Finding]:
    if not listing.latest:
        return
    for j in judged:
        last = j.step.name.rsplit("/", 1)[-1]
        if listing.latest in (j.step.name, last) or listing.latest.endswith(f"/{last}"):
            if not j.is_complete:
                yield _at(listing, POINTER, "latest", ("latest",))
            return


def _place_of(step: Step) -> Path:
    return next(iter(step.files.values())).place if step.files else ()


def _at(listing: Listing, words: Words, where: str, place: Path, **own: str) -> Finding:
    line, column = listing.evidence.place(place)
    return found(words, listing.evidence.file, where, line=line, column=column, **own)
