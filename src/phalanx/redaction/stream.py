"""Hide secrets in a stream of bytes, whatever pieces it comes in. Pure.

A line is passed on once it has ended, so a secret that is written in two pieces is found whole.
Carriage returns end lines too, for progress bars. Of a line without an end, what is so far from
its last byte that no secret can reach there is passed on.
"""

from __future__ import annotations

import re

from phalanx.redaction.patterns import KEY_BEGIN, KEY_END
from phalanx.redaction.redactor import Redactor

_ENDS = b"\n", b"\r"
_BODY = rb"[A-Za-z0-9+/=]{24,}|\A[ \t]*[A-Za-z0-9+/=]*[ \t]*\Z|\A[A-Za-z-]{3,20}: [^\r\n]*\Z"
"""What stands between the first and the last line of a private key."""
_BODY_LINES = 400


class RedactedStream:
    """One stream: `feed` gives what may be shown by now, `end` the rest.

    The joined output depends on the joined input alone, not on its pieces.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""
        self._most = 4 * redactor.longest
        self._key_lines = 0
        """Lines since the first line of a private key; 0 outside of one."""

    @property
    def is_holding(self) -> bool:
        """Whether a line has begun and not ended."""
        return bool(self._held)

    def feed(self, data: bytes) -> bytes:
        """What may be shown after these bytes."""
        self._held += data
        out = []
        while self._held:
            window = self._held[: self._most]
            cut = max(window.rfind(end) for end in _ENDS) + 1
            if cut:
                out.append(self._lines(window[:cut]))
            elif len(window) == self._most:
                cut = self._safe_cut(window)
                out.append(self._line(window[:cut]))
            else:
                break
            self._held = self._held[cut:]
        return b"".join(out)

    def end(self) -> bytes:
        """The stream is over: what was held back."""
        held, self._held = self._held, b""
        return self._line(held) if held else b""

    def _lines(self, block: bytes) -> bytes:
        if not self._key_lines and b"PRIVATE KEY" not in block:
            return self._redactor.lines(block)
        return b"".join(self._line(line) for line in re.findall(rb"[^\r\n]*[\r\n]", block))

    def _line(self, line: bytes) -> bytes:
        if self._key_lines:
            return self._in_key(line)
        if re.search(KEY_BEGIN, line) and not re.search(KEY_BEGIN + rb".*?" + KEY_END, line):
            self._key_lines = 1
        return self._redactor.lines(line)

    def _in_key(self, line: bytes) -> bytes:
        """Lines of a private key are left out; a line that cannot be one ends it."""
        found = re.search(KEY_END, line)
        if found:
            self._key_lines = 0
            return self._redactor.lines(line[found.end() :])
        self._key_lines += 1
        if self._key_lines > _BODY_LINES or not re.search(_BODY, line.strip(b"\r\n")):
            self._key_lines = 0
            return self._redactor.lines(line)
        return b""

    def _safe_cut(self, window: bytes) -> int:
        """Where a line without an end is cut: outside of every secret, whole or begun."""
        cut = len(window) - self._redactor.longest
        for span in reversed(self._redactor.spans(window)):
            if span.since < cut < span.end:
                cut = span.since
        return cut
