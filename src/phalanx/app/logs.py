"""What the ranks printed: files that agents keep, merged in order of time.

Layout below `jobs/<job>/logs`: a folder `<slot>.<incarnation>-<attempt>` per agent and attempt
holds `<rank>.<out|err>.<segment>`, bytes without secrets, and beside each `<same>.idx` with a line
`<byte offset> <unix ns>` for every chunk as it was read. Middle segments of a long log are not
kept; the gap is told.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import merge
from typing import Any, NamedTuple

from phalanx.app.times import maybe
from phalanx.owned import open_plain
from phalanx.store.refusals import refusal

LINE_MAX = 64 * 1024
"""Bytes after which a line without an end is broken."""
_CHUNK = 1 << 20
_FOLDER = re.compile(r"(?P<slot>\d+)\.(?P<incarnation>\d+)-(?P<attempt>\d+)")
_FILE = re.compile(r"(?P<rank>\d+)\.(?P<stream>out|err)\.(?P<segment>\d+)")


class Line(NamedTuple):
    """One line of one rank. `at_ns` is when its first byte was read; 0 when not known."""

    at_ns: int
    slot: int
    rank: int
    stream: str
    text: str


class Filter(NamedTuple):
    """Which ranks to read; None means all."""

    slot: int | None = None
    rank: int | None = None
    attempt: int | None = None


EVERYTHING = Filter()
"""All ranks of all attempts."""


@dataclass
class _Source:
    """One stream of one rank in one attempt, read as far as it goes and continued later."""

    folder: str
    slot: int
    rank: int
    stream: str
    segment: int = -1
    offset: int = 0
    rest: bytes = b""
    rest_ns: int = 0
    _offsets: list[int] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)
    _idx_read: int = 0

    def read(self, *, last: bool) -> Iterator[Line]:
        """Whole lines since the last call; with `last` also the unfinished one."""
        while (segment := self._segment()) is not None:
            # Looked for before reading: once a later segment is there, this one never grows.
            later = [n for n in self._segments() if n > segment]
            yield from self._lines(segment)
            if not later:
                break
            if later[0] > segment + 1 and self.rest:
                yield self._line(self.rest)
                self.rest = b""
            if later[0] > segment + 1:
                yield self._gap(later[0] - segment - 1)
            self.segment, self.offset = later[0], 0
            self._offsets, self._times, self._idx_read = [], [], 0
        if last and self.rest:
            yield self._line(self.rest)
            self.rest = b""

    def _segment(self) -> int | None:
        if self.segment < 0:
            self.segment = min(self._segments(), default=-1)
        return self.segment if self.segment >= 0 else None

    def _segments(self) -> list[int]:
        found = [match for name in _names(self.folder) if (match := _FILE.fullmatch(name))]
        mine = [m for m in found if (int(m["rank"]), m["stream"]) == (self.rank, self.stream)]
        return sorted(int(m["segment"]) for m in mine)

    def _lines(self, segment: int) -> Iterator[Line]:
        path = os.path.join(self.folder, f"{self.rank}.{self.stream}.{segment}")
        with _reading(path), open_plain(path) as file:
            file.seek(self.offset)
            while chunk := file.read(_CHUNK):
                self._read_index(path + ".idx")
                at = self.offset
                self.offset += len(chunk)
                yield from self._cut(chunk, at)

    def _cut(self, chunk: bytes, at: int) -> Iterator[Line]:
        """Lines of a chunk that begins at byte `at` of its segment."""
        start = 0
        while start < len(chunk):
            end = chunk.find(b"\n", start)
            piece = chunk[start:] if end < 0 else chunk[start:end]
            if not self.rest:
                self.rest_ns = self._time(at + start)
            self.rest += piece
            start = len(chunk) if end < 0 else end + 1
            if end >= 0 or len(self.rest) >= LINE_MAX:
                yield self._line(self.rest)
                self.rest = b""

    def _read_index(self, path: str) -> None:
        """Take the new whole lines of the index."""
        try:
            with open_plain(path) as file:
                file.seek(self._idx_read)
                data = file.read()
        except OSError:
            return
        data = data[: data.rfind(b"\n") + 1]
        self._idx_read += len(data)
        for line in data.splitlines():
            words = line.split()
            if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
                self._offsets.append(int(words[0]))
                self._times.append(int(words[1]))

    def _time(self, offset: int) -> int:
        index = bisect_right(self._offsets, offset) - 1
        return self._times[max(index, 0)] if self._times else 0

    def _line(self, data: bytes) -> Line:
        text = data.rstrip(b"\r").decode("utf-8", "replace")
        return Line(self.rest_ns, self.slot, self.rank, self.stream, text)

    def _gap(self, segments: int) -> Line:
        text = f"[phalanx: {segments} log segments were not kept here: the log grew too long]"
        return Line(self.rest_ns, self.slot, self.rank, self.stream, text)


class LogReader:
    """All logs of a job; each `read` gives what is new since the one before."""

    def __init__(self, folder: str, only: Filter = EVERYTHING) -> None:
        self.folder = folder
        self.only = only
        self._sources: dict[tuple[str, int, str], _Source] = {}

    def read(self, *, last: bool = False) -> Iterator[Line]:
        """New lines of all ranks by time; with `last` also lines without an end."""
        self._discover()
        sources = [source for _, source in sorted(self._sources.items())]
        streams = [source.read(last=last) for source in sources]
        return merge(*streams, key=lambda line: (line.at_ns, line.rank, line.stream))

    def _discover(self) -> None:
        for name in _names(self.folder):
            match = _FOLDER.fullmatch(name)
            if match and self._wanted(int(match["slot"]), int(match["attempt"])):
                self._discover_files(os.path.join(self.folder, name), name, int(match["slot"]))

    def _wanted(self, slot: int, attempt: int) -> bool:
        return self.only.slot in (None, slot) and self.only.attempt in (None, attempt)

    def _discover_files(self, folder: str, name: str, slot: int) -> None:
        for file in _names(folder):
            match = _FILE.fullmatch(file)
            if match and self.only.rank in (None, int(match["rank"])):
                rank, stream = int(match["rank"]), match["stream"]
                source = _Source(folder, slot, rank, stream)
                self._sources.setdefault((name, rank, stream), source)


def line_view(line: Line) -> dict[str, Any]:
    """One line as `phalanx logs --json` prints it."""
    return {
        "at": maybe(line.at_ns),
        "slot": line.slot,
        "rank": line.rank,
        "stream": line.stream,
        "text": line.text,
    }


def tail(lines: Iterable[Line], count: int | None) -> Iterable[Line]:
    """The last `count` lines; all for None."""
    return lines if count is None else deque(lines, maxlen=count)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """A file that has gone holds nothing; one that is not ours to read is told."""
    try:
        yield
    except PermissionError as error:
        raise refusal(error, path) from error
    except OSError:
        return


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except PermissionError as error:
        raise refusal(error, folder) from error
    except OSError:
        return []
