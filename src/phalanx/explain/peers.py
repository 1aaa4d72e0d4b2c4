"""Checkpoints without marker and manifest, held against the other checkpoints of their folder.

Trainers that write neither (the Hugging Face Trainer, DeepSpeed) write the same names, in nearly
the same sizes, at every save. What the others have and one has not was not written, or is gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from phalanx.explain.listing import Listing, Step, step_order

_STATE = re.compile(
    r"\.(?:pt|pth|bin|safetensors|ckpt|distcp|npz|pkl|msgpack)$|\.index\.json$"
    r"|^(?:.*/)?(?:trainer_state\.json|latest)$",
    re.IGNORECASE,
)
"""Files that hold the state of the training; others (notes, logs) may be in one and not in all."""
_SIZED = re.compile(r"\.(?:pt|pth|bin|safetensors|ckpt|distcp|npz|msgpack)$", re.IGNORECASE)
_BY_RANK = re.compile(
    r"^(?P<head>(?:.*/)?(?:zero_pp_rank_|rng_state_))(?P<rank>\d{1,6})(?P<tail>.*)$"
)
_WEIGHTS = re.compile(
    r"^(?:pytorch_)?(?:adapter_)?model(?:-\d+-of-\d+)?\.(?:safetensors|bin)$", re.IGNORECASE
)
_TRAINER = re.compile(r"(?:^|/)checkpoint-\d+$")
_OPTIMIZER = re.compile(r"optimizer|optim_states", re.IGNORECASE)
_RANKS_MAX = 10_000
_SLACK = 0.01
_SLACK_BYTES = 64


def is_silent(listing: Listing) -> bool:
    """Whether nothing in this root says of any checkpoint that it is complete."""
    return not listing.manifests and not listing.marker_name


def peers_of(listing: Listing, step: Step) -> list[Step]:
    """The other checkpoints of the same folder and form of name."""
    form = _form(step.name)
    return [other for other in listing.steps if other is not step and _form(other.name) == form]


def against_peers(listing: Listing, step: Step) -> tuple[list[str], list[tuple[str, str]]]:
    """(missing names, (name, what is wrong)) of a checkpoint, told by the others."""
    peers = peers_of(listing, step)
    own = {_inner(step, name): name for name in step.files}
    wanted = {_inner(peer, name) for peer in peers for name in peer.files if _STATE.search(name)}
    wanted |= set(_of_layout(step)) | set(_ranks(own, listing.world_size))
    absent = (name for name in wanted if name not in own)
    missing = [_outer(step, name) for name in absent if not _beyond(name, listing.world_size)]
    return sorted(missing), list(_short(step, peers))


def _form(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _inner(step: Step, name: str) -> str:
    """A file's name with the number of its own step left open."""
    parts = name.split("/")
    own = [not p.isdigit() and step_order(p) == step.order for p in parts]
    number = re.compile(rf"0*{step.order[0]}(?!.*\d)")
    return "/".join(number.sub("{step}", p) if o else p for p, o in zip(parts, own, strict=True))


def _outer(step: Step, name: str) -> str:
    return name.replace("{step}", str(step.order[0]))


def _of_layout(step: Step) -> Iterable[str]:
    """What a checkpoint of the Hugging Face Trainer has besides its weights."""
    if not _TRAINER.search(step.name) or not any(map(_WEIGHTS.match, step.files)):
        return
    yield "trainer_state.json"
    if not any(map(_OPTIMIZER.search, step.files)):
        yield "optimizer.pt"


def _ranks(own: dict[str, str], world_size: int | None) -> Iterable[str]:
    """Names of every rank's file where one rank's is there."""
    found: dict[tuple[str, str], set[int]] = {}
    for name in own:
        match = _BY_RANK.match(name)
        if match:
            found.setdefault((match["head"], match["tail"]), set()).add(int(match["rank"]))
    for (head, tail), numbers in found.items():
        count = max(numbers) + 1
        if head.endswith("rng_state_") or len(found) == 1:  # else ranks share out the model
            count = max(count, world_size or 0)
        yield from (f"{head}{n}{tail}" for n in range(min(count, _RANKS_MAX)))


def _beyond(name: str, world_size: int | None) -> bool:
    """A file of a rank that the present world has not: others were saved by a larger one."""
    match = _BY_RANK.match(name)
    return bool(match and world_size and int(match["rank"]) >= world_size)


def _short(step: Step, peers: list[Step]) -> Iterable[tuple[str, str]]:
    """Files that are shorter than the same file of the others."""
    sizes: dict[str, Counter[int]] = {}
    for peer in peers:
        for name, item in peer.files.items():
            if item.size is not None and _SIZED.search(item.path):
                sizes.setdefault(_inner(peer, name), Counter())[item.size] += 1
    for name, item in sorted(step.files.items()):
        seen = sizes.get(_inner(step, name))
        if not seen or item.size is None:
            continue
        usual = max(seen, key=lambda size: (seen[size], size))
        exact = item.path.lower().endswith(".safetensors")
        slack = 0 if exact else max(_SLACK_BYTES, int(usual * _SLACK))
        if item.size < usual - min(slack, usual // 2):
            yield name, f"has {item.size} bytes, other checkpoints have {usual}"
