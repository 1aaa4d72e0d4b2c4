"""What a job told its receivers, and what of it did not arrive."""

from __future__ import annotations

from phalanx.app.jobs import Job
from phalanx.app.look import read
from phalanx.app.times import maybe
from phalanx.frozen import frozen
from phalanx.plan.receivers import label
from phalanx.reconcile.telling import due
from phalanx.state.messages import Sent

_OUTCOME = ".outcome"


@frozen
class SeenMessage:
    """One message to one receiver."""

    name: str
    receiver: str
    """Host of a webhook, or name of a program."""
    sent: Sent | None
    """None: somebody is at it."""

    @property
    def state(self) -> str:
        """`sent`, `failed` or `sending`."""
        if self.sent is None:
            return "sending"
        return "sent" if self.sent.is_sent else "failed"

    def sentence(self) -> str:
        """`the message ended-0 to https://hooks.test/... was not delivered: it answered 500`."""
        told = f"the message {self.name} to {self.receiver}"
        if self.sent is None:
            return f"{told} is being sent"
        how = "was sent" if self.sent.is_sent else "was not delivered"
        tries = "" if self.sent.tries == 1 else f" ({self.sent.tries} tries)"
        return f"{told} {how}{tries}: {self.sent.said}"

    def view(self) -> dict[str, object]:
        """As `--json` shows it."""
        return {
            "message": self.name,
            "to": self.receiver,
            "state": self.state,
            "says": self.sent.said if self.sent else None,
            "at": maybe(self.sent.at_ns) if self.sent else None,
        }


def seen_messages(job: Job) -> tuple[SeenMessage, ...]:
    """Every message that somebody has taken up, by name."""
    receivers = job.record.plan.notify
    if not receivers:
        return ()
    found = {name.rpartition(".")[0] for name in job.root.store.list(job.keys.messages)}
    return tuple(
        SeenMessage(name, _label(job, name), read(job, Sent, job.keys.message_outcome(name)))
        for name in sorted(found)
    )


def owes_messages(job: Job) -> bool:
    """Whether a job that has ended owes messages that have no outcome."""
    record = job.record
    if not record.plan.notify or not record.phase.is_terminal:
        return False
    names = {message.name for message in due(record, has_world=True, now_ns=record.ended_ns or 0)}
    there = set(job.root.store.list(job.keys.messages))
    return any(f"{name}{_OUTCOME}" not in there for name in names)


def _label(job: Job, name: str) -> str:
    number = name.rpartition("-")[2]
    receivers = job.record.plan.notify
    is_known = number.isdecimal() and int(number) < len(receivers)
    return label(receivers[int(number)]) if is_known else "a receiver"
