"""Who is told of a job's events, resolved from `notify`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from phalanx.plan.job import Receiver

if TYPE_CHECKING:
    from phalanx.spec.life import Notify

ON = ("ended", "failed")
"""Events that are told when a receiver names none."""
WAITING_S = 600.0
"""A wait is told once it is this long, unless the receiver says otherwise."""


def receivers(asked: Sequence[Notify]) -> tuple[Receiver, ...]:
    """The receivers in the order of the job file; a topic stays out, no target here reaches it."""
    return tuple(_receiver(notify) for notify in asked if notify.sns is None)


def label(receiver: Receiver) -> str:
    """For people: the host of a webhook or the name of a program, never the rest of it."""
    if receiver.kind == "webhook":
        host = re.match(r"(https?://[^/?]+)", receiver.words[0], re.IGNORECASE)
        return f"{host[1] if host else 'a webhook'}/..."
    return f"command {receiver.words[0].rsplit('/', 1)[-1]}"


def _receiver(notify: Notify) -> Receiver:
    is_web = notify.webhook is not None
    words = (notify.webhook or "",) if is_web else notify.command or ()
    usual = ON if notify.waiting_longer_than_s is None else (*ON, "waiting")
    on: tuple[str, ...] = usual if notify.on is None else notify.on
    waiting_s = notify.waiting_longer_than_s or WAITING_S
    return Receiver("webhook" if is_web else "command", words, on, waiting_s)
