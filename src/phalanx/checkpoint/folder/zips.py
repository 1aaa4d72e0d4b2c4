"""Does a ZIP archive end as it says? `torch.save` writes one, its directory last.

The directory at the end is held against the length of the file and against the head of every
member; on demand every member's bytes against its checksum.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

from phalanx.frozen import frozen

Read = Callable[[int, int], "bytes | memoryview"]

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ROW = struct.Struct("<4s6H3L5H2L")
_HEAD = struct.Struct("<4s5H3L2H")
_FULL_16, _FULL_32 = 0xFFFF, 0xFFFFFFFF
_CHUNK = 4 << 20


@frozen
class _Directory:
    at: int
    size: int
    count: int


@frozen
class _Member:
    method: int
    crc: int
    packed: int
    at: int


def problem_of_zip(size: int, read: Read, *, deep: bool = False) -> str:
    """What shows that an archive is not whole; '' when nothing does.

    Raises `ValueError` or `struct.error` where it is cut short.
    """
    directory = _directory(size, read)
    if directory is None:
        return "it has no directory at its end"
    rows = bytes(read(directory.at, directory.size))
    if len(rows) != directory.size:
        return "its directory is cut short"
    count = 0
    for member in _members(rows):
        count += 1
        problem = _problem_of_member(member, directory.at, read, deep=deep)
        if problem:
            return problem
    return "" if count == directory.count else "its directory lacks members"


def _directory(size: int, read: Read) -> _Directory | None:
    """Where the directory lies; None unless it ends exactly where the closing record begins."""
    end_at = size - _END.size
    if end_at < 0:
        return None
    mark, _, _, _, count, length, at, comment = _END.unpack(bytes(read(end_at, _END.size)))
    if mark != b"PK\5\6" or comment:
        return None
    found, end = _Directory(at, length, count), end_at
    wide = _wide(end_at, read)
    if wide is not None:
        found, end = wide
    elif count == _FULL_16 or _FULL_32 in (at, length):
        return None
    return found if found.at + found.size == end else None


def _wide(end_at: int, read: Read) -> tuple[_Directory, int] | None:
    """The 64-bit form: its directory, and where its closing record begins."""
    locator_at = end_at - _LOCATOR_64.size
    if locator_at < 0:
        return None
    mark, _, record_at, _ = _LOCATOR_64.unpack(bytes(read(locator_at, _LOCATOR_64.size)))
    if mark != b"PK\6\7" or record_at + _END_64.size > locator_at:
        return None
    row = _END_64.unpack(bytes(read(record_at, _END_64.size)))
    if row[0] != b"PK\6\6":
        return None
    return _Directory(row[9], row[8], row[7]), record_at


def _members(rows: bytes) -> Iterator[_Member]:
    at = 0
    while at < len(rows):
        row = _ROW.unpack_from(rows, at)
        if row[0] != b"PK\1\2":
            raise ValueError("its directory is damaged")
        name, extra, comment = row[10], row[11], row[12]
        packed, where = row[8], row[16]
        start = at + _ROW.size + name
        if _FULL_32 in (packed, row[9], where):
            packed, where = _widened(rows[start : start + extra], row[9], packed, where)
        yield _Member(row[4], row[7], packed, where)
        at = start + extra + comment


def _widened(extra: bytes, plain: int, packed: int, where: int) -> tuple[int, int]:
    """Packed size and place from the 64-bit field that stands for what is full."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            wide = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            if plain == _FULL_32:
                next(wide, 0)
            packed = next(wide, 0) if packed == _FULL_32 else packed
            where = next(wide, 0) if where == _FULL_32 else where
            return packed, where
        at += 4 + length
    raise ValueError("its directory lacks a 64-bit field")


def _problem_of_member(member: _Member, limit: int, read: Read, *, deep: bool) -> str:
    head = _HEAD.unpack(bytes(read(member.at, _HEAD.size)))
    start = member.at + _HEAD.size + head[9] + head[10]
    if head[0] != b"PK\3\4" or start + member.packed > limit:
        return "a member is not where its directory says"
    if deep and member.crc and _crc(member, start, read) != member.crc:
        return "the bytes of a member do not fit its checksum"
    return ""


def _crc(member: _Member, start: int, read: Read) -> int:
    unpack = zlib.decompressobj(-15) if member.method == 8 else None
    crc, left = 0, member.packed
    while left > 0:
        data = read(start + member.packed - left, min(left, _CHUNK))
        if not len(data):
            raise ValueError("a member is cut short")
        left -= len(data)
        crc = zlib.crc32(unpack.decompress(data) if unpack else data, crc)
    return crc
