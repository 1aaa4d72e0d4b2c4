"""Plain logs of torch, NCCL and the kernel: what they show, and which of it came first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from phalanx.explain.model import ERROR, INFO, WARNING, Finding, Words, found
from phalanx.explain.texts import (
    CAUSE,
    EXCEPTION,
    KILLED,
    LINES,
    NO_EFA,
    SIGNAL,
    TRACE,
    XID,
    XID_CONSEQUENCE,
    XID_HARDWARE,
    XID_NOTICE,
    XID_OTHER,
    XID_PROGRAM,
)
from phalanx.verdict.first_cause import tier_of
from phalanx.verdict.ranks import SECONDARY
from phalanx.verdict.xid import xid_kind, xid_means
from phalanx.words import FailureClass

_LINE_MAX = 2000
_SAID_MAX = 240
_RANK = re.compile(r"\[rank(\d{1,6})\]|\brank[ =:](\d{1,6})\b", re.IGNORECASE)
_MAY_SHOW = re.compile(
    r"[eE]rror|ERROR|[eE]xception|Interrupt|[oO]ut of|[oO][oO][mM]|Xid|[mM]emory|[sS]pace|ENOSPC"
    r"|[qQ]uota|[dD]river|[iI]nitialized|NVIDIA|[uU]ncorrectable|fallen|[wW]atchdog|[tT]imed? ?out"
    r"|TIMEOUT|[cC]onnection|[pP]ipe|ncclRemote|remote process|aborted|waiting for|EADDRINUSE"
    r"|[aA]ddress|OFI|plugin|[sS]ignal|exitcode|[uU]nsatisfied|device-side|CUDA|[kK]illed"
)
"""Cheap test: a line without any of these words shows nothing."""
_REMARK = re.compile(
    r"^[^A-Za-z]{0,40}(?:T[\d:.,+]+Z?\W{0,8})?(?:[\w.]{1,80} - )?\[?(?:INFO|DEBUG)\b"
)
"""A line that its program itself calls no error."""
_REPORT = re.compile(r"(?:Error|Exception): |Killed process|oom-kill|\bNVRM:|Signal \d|exitcode")
"""What is an error also on a line that calls itself information: a shipper named it so."""
_SOCKET = re.compile(r"^.*\bNCCL INFO Using network Socket\b.*$", re.MULTILINE)
_NO_PLUGIN = re.compile(r"Could not find: ?libnccl-net|No plugin found|libnccl-net\S* not found")
_EFA = re.compile(r"NET/OFI|aws-ofi-nccl|libfabric|FI_PROVIDER\W{1,4}\w*efa|\bEFA\b|\befa-direct\b")
_PLAIN = replace(
    NO_EFA,
    severity=INFO,
    message="NCCL found no network plugin and goes over sockets",
    fix=f"Nothing, on hosts without EFA. On hosts with it: {NO_EFA.fix}",
)
_XIDS = {
    "program": XID_PROGRAM,
    "hardware": XID_HARDWARE,
    "consequence": XID_CONSEQUENCE,
    "notice": XID_NOTICE,
    "unknown": XID_OTHER,
}
_HARMLESS_EXCEPTIONS = ("ChildFailedError", "KeyboardInterrupt")


@dataclass(frozen=True)
class Shown:
    """One line that shows something."""

    file: str
    line: int
    column: int
    words: Words
    failure: FailureClass | None
    said: str


def shown_in(file: str, text: str) -> list[Shown]:
    """The lines that show something; each kind of line once, at its first place."""
    told: dict[tuple[str, str], Shown] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not _MAY_SHOW.search(line, 0, _LINE_MAX):
            continue
        for shown in _of_line(file, number, line[:_LINE_MAX]):
            told.setdefault((shown.words.slug, shown.words.message), shown)
    for shown in over_sockets(file, text):
        told.setdefault((shown.words.slug, shown.words.message), shown)
    return list(told.values())


def _of_line(file: str, number: int, line: str) -> Iterable[Shown]:
    xid = XID.search(line)
    if xid:
        yield _xid(file, number, xid, line)
        return
    if _REMARK.match(line) and not _REPORT.search(line):
        return
    for kind in LINES:
        match = kind.pattern.search(line)
        if match:
            at = match.start() + 1
            yield Shown(file, number, at, kind.words, kind.failure, _cut(line))
            return
    signal = SIGNAL.search(line)
    if signal:
        yield Shown(file, number, signal.start() + 1, KILLED, FailureClass.KILLED, _cut(line))
        return
    named = EXCEPTION.search(line)
    if named and not named["name"].endswith(_HARMLESS_EXCEPTIONS):
        at = named.start("name") + 1
        yield Shown(file, number, at, TRACE, FailureClass.NON_ZERO_EXIT, _cut(line))


def over_sockets(file: str, text: str) -> Iterable[Shown]:
    """The line where NCCL settled for TCP after it had looked for, or was to have, better."""
    chosen = _SOCKET.search(text)
    if chosen is None:
        return
    before = text[: chosen.start()]
    wished = _EFA.search(before)
    if wished is None and not _NO_PLUGIN.search(before):
        return
    if any(kind.words.slug == NO_EFA.slug and kind.pattern.search(before) for kind in LINES):
        return  # that line tells why, and is told
    words = NO_EFA if wished else _PLAIN
    number = len(before.splitlines()) + 1
    yield Shown(file, number, 1, words, None, _cut(chosen[0]))


def _xid(file: str, number: int, match: re.Match[str], line: str) -> Shown:
    code = int(match["number"])
    words = _XIDS[xid_kind(code)]
    means = xid_means(code)
    message = f"{words.message}: Xid {code}{f', {means}' if means else ''}"
    failure = None if words in (XID_CONSEQUENCE, XID_NOTICE) else FailureClass.GPU_FAULT
    return Shown(
        file, number, match.start() + 1, replace(words, message=message), failure, _cut(line)
    )


def of_logs(shown: list[Shown]) -> Iterable[Finding]:
    """Findings of all logs together: causes keep their severity, consequences lose theirs."""
    first = first_shown(shown)
    for item in shown:
        severity = item.words.severity
        follows = item.failure in SECONDARY or item.words is TRACE
        if first is not None and item is not first and follows and severity != INFO:
            severity = INFO if item.failure in SECONDARY else WARNING
        yield found(
            item.words,
            item.file,
            f"line {item.line}",
            line=item.line,
            column=item.column,
            severity=severity,
            message=f"{item.words.message}: {item.said}",
        )
    if first is not None and first.failure is not None:
        yield found(
            CAUSE,
            first.file,
            f"line {first.line}",
            line=first.line,
            column=first.column,
            message=f"first cause: {first.failure.value}{_rank(first.said)}: {first.said}",
        )


def first_shown(shown: list[Shown]) -> Shown | None:
    """The line that names the first cause; None when no line names a failure."""
    failed = [item for item in shown if item.failure is not None]
    if not failed:
        return None
    return min(enumerate(failed), key=lambda pair: (_tier(pair[1]), pair[0]))[1]


def _tier(item: Shown) -> tuple[int, int]:
    failure = item.failure or FailureClass.UNKNOWN
    weak = item.words is TRACE or item.words.severity != ERROR
    return tier_of(failure, item.said), int(weak)


def _rank(said: str) -> str:
    match = _RANK.search(said)
    return f" of rank {match[1] or match[2]}" if match else ""


def _cut(line: str) -> str:
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]+", " ", line).split())
    return line if len(line) <= _SAID_MAX else line[: _SAID_MAX - 1] + "…"
