"""Shapes that secrets have, whoever declared them or did not. Pure.

Each shape is searched for only where one of its marks stands: a plain search is far faster than
an expression. No expression looks beyond a line's start or end, so that many lines can be searched
at once, and none matches more than `LONGEST` bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from phalanx.redaction.names import could_be_secret, is_secret_name

LONGEST = 9000
"""Bytes of the longest match."""


class Shape(NamedTuple):
    """One kind of secret. The group `s` of the expression is what is hidden, else all of it."""

    what: str
    marks: tuple[bytes, ...]
    text: bytes
    """The expression; compiled when it is first needed."""


class Span(NamedTuple):
    """Bytes to be hidden, and what they are."""

    start: int
    end: int
    what: str
    since: int
    """Where that by which it is known begins: its name, or itself."""


_KEY = rb"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
KEY_BEGIN = rb"-----BEGIN " + _KEY
KEY_END = rb"-----END " + _KEY

_AWS = "AWS access key"

_SHAPES = (
    Shape(
        "private key",
        (b"PRIVATE KEY",),
        KEY_BEGIN + rb"(?:[^\r\n]{0,8500}?" + KEY_END + rb"|[^\r\n]{0,8500})",
    ),
    Shape(
        _AWS,
        (b"AKIA", b"ASIA"),
        rb"(?<![A-Za-z0-9/+])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9/+])",
    ),
    Shape("Hugging Face token", (b"hf_",), rb"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{16,256}"),
    Shape(
        "GitHub token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
        rb"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{20,256}",
    ),
    Shape("GitHub token", (b"github_pat_",), rb"github_pat_[A-Za-z0-9_]{20,256}"),
    Shape("GitLab token", (b"glpat-",), rb"(?<![A-Za-z0-9_-])glpat-[A-Za-z0-9_-]{16,256}"),
    Shape("Slack token", (b"xox",), rb"(?<![A-Za-z0-9])xox[abeprs]-[A-Za-z0-9-]{10,256}"),
    Shape(
        "Slack webhook",
        (b"hooks.slack.com/",),
        rb"hooks\.slack\.com/(?P<s>(?:services|workflows|triggers)/[A-Za-z0-9_/-]{8,256})",
    ),
    Shape("wandb key", (b"wandb_v",), rb"wandb_v[0-9]_[A-Za-z0-9_-]{20,256}"),
    Shape(
        "wandb key",
        (b"wandb", b"WANDB"),
        rb"(?i:wandb)[^\r\n]{0,200}?(?i:key|login|password)[^\r\n]{0,100}?"
        rb"(?<![0-9a-f])(?P<s>[0-9a-f]{40})(?![0-9a-f])",
    ),
    Shape(
        "API key",
        (b"sk-", b"nvapi-", b"npm_", b"pypi-", b"AIza", b"api_org_", b"dop_v1_"),
        rb"(?<![A-Za-z0-9_-])(?:sk-|nvapi-|npm_|pypi-|AIza|api_org_|dop_v1_)"
        rb"(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,512}",
    ),
    Shape(
        "token",
        (b"eyJ",),
        rb"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,900})?",
    ),
    Shape(
        "bearer token",
        (b"earer", b"EARER"),
        rb"(?i:bearer)[ \t]+(?=[^\s0-9]{0,4000}[0-9])(?P<s>[A-Za-z0-9._~+/=-]{12,4096})",
    ),
    Shape(
        "authorization",
        (b"uthorization", b"UTHORIZATION"),
        rb"(?i:authorization)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:[A-Za-z]{1,20}[ \t]+)?"
        rb"(?=[^\s\"',;]{0,4000}[0-9=])(?P<s>[^\s\"',;\[\]]{8,4096})",
    ),
    Shape(
        "login",
        (b"://",),
        rb"://(?P<s>[^\s/?#@:\"'<>\[\]]{0,256}:[^\s/@\"'<>\[\]]{1,512}"
        rb"|[^\s/?#@:\"'<>\[\]]{16,512})@",
    ),
    Shape(
        "signature",
        (b"X-Amz-", b"x-amz-", b"sig="),
        rb"(?:(?i:X-Amz-(?:Signature|Security-Token|Credential))=|[?&]sig=)"
        rb"(?P<s>[^\s&\"'\[\]]{8,4096})",
    ),
    Shape(
        "password",
        (b"login ",),
        rb"login[ \t]+\S{1,100}[ \t]+password[ \t]+(?P<s>[^\s\[\]]{4,256})",
    ),
)

_MARKS = tuple((mark, shape) for shape in _SHAPES for mark in shape.marks)
_WORD = rb"TOKEN|SECRETS?|PASS(?:WORD|WD|PHRASE)?|KEY(?:[_-]?ID)?|CREDENTIALS?|WEBHOOK(?:_URL)?"
"""In upper case: where the name of an assigned secret ends."""
_VALUE = rb"[\"']?(?P<s>[^\s\"',;&<>{}()\[\]$|\\]{4,4096})"
_ASSIGNED = rb"[\"'\]]{0,2}[ \t]{0,4}[:=][ \t]{0,4}" + _VALUE
_GIVEN = rb"[\"']?[, \t=]{1,4}" + _VALUE
_NAME_START = rb"[A-Za-z0-9_.-]{0,80}\Z"
_AWS_PAIR = rb"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"


def spans(block: bytes) -> Iterator[Span]:
    """What looks like a secret in some lines."""
    hit: dict[bytes, Shape] = {}
    for mark, shape in _MARKS:
        if mark in block:
            hit[shape.text] = shape
    for shape in hit.values():
        yield from _found(shape, block)
    yield from _named(block)


def _found(shape: Shape, block: bytes) -> Iterator[Span]:
    for match in re.finditer(shape.text, block):
        group = "s" if "s" in match.re.groupindex else 0
        yield Span(*match.span(group), shape.what, match.start())
        if shape.what == _AWS:
            yield from _beside(block, match.start())


def _beside(block: bytes, at: int) -> Iterator[Span]:
    """The secret half of an AWS key has no shape of its own, but stands in the line of its id."""
    start = max(block.rfind(b"\n", 0, at), block.rfind(b"\r", 0, at)) + 1
    line = re.compile(rb"[^\r\n]*").match(block, start)
    for match in re.finditer(_AWS_PAIR, line[0] if line else b""):
        yield Span(
            start + match.start(), start + match.end(), "AWS secret key", start + match.start()
        )


def _named(block: bytes) -> Iterator[Span]:
    """Values that stand behind the name of a secret: `API_KEY=...`, `--password ...`."""
    for word in re.finditer(_WORD, block.upper()):
        before = re.search(_NAME_START, block[max(0, word.start() - 80) : word.start()])
        name = (before[0] if before else b"") + block[word.start() : word.end()]
        tail = _GIVEN if name.startswith(b"--") else _ASSIGNED
        match = re.compile(tail).match(block, word.end())
        if match and _is_secret(name.lstrip(b"-"), match["s"]):
            yield Span(*match.span("s"), "", word.end() - len(name))


def _is_secret(name: bytes, value: bytes) -> bool:
    text = name.decode("ascii", "replace")
    return is_secret_name(text) and could_be_secret(text, value.decode("utf-8", "replace"))
