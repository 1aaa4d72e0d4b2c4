"""Seal HEAD for an attempt and choose, once, the checkpoint that everybody restores."""

from __future__ import annotations

import sys

from phalanx.agent.protocol import Seal
from phalanx.checkpoint.find import choose, newest_adoptable
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.store.store import Store


def seal(store: Store, keys: Keys, move: Seal) -> bool:
    """Swap HEAD to this attempt; False when somebody else moved it first.

    From here on every commit of an older attempt fails. The checkpoint stays what HEAD named,
    with two exceptions: a complete one that its own attempt had no time to commit is adopted,
    and one that a rank could not read gives way to its parent.
    """
    adopted = newest_adoptable(store, keys, move.head, move.attempt, move.unreadable)
    choice = choose(store, keys, move.head, move.unreadable)
    body = codec.dumps(Head(move.attempt, adopted or choice.name))
    if store.swap(keys.head, body, move.version) is None:
        return False
    for name, because in () if adopted else choice.refused:
        print(f"{name} is passed over: {because}", file=sys.stderr, flush=True)
    return True
