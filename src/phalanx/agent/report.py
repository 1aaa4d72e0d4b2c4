"""How an attempt ended on one agent, put together from what is known. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx.frozen import frozen
from phalanx.state.gang import End, RankEnd
from phalanx.words import FailureClass, Outcome


@frozen
class Story:
    """What an agent knows when its ranks have ended."""

    seat: tuple[int, int, int]
    """(slot, incarnation, attempt)."""
    ranks: tuple[RankEnd, ...]
    step: int
    finished: bool
    stop_reason: str = ""
    """Why the ranks were told to stop; '' when nobody told them."""
    hang: str = ""
    unreadable: tuple[str, str] | None = None
    """(checkpoint, because)."""
    departed: tuple[FailureClass, str] | None = None
    """(class, sentence) when a departure notice ended it."""


def end_of(story: Story) -> End:
    """The ending to be written. What could not be read goes before a hang, that before leaving."""
    slot, incarnation, attempt = story.seat
    failure, message = _named(story)
    return End(
        slot=slot,
        incarnation=incarnation,
        attempt=attempt,
        outcome=_outcome(story),
        ranks=story.ranks,
        failure=failure,
        message=message,
        checkpoint=story.unreadable[0] if story.unreadable is not None else None,
        step=story.step,
        finished=story.finished,
        departing=story.departed is not None,
    )


def unable(seat: tuple[int, int, int], message: str, failure: FailureClass) -> End:
    """The ending of an attempt in which an agent could not do its part; `seat` as in `Story`."""
    return End(*seat, Outcome.FAILED, failure=failure, message=message)


def _named(story: Story) -> tuple[FailureClass | None, str]:
    if story.unreadable is not None:
        name, because = story.unreadable
        return FailureClass.CHECKPOINT_UNREADABLE, f"checkpoint {name}: {because}"
    if story.hang:
        return FailureClass.HANG, story.hang
    if story.departed is not None:
        return story.departed
    return None, story.stop_reason


def _outcome(story: Story) -> Outcome:
    if story.hang or has_failed(story.ranks):
        return Outcome.FAILED
    if story.stop_reason:
        return Outcome.STOPPED
    return Outcome.SUCCEEDED if all(e.exit_code == 0 for e in story.ranks) else Outcome.FAILED


def has_failed(ranks: Sequence[RankEnd]) -> bool:
    """Whether a rank ended badly by itself."""
    return any(e.exit_code != 0 and not e.told_to_stop for e in ranks)
