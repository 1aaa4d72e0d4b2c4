"""Seal HEAD for an attempt and choose, once, the checkpoint that everybody restores."""

from __future__ import annotations

import sys

from phalanx.agent.protocol import Seal
from phalanx.checkpoint.find import choose, newest_adoptable
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.gang import Head, PassedOver
from phalanx.store.store import Store


def seal(store: Store, keys: Keys, move: Seal) -> bool:
    """Swap HEAD to this attempt; False when somebody else moved it first.

    From here on every commit of an older attempt fails. The checkpoint stays what HEAD named,
    with two exceptions: a complete one that its own attempt had no time to commit is adopted,
    and one that cannot be read gives way to its parent. That is written down first: afterwards
    HEAD no longer names it, and nobody could tell.
    """
    adopted = newest_adoptable(store, keys, move.head, move.attempt, move.unreadable)
    choice = choose(store, keys, move.head, move.unreadable)
    refused = () if adopted else choice.refused
    if refused:
        store.create(keys.passed_over(move.attempt), codec.dumps(PassedOver(refused)))
    body = codec.dumps(Head(move.attempt, adopted or choice.name))
    if store.swap(keys.head, body, move.version) is None:
        return False
    for name, because in refused:
        print(f"{name} is passed over: {because}", file=sys.stderr, flush=True)
    return True
