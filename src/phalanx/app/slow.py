"""Slow ranks, from the paces that agents carry in their beats and ledger entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from phalanx.app.look import Look
from phalanx.state.gang import LedgerEntry
from phalanx.verdict.stragglers import Straggler, Work, stragglers
from phalanx.words import Phase


def slow_now(look: Look) -> tuple[Straggler, ...]:
    """Ranks that are slow in the newest block of steps, slowest first; none unless they train."""
    if look.record.phase is not Phase.RUNNING:
        return ()
    entries = [seen.beat.entry for seen in look.beats if seen.beat.entry is not None]
    return stragglers(
        [
            Work(pace.rank, entry.slot, pace.steps, pace.own_ns, pace.spread_ns)
            for entry in entries
            for pace in entry.paces
        ]
    )


def slow_over(entries: Iterable[LedgerEntry]) -> Straggler | None:
    """The slowest rank of a whole attempt, by its mean block; None when none was slow."""
    found = stragglers(
        [
            Work(
                pace.rank,
                entry.slot,
                pace.all_steps,
                pace.all_ns // pace.all_steps,
                pace.spread_ns,
            )
            for entry in entries
            for pace in entry.paces
            if pace.all_steps > 0
        ]
    )
    return found[0] if found else None


def slow_view(slow: Straggler) -> dict[str, Any]:
    """One slow rank as `--json` prints it."""
    return {
        "rank": slow.rank,
        "slot": slow.slot,
        "ratio": round(slow.ratio, 3),
        "steps": slow.steps,
        "own_ns": slow.own_ns,
        "others_ns": slow.others_ns,
        "message": slow.words(),
    }
