"""Whatever the pieces: the same output, no secret in it, and nothing else changed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx.redaction.redactor import Redactor
from phalanx.redaction.stream import RedactedStream

VALUES = {"ONE": "s3cr3t-One/+", "TWO": "zwei Geheimnis", "LONG": "k" * 300}
TOKEN = "hf_" + "Ab1" * 12
KEY = f"-----BEGIN PRIVATE KEY-----\n{'MIIEab' * 10}\n{'Qx9+/=' * 11}\n-----END PRIVATE KEY-----\n"
PARTS = [
    *VALUES.values(),
    f" {TOKEN} ",
    KEY,
    f"API_KEY={'x9' * 9}",
    "https://me:pw9pw9@host/",
    "\n",
    "\r",
]
REDACTOR = Redactor(VALUES)

plain = st.text("abcdef 0123456789.,:=_-/@\n\r\"'", max_size=40)
texts = st.lists(st.one_of(plain, st.sampled_from(PARTS)), max_size=12).map("".join)
sizes = st.lists(st.integers(1, 50), min_size=1, max_size=8)


def passed(data: bytes, sizes: list[int]) -> bytes:
    stream, out, at, turn = RedactedStream(REDACTOR), [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        out.append(stream.feed(data[at : at + size]))
        at, turn = at + size, turn + 1
    return b"".join([*out, stream.end()])


@given(texts, sizes)
@settings(max_examples=300, deadline=None)
def test_pieces_do_not_matter_and_no_known_value_remains(text: str, sizes: list[int]) -> None:
    data = text.encode()
    whole = passed(data, [len(data) or 1])
    assert passed(data, sizes) == whole
    for secret in [*VALUES.values(), TOKEN, "MIIEab" * 10, "Qx9+/=" * 11]:
        assert secret.encode() not in whole


@given(st.binary(max_size=400), sizes)
@settings(deadline=None)
def test_bytes_without_secrets_pass_unchanged(data: bytes, sizes: list[int]) -> None:
    quiet = bytes(b for b in data if b not in b":=")
    assert passed(quiet, sizes) == quiet


@given(st.integers(0, 120_000), st.sampled_from([*VALUES.values(), TOKEN]), sizes)
@settings(max_examples=60, deadline=None)
def test_in_a_line_without_an_end_a_secret_is_found_anywhere(
    before: int, secret: str, sizes: list[int]
) -> None:
    data = (". " * before)[:before].encode() + b" " + secret.encode() + b" " + b". " * 50_000
    whole = passed(data, [len(data)])
    assert secret.encode() not in whole
    assert whole.count(b"[redacted") == 1
    assert passed(data, [size * 997 for size in sizes]) == whole


@given(st.integers(0, 80_000), sizes)
@settings(max_examples=40, deadline=None)
def test_a_name_and_its_value_are_not_parted(before: int, sizes: list[int]) -> None:
    data = b"." * before + b" DB_PASSWORD=hunter2hunter " + b"." * 60_000
    whole = passed(data, [size * 1009 for size in sizes])
    assert b"hunter2" not in whole
    assert len(whole) == len(data) - len(b"hunter2hunter") + len(b"[redacted]")
