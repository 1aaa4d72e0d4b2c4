"""Checkpoints without marker and manifest, held against the other checkpoints of their folder.

Trainers that write neither (the Hugging Face Trainer, DeepSpeed) write the same names, in nearly
the same sizes, at every save. What the others have and one has not was not written, or is gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

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


@dataclass
class Peers:
    """The checkpoints of one folder and form of name, taken together."""

    count: int = 0
    names: set[str] = field(default_factory=set)
    """Files of state that any of them has, with the number of the step left open."""
    sizes: dict[str, Counter[int]] = field(default_factory=dict)
    """File to how many of them have it in which size."""

    def add(self, step: Step) -> None:
        """Take one more checkpoint in."""
        self.count += 1
        for given, item in step.files.items():
            name = _inner(step, given)
            if _STATE.search(given):
                self.names.add(name)
            if item.size is not None and _SIZED.search(item.path):
                self.sizes.setdefault(name, Counter())[item.size] += 1


def is_silent(listing: Listing) -> bool:
    """Whether nothing in this root says of any checkpoint that it is complete."""
    return not listing.manifests and not listing.marker_name


def peers_in(listing: Listing) -> dict[str, Peers]:
    """Checkpoint to those that it can be held against, itself among them."""
    forms: dict[str, Peers] = {}
    for step in listing.steps:
        forms.setdefault(_form(step.name), Peers()).add(step)
    return {step.name: forms[_form(step.name)] for step in listing.steps}


def against_peers(
    step: Step, peers: Peers, world_size: int | None
) -> tuple[list[str], list[tuple[str, str]]]:
    """(missing names, (name, what is wrong)) of a checkpoint, told by the others."""
    own = {_inner(step, name) for name in step.files}
    wanted = peers.names | set(_of_layout(step)) | set(_ranks(own, world_size))
    absent = (name for name in wanted - own if not _beyond(name, world_size))
    return sorted(_outer(step, name) for name in absent), list(_short(step, peers))


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


def _ranks(own: Iterable[str], world_size: int | None) -> Iterable[str]:
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


def _short(step: Step, peers: Peers) -> Iterable[tuple[str, str]]:
    """Files that are shorter than the same file of the others."""
    for name, item in sorted(step.files.items()):
        seen = peers.sizes.get(_inner(step, name))
        if not seen or item.size is None:
            continue
        others = {size: n - (size == item.size) for size, n in seen.items()}
        usual = max(others, key=lambda size: (others[size], size))
        exact = item.path.lower().endswith(".safetensors")
        slack = 0 if exact else max(_SLACK_BYTES, int(usual * _SLACK))
        if item.size < usual - min(slack, usual // 2):
            yield name, f"has {item.size} bytes, other checkpoints have {usual}"
