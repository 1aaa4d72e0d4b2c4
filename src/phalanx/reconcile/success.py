"""When is the job done?"""

from __future__ import annotations

from dataclasses import replace

from phalanx import names
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.look import Look
from phalanx.words import Phase


def all_succeeded(look: Look) -> Decision | None:
    """Every slot's ranks exited 0 in the same attempt."""
    record = look.record
    if len(look.done_slots) < len(record.active) or not record.active:
        return None
    said, head = "every rank exited 0", look.observed.head
    if record.plan.checkpoint.mode == "watch" and (head is None or head.checkpoint is None):
        folder = record.plan.checkpoint.directory
        warning = f"nothing was committed: no whole checkpoint appeared in {folder}"
        record, said = replace(record, warning=warning), f"{said}; {warning}"
    return look.end_job(Phase.SUCCEEDED, record, "AllRanksDone", said)


def died_in_teardown(look: Look) -> Decision | None:
    """All ranks announced their last step and it is committed; a later death is a warning.

    torch can abort while its process group is taken down.
    """
    record, head = look.record, look.observed.head
    total = record.plan.total_steps
    if len(look.ends) < len(record.active) or not record.active:
        return None
    if not all(e.finished or e.slot in look.done_slots for e in look.ends):
        return None
    if head is None or head.checkpoint is None or head.attempt != record.attempt:
        return None
    named = names.split_checkpoint_name(head.checkpoint)
    last = total if total is not None else max(e.step for e in look.ends)
    if named is None or named[0] < last:
        return None
    warning = "a rank died after the final checkpoint was committed"
    return look.end_job(
        Phase.SUCCEEDED, replace(record, warning=warning), "AllRanksDone", f"done; {warning}"
    )
