"""The exact values that must not be seen, and the forms in which programs print them. Pure."""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable, Mapping

from phalanx.redaction.names import could_be_secret, is_secret_name

SHORTEST_VALUE = 4
"""Characters of the shortest value that is searched for: shorter ones stand in every text."""
_SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"
_SHORTEST_LINE = 8
_SHORTEST_BASE64 = 8


def declared_values(names: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Values of the secrets that a job declares, by name; those too short to search for are not."""
    found = {name: environ.get(name, "") for name in names}
    return {name: value for name, value in found.items() if len(value) >= SHORTEST_VALUE}


def named_values(environ: Mapping[str, str]) -> dict[str, str]:
    """Values of variables that nobody declared, but whose names are those of secrets."""
    return {
        name: value
        for name, value in environ.items()
        if is_secret_name(name) and could_be_secret(name, value) and len(value) > SHORTEST_VALUE
    }


def forms(value: str) -> tuple[bytes, ...]:
    """The value as it may be printed: plain, escaped in JSON, Python or a URL, in base64.

    A value of several lines is taken line by line.
    """
    found: dict[bytes, None] = {}
    for text in _lines(value):
        plain = text.encode("utf-8", "surrogateescape")
        found.update(dict.fromkeys([plain, *_escaped(text), *_quoted(plain), *_base64(plain)]))
    return tuple(form for form in found if len(form) >= SHORTEST_VALUE)


def _lines(value: str) -> list[str]:
    lines = [line.strip() for line in value.replace("\r", "\n").split("\n")]
    lines = [line for line in lines if line]
    return lines if len(lines) < 2 else [line for line in lines if len(line) >= _SHORTEST_LINE]


def _escaped(text: str) -> list[bytes]:
    forms = [json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]]
    return [form.encode("utf-8", "surrogateescape") for form in forms]


def _quoted(plain: bytes) -> list[bytes]:
    """As in a URL, in its query and in its path."""
    return [
        b"".join(bytes([c]) if c in _SAFE + also else b"%%%02X" % c for c in plain)
        for also in (b"", b"/")
    ]


def _base64(plain: bytes) -> list[bytes]:
    """The part that does not depend on what stands around it, at each of the three offsets."""
    if len(plain) < _SHORTEST_BASE64:
        return []
    found = []
    for offset in range(3):
        coded = binascii.b2a_base64(bytes(offset) + plain, newline=False).rstrip(b"=")
        first = (offset * 8 + 5) // 6
        last = (offset + len(plain)) * 8 // 6
        found.append(coded[first:last])
    return found
