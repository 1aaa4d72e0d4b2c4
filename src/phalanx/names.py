"""Every name that phalanx derives: keys under the root, task tokens, checkpoint names.

Nothing here is left to chance: the same intent always gives the same name, so that acting twice
is harmless. `docs/protocols.md` draws the tree of keys.
"""

from __future__ import annotations

import re

PROTOCOL = 1
"""Number carried by records, worlds and beats; a controller drives this one and the one before."""

JOB_NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
"""Patterns are kept as text: `re` compiles them when they are first used."""
JOB_NAME_MAX = 40
RESERVED = frozenset({"list", "verify", "restore", "prune"})
"""Words of `phalanx checkpoints` that would be ambiguous as a job's name."""

_JOB_ID = r"(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)-(?P<n>[1-9][0-9]*)"
_CHECKPOINT = r"(?P<step>[0-9]{10})-(?P<attempt>[0-9]+)"


def job_id(name: str, n: int) -> str:
    """The n-th job of that name: `gpt-docs-3`."""
    return f"{name}-{n}"


def split_job_id(text: str) -> tuple[str, int] | None:
    """`gpt-docs-3` → (`gpt-docs`, 3); None when it is not a job's id."""
    match = re.fullmatch(_JOB_ID, text)
    return (match["name"], int(match["n"])) if match else None


def checkpoint_name(step: int, attempt: int) -> str:
    """`0000000400-1`: `step` optimizer steps are done, written by attempt 1."""
    return f"{step:010d}-{attempt}"


def split_checkpoint_name(text: str) -> tuple[int, int] | None:
    """`0000000400-1` → (400, 1) as (step, attempt); None when it is not a checkpoint's name."""
    match = re.fullmatch(_CHECKPOINT, text)
    return (int(match["step"]), int(match["attempt"])) if match else None


def token(job: str, slot: int, incarnation: int, tries: int) -> str:
    """The idempotency token of one launch: 32 hex digits, equal for equal intents.

    ECS takes at most 64 ASCII characters as a client token.
    """
    import hashlib

    text = f"{job}/{slot}/{incarnation}/{tries}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def run_id(job: str, created_ns: int) -> str:
    """`gpt-3-9f1c2a7b`: the job in an experiment tracker, unlike that of any other root."""
    import hashlib

    return f"{job}-{hashlib.sha256(f'{job}/{created_ns}'.encode()).hexdigest()[:8]}"


def rank_run(run: str, rank: int) -> str:
    """`gpt-3-9f1c2a7b`, and for another rank than 0 `gpt-3-9f1c2a7b-r2`."""
    return f"{run}-r{rank}" if rank else run


def seat_name(slot: int, incarnation: int) -> str:
    """`3.1`: slot 3, its second incarnation."""
    return f"{slot}.{incarnation}"


def split_seat_name(text: str) -> tuple[int, int]:
    """`3.1` → (3, 1)."""
    slot, incarnation = text.split(".")
    return int(slot), int(incarnation)


class Keys:
    """Keys of one job under the root."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.base = f"jobs/{job}"
        self.record = f"{self.base}/record"
        self.controller = f"{self.base}/controller"
        self.head = f"{self.base}/checkpoints/HEAD"
        self.checkpoints = f"{self.base}/checkpoints"
        self.notices = f"{self.base}/notices"
        self.messages = f"{self.base}/messages"
        self.evidence = f"{self.base}/evidence"
        self.ledger = f"{self.base}/ledger"
        self.logs = f"{self.base}/logs"
        self.metrics = f"{self.base}/metrics"
        self.trackers = f"{self.base}/trackers"
        self.init = f"{self.base}/init"
        """Folder of what the job began from: its origin, and the checkpoint it holds of it."""
        self.origin = f"{self.init}/origin"
        self.folder_start = f"{self.base}/folder/start"
        """Create-once: what lay in a watched folder before the job began."""

    def attempt(self, attempt: int) -> str:
        """Folder of one attempt."""
        return f"{self.base}/attempts/{attempt}"

    def members(self, attempt: int) -> str:
        """Folder of the agents that are ready for an attempt."""
        return f"{self.attempt(attempt)}/members"

    def member(self, attempt: int, slot: int, incarnation: int) -> str:
        """Create-once: this incarnation is ready for this attempt."""
        return f"{self.members(attempt)}/{seat_name(slot, incarnation)}"

    def world(self, attempt: int) -> str:
        """Create-once: who takes part, and which checkpoint all restore."""
        return f"{self.attempt(attempt)}/world"

    def passed_over(self, attempt: int) -> str:
        """Create-once: checkpoints that this attempt could not read when it chose its beginning."""
        return f"{self.attempt(attempt)}/passed-over"

    def restored(self, attempt: int) -> str:
        """Create-once: in mode watch the folder is at the world's checkpoint; ranks may start."""
        return f"{self.attempt(attempt)}/restored"

    def hang(self, attempt: int) -> str:
        """Create-once: an agent found a hang; every agent notes what its ranks are doing."""
        return f"{self.attempt(attempt)}/hang"

    def beats(self, attempt: int) -> str:
        """Folder of beats."""
        return f"{self.attempt(attempt)}/beats"

    def beat(self, attempt: int, slot: int, incarnation: int) -> str:
        """Overwritten: progress of one agent's ranks."""
        return f"{self.beats(attempt)}/{seat_name(slot, incarnation)}"

    def ends(self, attempt: int) -> str:
        """Folder of endings."""
        return f"{self.attempt(attempt)}/ends"

    def end(self, attempt: int, slot: int, incarnation: int) -> str:
        """Create-once: how every rank of one agent ended in one attempt."""
        return f"{self.ends(attempt)}/{seat_name(slot, incarnation)}"

    def seat(self, slot: int, incarnation: int) -> str:
        """Create-once: which task claimed the seat."""
        return f"{self.base}/seats/{seat_name(slot, incarnation)}"

    def message_claim(self, name: str, number: int) -> str:
        """Create-once: who sends a message; `number` counts claimers that died over it."""
        return f"{self.messages}/{name}.{number}"

    def message_outcome(self, name: str) -> str:
        """Create-once: what came of a message."""
        return f"{self.messages}/{name}.outcome"

    def checkpoint(self, name: str) -> str:
        """Folder of one checkpoint."""
        return f"{self.checkpoints}/{name}"

    def shard(self, name: str, rank: int, part: int = 0) -> str:
        """Create-once: one rank's tensors."""
        return f"{self.checkpoint(name)}/shards/{rank:05d}-{part}.safetensors"

    def file(self, name: str, number: int) -> str:
        """Create-once: one file as a framework wrote it."""
        return f"{self.checkpoint(name)}/files/{number:05d}"

    def parts(self, name: str) -> str:
        """Folder of the ranks' statements that their shards are whole."""
        return f"{self.checkpoint(name)}/parts"

    def part(self, name: str, rank: int) -> str:
        """Create-once: one rank's shards, their sizes and digests."""
        return f"{self.parts(name)}/{rank:05d}"

    def manifest(self, name: str) -> str:
        """Create-once: the whole checkpoint, every digest."""
        return f"{self.checkpoint(name)}/manifest"

    def metrics_file(self, rank: int) -> str:
        """Appended to, a line a step: what a rank reported, over all attempts."""
        return f"{self.metrics}/{rank:05d}.jsonl"

    def tracker(self, name: str, rank: int) -> str:
        """Create-once: the run of a tracker (`mlflow`) that a rank continues in every attempt."""
        return f"{self.trackers}/{name}-{rank:05d}"

    def tracked_file(self, name: str, rank: int) -> str:
        """Appended to, a line a step: what a rank gave to a tracker, over all attempts."""
        return f"{self.tracker(name, rank)}.jsonl"

    def ledger_entry(self, slot: int, incarnation: int, attempt: int) -> str:
        """Create-once: facts of one incarnation in one attempt, in durations."""
        return f"{self.ledger}/{seat_name(slot, incarnation)}-{attempt}"
