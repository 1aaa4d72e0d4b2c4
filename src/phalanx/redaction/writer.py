"""Standard error of a process that speaks for others: what it says goes through a redactor."""

from __future__ import annotations

import sys
from typing import TextIO, cast

from phalanx.redaction.redactor import Redactor


class RedactedText:
    """A text stream for `print` and tracebacks that hides secrets in every write."""

    def __init__(self, out: TextIO, redactor: Redactor) -> None:
        self.redactor = redactor
        self._out = out

    def write(self, text: str) -> int:
        """Write the text without secrets."""
        self._out.write(self.redactor.text(text))
        return len(text)

    def flush(self) -> None:
        """Pass on what is buffered."""
        self._out.flush()

    def fileno(self) -> int:
        """Of the stream behind; what is written there directly is not looked at."""
        return self._out.fileno()


def hide(redactor: Redactor) -> None:
    """From now on standard error of this process shows no secret. Output is left alone."""
    sys.stderr = cast(TextIO, RedactedText(sys.stderr, redactor))


def learn(redactor: Redactor) -> None:
    """More is known of what must be hidden. Does nothing where `hide` was not called."""
    if isinstance(sys.stderr, RedactedText):
        sys.stderr.redactor = redactor
