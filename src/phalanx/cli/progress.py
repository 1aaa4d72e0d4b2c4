"""The progress line of a followed job: one line on a terminal, rewritten in place."""

from __future__ import annotations

import os
import sys

from phalanx.app.look import Look
from phalanx.cli import view

_BAR = 24


class Progress:
    """Writes to standard error; silent when that is not a terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = ""

    def show(self, look: Look) -> None:
        """Replace the line, when it has changed."""
        if not self.is_shown:
            return
        text = line(look)
        if text != self._shown:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            sys.stderr.write(f"\r\x1b[K{text[: columns - 1]}")
            sys.stderr.flush()
            self._shown = text

    def clear(self) -> None:
        """Make room for a plain line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = ""


def line(look: Look) -> str:
    """`Running ━━━━──── 840/2000  loss 1.93  1m03s to go  attempt 1`."""
    record, total = look.record, look.total_steps
    words = [record.phase.value]
    if total:
        done = min(_BAR, _BAR * look.step // total)
        words.append(f"{'━' * done}{'─' * (_BAR - done)} {look.step}/{total}")
    elif look.step:
        words.append(f"step {look.step}")
    metrics = [seen.beat.metrics for seen in look.beats if seen.beat.metrics]
    words += [f"{name} {value:.4g}" for name, value in (metrics[0] if metrics else ())]
    if look.eta_s is not None:
        words.append(f"{view.seconds(look.eta_s * 10**9)} to go")
    words.append(f"attempt {record.attempt}")
    if look.waits:
        words.append(look.waits[0])
    elif any(seen.beat.saving for seen in look.beats):
        words.append("saving")
    if record.phase.value != "Running":
        words.append(record.message)
    return "  ".join(words)
