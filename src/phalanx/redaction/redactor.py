"""Hide secrets in text: known values first, then what has the shape of one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from phalanx.redaction import patterns
from phalanx.redaction.patterns import Span
from phalanx.redaction.values import forms

HIDDEN = "redacted"
_FALLBACK = b"***"
"""Stands for a value that is itself part of a marker."""


class Redactor:
    """Hides the values of `secrets` (name → value) and everything that looks like a secret.

    A known value leaves `[redacted NAME]`, a shape `[redacted Hugging Face token]`, the value of
    an assignment `[redacted]`.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._names: dict[bytes, str] = {}
        for name, value in (secrets or {}).items():
            for form in forms(value):
                self._names.setdefault(form, name)
        self._forms = tuple(sorted(self._names, key=len, reverse=True))
        self._expression = b"|".join(re.escape(form) for form in self._forms)
        self.longest = max([patterns.LONGEST, *(len(form) for form in self._forms)])
        """Bytes of the longest thing that can be hidden at one place."""

    def text(self, text: str) -> str:
        """The text without secrets; its other characters stay as they are."""
        from phalanx.redaction.stream import RedactedStream

        data = text.encode("utf-8", "surrogatepass")
        stream = RedactedStream(self)
        clean = stream.feed(data) + stream.end()
        return text if clean == data else clean.decode("utf-8", "replace")

    def words(self, value: Any) -> Any:
        """A plain JSON value with every text in it, names of members too, without secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.words(member) for name, member in value.items()}
        return [self.words(item) for item in value] if isinstance(value, list) else value

    def holds_value(self, data: bytes | memoryview) -> str:
        """Name of a known secret whose value stands in `data`; '' when there is none."""
        whole = bytes(data) if isinstance(data, memoryview) else data
        return next((self._names[form] for form in self._forms if form in whole), "")

    def lines(self, block: bytes) -> bytes:
        """Some lines without secrets, but for the inner lines of private keys."""
        out, at = [], 0
        for span in self.spans(block):
            out += [block[at : span.start], self._marker(span.what)]
            at = span.end
        return b"".join([*out, block[at:]]) if out else block

    def spans(self, block: bytes) -> list[Span]:
        """What is hidden in some lines, in order, nothing twice."""
        merged: list[Span] = []
        for span in sorted([*self._known(block), *patterns.spans(block)]):
            if merged and span.start < merged[-1].end:
                merged[-1] = _joined(merged[-1], span)
            else:
                merged.append(span)
        return merged

    def _known(self, block: bytes) -> Iterator[Span]:
        if any(form in block for form in self._forms):
            for match in re.finditer(self._expression, block):
                yield Span(*match.span(), self._names[match[0]], match.start())

    def _marker(self, what: str) -> bytes:
        marker = f"[{HIDDEN} {what}]" if what else f"[{HIDDEN}]"
        data = marker.encode("utf-8", "surrogateescape")
        return _FALLBACK if any(form in data for form in self._forms) else data


def _joined(one: Span, other: Span) -> Span:
    what = one.what or other.what
    return Span(one.start, max(one.end, other.end), what, min(one.since, other.since))
