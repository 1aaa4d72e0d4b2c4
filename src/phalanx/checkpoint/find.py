"""Which checkpoint to resume from, and why others were refused.

HEAD names the newest committed checkpoint; from there the way back leads over parents. Names are
never sorted to find the newest: a checkpoint of an older attempt can carry a higher step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from phalanx.checkpoint.manifest import Manifest, order_of
from phalanx.checkpoint.reading import load_manifest
from phalanx.checkpoint.reading import problems as problems_in
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen
from phalanx.names import Keys, split_checkpoint_name
from phalanx.state import read
from phalanx.state.gang import Head

if TYPE_CHECKING:
    from phalanx.store.store import Store

BY_A_RANK = "a rank could not read it"
"""Why a checkpoint is refused whose reader told the reason in its ending."""
RETIRED = "retired"
"""Object in a checkpoint's folder that says it is going to be deleted."""


@frozen
class Choice:
    """The checkpoint that a world may name, and those passed over, newest first."""

    name: str | None
    refused: tuple[tuple[str, str], ...] = ()
    """(name, because) pairs."""


@frozen
class Row:
    """One checkpoint, as `phalanx checkpoints` tells it."""

    name: str
    step: int
    attempt: int
    world_size: int
    """0 when no manifest tells, or when the files are a framework's."""
    bytes: int
    committed: bool
    verified: bool | None
    """Whether every byte was read and found right; None when nobody looked."""
    refused_because: str | None


@frozen
class Listing:
    """All checkpoints of a job, newest (attempt, step) first."""

    resume_from: str | None
    rows: tuple[Row, ...]


def read_head(store: Store, keys: Keys) -> Head | None:
    """HEAD, or None before the first seal."""
    return read.read_head(store, keys)[0]


def choose(store: Store, keys: Keys, head: Head | None, unreadable: Collection[str]) -> Choice:
    """The newest committed checkpoint with a right manifest that no rank found unreadable.

    Shards are not read here: every rank reads its own when it restores.
    """
    refused: list[tuple[str, str]] = []
    for name, manifest, because in _way_back(store, keys, head.checkpoint if head else None):
        if name in unreadable:
            because = because or BY_A_RANK
        if manifest is not None and not because:
            return Choice(name, tuple(refused))
        refused.append((name, because))
    return Choice(None, tuple(refused))


def _way_back(
    store: Store, keys: Keys, name: str | None
) -> Iterator[tuple[str, Manifest | None, str]]:
    """From a name over its parents: (name, manifest, why it cannot be used)."""
    while name is not None:
        try:
            manifest = load_manifest(store, keys.checkpoint(name), name)
        except CheckpointUnreadable as error:
            yield name, None, error.message
            # The thread is torn, so its end is looked for among what is whole and older.
            name = _newest_whole(store, keys, before=name)
            continue
        retired = store.read(f"{keys.checkpoint(name)}/{RETIRED}") is not None
        yield name, manifest, "it is retired and will be deleted" if retired else ""
        name = _older(manifest)


def _older(manifest: Manifest) -> str | None:
    """The parent, unless it would lead forward (a hostile manifest could turn in a circle)."""
    if manifest.parent is None:
        return None
    order = order_of(manifest.parent)
    return manifest.parent if order is not None and order < manifest.order else None


def _newest_whole(store: Store, keys: Keys, before: str) -> str | None:
    limit = order_of(before)
    for name in names(store, keys):
        order = order_of(name)
        if limit is None or order is None or order >= limit:
            continue
        if store.read(keys.manifest(name)) is not None:
            return name
    return None


def names(store: Store, keys: Keys) -> tuple[str, ...]:
    """Names of all checkpoint folders, whole or not, newest (attempt, step) first."""
    found = [name for name in store.list(keys.checkpoints) if split_checkpoint_name(name)]
    return tuple(sorted(found, key=lambda name: order_of(name) or (0, 0), reverse=True))


def newest_adoptable(
    store: Store, keys: Keys, head: Head | None, attempt: int, unreadable: Collection[str]
) -> str | None:
    """A complete checkpoint newer than HEAD's whose commit came too late for its attempt.

    The freezer of `attempt` may let its seal name it: its manifest states every part, only the
    swap of HEAD was lost. None when there is none.
    """
    committed = order_of(head.checkpoint) if head and head.checkpoint else None
    for name in names(store, keys):
        order = order_of(name)
        if order is None or order[0] >= attempt or name in unreadable:
            continue
        if committed is not None and order <= committed:
            return None
        try:
            load_manifest(store, keys.checkpoint(name), name)
        except CheckpointUnreadable:
            continue
        if store.read(f"{keys.checkpoint(name)}/{RETIRED}") is None:
            return name
    return None


def verify(store: Store, keys: Keys, name: str) -> tuple[str, ...]:
    """Everything wrong with one checkpoint of a job, after reading every byte; () when whole."""
    return problems_in(store, keys.checkpoint(name), name)


def listing(
    store: Store, keys: Keys, unreadable: Collection[str] = (), read_all: bool = False
) -> Listing:
    """All checkpoints of a job; with `read_all` every byte of them is read."""
    head = read_head(store, keys)
    chosen = choose(store, keys, head, unreadable)
    because = dict(chosen.refused)
    start = head.checkpoint if head else None
    committed = {name for name, manifest, _ in _way_back(store, keys, start) if manifest}
    if start is not None:
        committed.add(start)
    rows = []
    for name in names(store, keys):
        found = verify(store, keys, name) if read_all else None
        why = because.get(name) or (BY_A_RANK if name in unreadable else "")
        why = why or _why_not(store, keys, name, committed)
        if found and not why:
            why = found[0]
        rows.append(_row(store, keys, name, (name in committed, found, why)))
    return Listing(chosen.name, tuple(rows))


def _why_not(store: Store, keys: Keys, name: str, committed: Collection[str]) -> str:
    try:
        load_manifest(store, keys.checkpoint(name), name)
    except CheckpointUnreadable as error:
        return error.message
    return "" if name in committed else "HEAD never named it"


def _row(
    store: Store, keys: Keys, name: str, told: tuple[bool, tuple[str, ...] | None, str]
) -> Row:
    is_committed, found, why = told
    attempt, step = order_of(name) or (0, 0)
    try:
        manifest = load_manifest(store, keys.checkpoint(name), name)
        # Nobody knows how many ranks a framework's files are of.
        world_size = 0 if manifest.is_folder else manifest.world_size
        size = manifest.bytes
    except CheckpointUnreadable:
        world_size, size = 0, 0
    verified = None if found is None else not found
    return Row(name, step, attempt, world_size, size, is_committed, verified, why or None)
