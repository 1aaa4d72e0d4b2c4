"""Slots that an elastic job does without for now, for people."""

from __future__ import annotations

from typing import Any

from phalanx.app.times import maybe
from phalanx.clock import SECOND_NS
from phalanx.reconcile.seating import retry_s
from phalanx.state.record import Record, Seat


def given_up(record: Record) -> list[dict[str, Any]]:
    """Evidence for `why`: each parked slot, why, and when it may take part again."""
    return [
        {"where": f"record.seats[{seat.slot}]", "says": _says(seat), "at": maybe(seat.since_ns)}
        for seat in record.seats
        if seat.parked and not record.phase.is_terminal
    ]


def _says(seat: Seat) -> str:
    because = f": {seat.because}" if seat.because else ""
    said = f"slot {seat.slot} takes no part for now{because}"
    wait_s = retry_s(seat.falls)
    if not wait_s:
        return said
    again = maybe(seat.since_ns + int(wait_s * SECOND_NS))
    return f"{said}; it fell out {seat.falls} times in a row and may come back after {again}"
