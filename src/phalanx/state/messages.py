"""What is told to people outside: messages, who took each up, and what came of it."""

from __future__ import annotations

from phalanx.frozen import frozen


@frozen
class Message:
    """One event of a job for one receiver. `name` is the same whoever finds the event."""

    name: str
    """`<event>-<receiver>`, with the attempt or time of the event where there can be several."""
    receiver: int
    """Which entry of the plan's `notify`."""
    event: str
    phase: str
    reason: str
    message: str
    attempt: int
    at_ns: int
    """Store time of the event."""


@frozen
class Claim:
    """Create-once: this writer sends the message, within the lease."""

    writer: str
    pid: int
    host: str
    at_ns: int
    """Store time; the lease runs from here."""


@frozen
class Sent:
    """Create-once: what came of a message. Nothing is sent any more once it exists."""

    is_sent: bool
    tries: int
    said: str
    """What the receiver answered, or why it could not be told; never its address."""
    at_ns: int
