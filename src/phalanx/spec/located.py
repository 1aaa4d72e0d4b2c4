"""Reads YAML and JSON into plain values that know where they stand.

Nothing is constructed but plain data, keys are text, a key given twice is refused, and whatever
the bytes are the answer is a `Document` or one `SpecError`.
"""

from __future__ import annotations

from phalanx.errors import SpecError
from phalanx.spec.json_text import is_json, json_spots, read_json
from phalanx.spec.places import BYTES_MAX, Document, Tags
from phalanx.spec.yaml_text import read_yaml

_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def read(text: str | bytes, file: str, tags: Tags | None = None) -> Document:
    """The document in `text`; `file` is its name for messages and tells JSON (`.json`) from YAML.

    A file of another name that begins with `{` or `[` and is whole JSON is read as JSON too.
    `tags` gives YAML tags a meaning; without it they are refused. Raises `SpecError`.
    """
    decoded = decode(text, file)
    if file.endswith(".json") or is_json(decoded):
        value = read_json(decoded, file)
        return Document(file, decoded, value, lambda: json_spots(decoded, file))
    value, spot = read_yaml(decoded, file, tags)
    return Document(file, decoded, value, lambda: spot)


def decode(raw: str | bytes, file: str) -> str:
    """UTF-8 text without its byte order mark. Raises `SpecError` for anything else."""
    if len(raw) > BYTES_MAX:
        limit = BYTES_MAX // (1024 * 1024)
        raise SpecError(f"is larger than {limit} MiB", file=file)
    if isinstance(raw, bytes):
        raw = _from_bytes(raw, file)
    text = raw.removeprefix("\ufeff")
    for bad in ("\0",) if text.isascii() else ("\0", *_surrogate(text)):
        if bad in text:
            at = position(text, text.index(bad))
            raise SpecError(
                f"holds the character U+{ord(bad):04X}, so it is not a text file", file=file, at=at
            )
    return text


def _from_bytes(raw: bytes, file: str) -> str:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            raise SpecError(f"is {encoding} text", file=file, hint="save it as UTF-8")
    if b"\0" in raw:
        raise SpecError("is not a text file", file=file, hint="a job file is YAML or JSON in UTF-8")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = len(raw[: error.start].rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise SpecError(
            f"the byte 0x{raw[error.start]:02x} is not UTF-8 text",
            file=file,
            at=(line, column),
            hint="save it as UTF-8",
        ) from None


def _surrogate(text: str) -> tuple[str, ...]:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return (text[error.start],)
    return ()


def position(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of a character, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
