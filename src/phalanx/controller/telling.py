"""Tells the receivers of a job what happens to it, beside the ticks and never in their way."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime, timezone

from phalanx.controller.line import Line
from phalanx.controller.ports import Ports
from phalanx.controller.sending import Answer, call, post
from phalanx.frozen import replace
from phalanx.plan.job import Receiver
from phalanx.reconcile.telling import due
from phalanx.redaction.redactor import Redactor
from phalanx.redaction.values import named_values
from phalanx.state.messages import Message
from phalanx.state.record import Record

SCHEMA = "phalanx.message/1"
LONGEST = 1000
"""Characters of a message's sentence."""


class Teller:
    """All receivers of one job, each on a line of its own."""

    def __init__(self, ports: Ports, record: Record, say: Callable[[str], None]) -> None:
        self._lines = [
            Line(ports.store, ports.keys, _sender(record, receiver), say)
            for receiver in record.plan.notify
        ]

    def see(self, record: Record, *, has_world: bool, now_ns: int) -> None:
        """Hand over what is owed by now."""
        for message in due(record, has_world=has_world, now_ns=now_ns):
            self._lines[message.receiver].offer(message)

    @property
    def is_idle(self) -> bool:
        """Whether everything that was owed has an outcome, by whomever."""
        return all(line.is_idle for line in self._lines)

    @property
    def is_sending(self) -> bool:
        """Whether this process has promised to send something and has not done so yet."""
        return any(line.is_sending for line in self._lines)


def body_of(record: Record, message: Message) -> dict[str, object]:
    """`phalanx.message/1`: what every receiver gets."""
    at = datetime.fromtimestamp(message.at_ns / 1e9, timezone.utc)
    return {
        "schema": SCHEMA,
        "id": f"{record.job}.{record.created_ns}.{message.name}",
        "job": record.job,
        "event": message.event,
        "phase": message.phase,
        "reason": message.reason,
        "message": message.message,
        "attempt": message.attempt,
        "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _sender(record: Record, receiver: Receiver) -> Callable[[Message], Answer]:
    """Makes one try to tell this receiver."""
    redactor = Redactor(named_values(os.environ))

    def send(message: Message) -> Answer:
        text = redactor.text(message.message)[:LONGEST]
        words = body_of(record, replace(message, message=text))
        body = json.dumps(words).encode()
        if receiver.kind == "webhook":
            return post(receiver.words[0], body, _headers(words))
        return call(receiver.words, body, _environment(words), _folder(record))

    return send


def _headers(words: dict[str, object]) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": "phalanx",
        "Idempotency-Key": str(words["id"]),
    }


def _environment(words: dict[str, object]) -> dict[str, str]:
    """The controller's own, with the message's members as `PHALANX_*`."""
    folder, path = os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)
    told = {f"PHALANX_{name.upper()}": str(value) for name, value in words.items()}
    clean = {name: value.replace("\0", " ") for name, value in told.items() if name != _SCHEMA_NAME}
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{path}", **clean}


_SCHEMA_NAME = "PHALANX_SCHEMA"


def _folder(record: Record) -> str:
    """Where the job file lies, so that a program can be named beside it; else the top."""
    source = record.plan.source
    return source if source is not None and os.path.isdir(source) else os.sep
