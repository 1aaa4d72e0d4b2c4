"""One process that works on a root: `python -m tests.support.store_process ADDRESS VERB ARGS`.

It prints `ready`, waits for a line on standard input, works, and prints what it did.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from itertools import count

from phalanx.errors import StoreConflict
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.stores import LossyWithLineage, faults, open_objects

CHURN = "churn"


def say(text: str) -> None:
    print(text, flush=True)


def heard() -> str:
    return sys.stdin.readline().strip()


def create(store: Store, key: str, body: str) -> None:
    """One try to create; prints True or False."""
    say(str(store.create(key, body.encode())))


def increment(store: Store, key: str, times: str) -> None:
    """Add one to a counter, again and again, counting on `swap`'s answer alone."""
    for _ in range(int(times)):
        while True:
            found = store.read(key)
            value = int(found.data) if found else 0
            if store.swap(key, str(value + 1).encode(), found.version if found else None):
                break
    say("done")


def churn(store: Store, name: str, size: str) -> None:
    """Write all kinds of objects for ever; prints each key once it is announced."""
    version = None
    for n in count():
        body = self_proving(f"{name}-{n}".encode() * (int(size) // 8))
        if store.create(f"{CHURN}/once/{name}-{n}", body):
            say(f"{CHURN}/once/{name}-{n}")
        store.put_blob(f"{CHURN}/blobs/{name}-{n}", [body[:70], body[70:]])
        say(f"{CHURN}/blobs/{name}-{n}")
        version = store.swap(f"{CHURN}/values/{name}", body, version)
        store.beat(f"{CHURN}/beats/{name}", body)


def swap_when_told(store: Store, key: str, body: str) -> None:
    """Read, wait for a line, then swap what was read; prints True or False."""
    found = store.read(key)
    say("read")
    heard()
    say(str(store.swap(key, body.encode(), found.version if found else None) is not None))


def slow_blob(store: Store, key: str, body: str) -> None:
    """A blob whose second half comes when a line is heard; prints True or False."""

    def chunks() -> Iterator[bytes]:
        yield body.encode()
        say("inside")
        heard()
        yield body.encode()

    try:
        store.put_blob(key, chunks())
        say("True")
    except StoreConflict:
        say("False")


def self_proving(body: bytes) -> bytes:
    """A body that carries its own digest first."""
    return hashlib.sha256(body).hexdigest().encode() + body


def is_whole(data: bytes) -> bool:
    """Whether `self_proving` wrote exactly these bytes."""
    return hashlib.sha256(data[64:]).hexdigest().encode() == data[:64]


VERBS = {
    "create": create,
    "increment": increment,
    "churn": churn,
    "swap": swap_when_told,
    "blob": slow_blob,
}


def main(address: str, verb: str, seed: str, *args: str) -> None:
    objects = open_objects(address)
    kinds = ("after", "before", "echo", "late")
    lossy = LossyWithLineage(objects, faults(int(seed), kinds)) if int(seed) else objects
    store = Store(lossy, writer_id())
    say("ready")
    heard()
    VERBS[verb](store, *args)


if __name__ == "__main__":
    main(*sys.argv[1:])
