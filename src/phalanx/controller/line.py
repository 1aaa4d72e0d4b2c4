"""The line to one receiver: claims messages, sends them, keeps what came of each.

Of all controllers that live, one sends a message: it is claimed by a create-once object first. A
claim holds for `LEASE_S`, longer than all tries together; when its writer has died, or the lease is
over without an outcome, the next claim may be made. So a message is sent once while its claimer
lives, and at least once in any case; a repeat carries the same `Idempotency-Key`.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

from phalanx.clock import SECOND_NS
from phalanx.controller.sending import TRY_S, Answer
from phalanx.errors import StoreError
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.messages import Claim, Message, Sent
from phalanx.store.store import Store

LEASE_S = 30.0
TRIES = 3
PAUSES_S = (0.5, 2.0)
CLAIMS = 5
"""Claimers that may die over one message before it is left alone."""
LOOK_S = 0.3
"""Between two looks at a message that somebody else has claimed."""

Send = Callable[[Message], Answer]


class Line:
    """One receiver's messages; the work is done in a thread of its own."""

    def __init__(self, store: Store, keys: Keys, send: Send, say: Callable[[str], None]) -> None:
        """`send` makes one try and never raises; `say` writes a line of the log."""
        self._store, self._keys = store, keys
        self._send, self._say = send, say
        self._waiting: dict[str, Message] = {}
        self._settled: set[str] = set()
        self._sending = ""
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def offer(self, message: Message) -> None:
        """A message that is owed; one that is known already changes nothing."""
        with self._news:
            if message.name in self._settled or message.name in self._waiting:
                return
            self._waiting[message.name] = message
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            self._news.notify()

    @property
    def is_idle(self) -> bool:
        """Whether every message that was offered has an outcome."""
        with self._news:
            return not self._waiting

    @property
    def is_sending(self) -> bool:
        """Whether a claim of this process has no outcome yet."""
        with self._news:
            return bool(self._sending)

    def _run(self) -> None:
        while True:
            with self._news:
                while not self._waiting:
                    self._news.wait()
                messages = list(self._waiting.values())
            for message in messages:
                if self._try(message):
                    with self._news:
                        self._settled.add(message.name)
                        del self._waiting[message.name]
            if not self.is_idle:
                time.sleep(LOOK_S)

    def _try(self, message: Message) -> bool:
        """Whether nothing is left to do about a message."""
        try:
            if not self._is_open(message.name):
                return True
            with self._news:
                self._sending = message.name
            claimed_s = time.monotonic()
            claim = self._claim(message.name)
            return claim is None or (claim and self._deliver(message, claimed_s))
        except StoreError as error:
            self._say(f"the message {message.name} waits: {error.line()}")
            return False
        finally:
            with self._news:
                self._sending = ""

    def _claim(self, name: str) -> bool | None:
        """True: ours to send. False: somebody else is at it. None: too many have died over it."""
        for number in range(CLAIMS):
            key = self._keys.message_claim(name, number)
            found = self._store.read(key)
            if found is None:
                now_ns = self._store.now_ns()
                mine = Claim(self._store.writer, os.getpid(), os.uname().nodename, now_ns)
                return self._store.create(key, codec.dumps(mine)) and self._is_open(name)
            if not self._is_over(codec.loads(Claim, found.data)):
                return False
        return None

    def _is_open(self, name: str) -> bool:
        """Whoever had the claim before may have sent it and gone since we looked."""
        return self._store.read(self._keys.message_outcome(name)) is None

    def _is_over(self, claim: Claim) -> bool:
        """The claimer is known to be dead, or its lease is over."""
        if claim.host == os.uname().nodename:
            with contextlib.suppress(PermissionError):
                try:
                    os.kill(claim.pid, 0)
                except ProcessLookupError:
                    return True
        return self._store.now_ns() - claim.at_ns > LEASE_S * SECOND_NS

    def _deliver(self, message: Message, claimed_s: float) -> bool:
        """Send, again after a pause where that may help; False when the lease ran out meanwhile."""
        answer = Answer(False, False, "nothing was tried")
        tries = 0
        for pause_s in (0.0, *PAUSES_S):
            time.sleep(pause_s)
            # A process that was stopped for long is no longer the one that may send.
            if time.monotonic() - claimed_s > LEASE_S - 2 * TRY_S:
                return False
            tries += 1
            answer = self._send(message)
            if answer.is_sent or answer.is_final:
                break
        sent = Sent(answer.is_sent, tries, answer.said, self._store.now_ns())
        self._keep(message.name, sent)
        how = "sent" if sent.is_sent else "not delivered"
        self._say(f"the message {message.name} was {how}: {sent.said}")
        return True

    def _keep(self, name: str, sent: Sent) -> None:
        """The outcome is worth some patience: without it somebody else would send again."""
        for pause_s in (0.1, 0.5, 1.0, 2.0):
            try:
                self._store.create(self._keys.message_outcome(name), codec.dumps(sent))
                return
            except StoreError:
                time.sleep(pause_s)
        self._store.create(self._keys.message_outcome(name), codec.dumps(sent))
