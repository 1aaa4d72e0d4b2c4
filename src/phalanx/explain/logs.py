"""Plain logs of torch, NCCL and the kernel: what they show, and which of it came first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from phalanx.explain.model import ERROR, INFO, WARNING, Finding, found
from phalanx.explain.progress import (
    MAY_PASS,
    Block,
    Told,
    goes_on,
    is_logged,
    recovers,
    succeeds,
    torch_warns,
    was_survived,
)
from phalanx.explain.shown import Passed, Shown, remark, survived
from phalanx.explain.texts import (
    CAUSE,
    EXCEPTION,
    KILLED,
    LINES,
    NO_EFA,
    OFF_BUS,
    SIGNAL,
    TRACE,
    XID,
    XID_CONSEQUENCE,
    XID_HARDWARE,
    XID_NOTICE,
    XID_OTHER,
    XID_PROGRAM,
    Line,
)
from phalanx.torchrun import Summary
from phalanx.verdict.first_cause import tier_of
from phalanx.verdict.ranks import SECONDARY
from phalanx.verdict.xid import xid_kind, xid_means
from phalanx.words import FailureClass

_LINE_MAX = 2000
_SAID_MAX = 240
_RANK = re.compile(r"\[rank(\d{1,6})\]|\brank\s{0,12}[ =:]\s?(\d{1,6})\b", re.IGNORECASE)
_MAY_SHOW = re.compile(
    r"[eE]rror|ERROR|[eE]xception|Interrupt|[oO]ut of|[oO][oO][mM]|Xid|[mM]emory|[sS]pace|ENOSPC"
    r"|[qQ]uota|[dD]river|[iI]nitialized|NVIDIA|[uU]ncorrectable|fallen|[wW]atchdog|[tT]imed? ?out"
    r"|TIMEOUT|[cC]onnection|[pP]ipe|ncclRemote|remote process|aborted|waiting for|EADDRINUSE"
    r"|Traceback|local_rank|Root Cause|Failures:|GPU is lost"
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
_XID_FAILURES = {
    "program": FailureClass.NON_ZERO_EXIT,
    "hardware": FailureClass.GPU_FAULT,
    "unknown": FailureClass.GPU_FAULT,
}
"""By the first suspect; the other kinds end nothing."""
_CUDA_ERROR = "cuda-error"
_TELLING_XIDS = (XID_PROGRAM.slug, XID_HARDWARE.slug)
"""What tells whether the program or the device is behind an error of CUDA."""
_OFF_BUS_XID = 79
_OF_THE_HOST = ("kernel-oom-kill", "gpu-memory-error")
"""Slugs of what no program survives by itself: the kernel and the device say it."""
_BAD_EXIT = re.compile(
    r"ChildFailedError|exit ?code\s{0,12}[:=]?\s{0,4}-?[1-9]|\bexit(?:ed|ing)? (?:with )?-?[1-9]",
    re.IGNORECASE,
)
_HARMLESS_EXCEPTIONS = ("ChildFailedError", "KeyboardInterrupt")


def shown_in(file: str, text: str) -> list[Shown]:
    """The lines that show something; each kind of line once, at its first place.

    What the same rank goes on after is shown as a remark, and is no failure.
    """
    reading, log = Reading(file, text), Passed()
    before = ""
    for number, line in enumerate(text.splitlines(), start=1):
        line = line[:_LINE_MAX]
        shown = None
        if _MAY_SHOW.search(line):
            shown = reading.take(number, line, before)
        if shown is not None:
            log.add(shown)
        elif log.is_waiting and MAY_PASS.search(line):
            _pass(log, line)
        before = line
    found = log.settled(bool(_BAD_EXIT.search(text)))
    told: dict[tuple[str, str], Shown] = {}
    for shown in [*found, *over_sockets(file, text)]:
        told.setdefault(shown.key, reading.with_root(shown))
    return list(told.values())


def shown_in_words(said: str) -> list[Shown]:
    """What a sentence about something that happened shows; an exception in it was an end."""
    reading = Reading("", said, is_sentence=True)
    lines = enumerate(said.splitlines(), start=1)
    taken = [reading.take(number, line[:_LINE_MAX], "") for number, line in lines]
    return [shown for shown in taken if shown is not None]


def _pass(log: Passed, line: str) -> None:
    """Settle what waits for a sign that its rank goes on."""
    if succeeds(line):
        log.go_on(rank_in(line), is_sure=True, whole=True)
    elif recovers(line):
        log.go_on(rank_in(line), is_sure=True)
    elif goes_on(line):
        log.go_on(rank_in(line))


class Reading:
    """What single lines show, given the lines before them."""

    def __init__(self, file: str, text: str, is_sentence: bool = False) -> None:
        """Before the first line of `text`."""
        self._file = file
        self._is_sentence = is_sentence
        self._block = Block()
        self._summary = Summary(text)

    def take(self, number: int, line: str, before: str) -> Shown | None:
        """What a line shows; `before` is the line before it."""
        self._block.see(line, before)
        self._summary.see(line)
        xid = XID.search(line)
        if xid:
            return _xid(self._file, number, xid.start() + 1, int(xid["number"]), line)
        off = OFF_BUS.search(line)
        if off:
            return _xid(self._file, number, off.start() + 1, _OFF_BUS_XID, line)
        if _REMARK.match(line) and not _REPORT.search(line):
            return None
        shown = self._of_kinds(number, line) or self._of_signal(number, line)
        return shown or self._of_exception(number, line)

    def with_root(self, shown: Shown) -> Shown:
        """The same, of the rank that torchrun names as the first, when it names none itself."""
        told = shown.failure is not None and shown.failure not in SECONDARY
        if told and shown.can_pass and not shown.rank:
            return replace(shown, rank=self._summary.root)
        return shown

    def _of_kinds(self, number: int, line: str) -> Shown | None:
        for kind in LINES:
            match = kind.pattern.search(line)
            if match:
                return self._of_kind(number, line, kind, match.start())
        return None

    def _of_kind(self, number: int, line: str, kind: Line, at: int) -> Shown:
        named = EXCEPTION.search(line)
        told = self._told(line, min(at, named.start("name")) if named else at)
        shown = Shown(
            self._file,
            number,
            at + 1,
            kind.words,
            kind.failure,
            _cut(line),
            rank_in(line),
            kind.words.slug not in _OF_THE_HOST,
            told.ends and not told.logged,
        )
        if kind.failure in SECONDARY and torch_warns(line):
            return remark(shown, ", which torch itself calls a warning")
        over = was_survived(line) and not told.ends
        return survived(shown) if shown.can_pass and over else shown

    def _of_signal(self, number: int, line: str) -> Shown | None:
        signal = SIGNAL.search(line)
        if signal is None or self._summary.is_sibling(line):
            return None
        at, failure = signal.start() + 1, FailureClass.KILLED
        rank = self._summary.rank_of(line) or rank_in(line)
        return Shown(self._file, number, at, KILLED, failure, _cut(line), rank)

    def _of_exception(self, number: int, line: str) -> Shown | None:
        named = EXCEPTION.search(line)
        if named is None:
            return None
        at = named.start("name")
        told = self._told(line, at)
        if named["name"].endswith(_HARMLESS_EXCEPTIONS):
            return None
        shown = Shown(
            self._file,
            number,
            at + 1,
            TRACE,
            FailureClass.NON_ZERO_EXIT,
            _cut(line),
            rank_in(line),
            True,
            told.ends and not told.logged,
        )
        return shown if told.ends else survived(shown)

    def _told(self, line: str, at: int) -> Told:
        told = self._block.told(line, at)
        if self._is_sentence:
            return Told(not is_logged(line, at) and not was_survived(line), False)
        return told


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


def _xid(file: str, number: int, column: int, code: int, line: str) -> Shown:
    kind = xid_kind(code)
    words, means = _XIDS[kind], xid_means(code)
    message = f"{words.message}: Xid {code}{f', {means}' if means else ''}"
    words = replace(words, message=message)
    return Shown(file, number, column, words, _XID_FAILURES.get(kind), _cut(line))


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
            message=f"first cause: {first.failure.value}{_rank(first)}: {first.said}",
        )


def first_shown(shown: list[Shown]) -> Shown | None:
    """The line that names the first cause; None when no line names a failure."""
    failed = [item for item in shown if item.failure is not None]
    if not failed:
        return None
    first = min(enumerate(failed), key=lambda pair: (_tier(pair[1]), pair[0]))[1]
    if first.words.slug == _CUDA_ERROR:
        return next((item for item in failed if item.words.slug in _TELLING_XIDS), first)
    return first


def _tier(item: Shown) -> tuple[int, int]:
    failure = item.failure or FailureClass.UNKNOWN
    weak = item.words is TRACE or item.words.severity != ERROR
    return tier_of(failure, item.said), int(weak)


def _rank(shown: Shown) -> str:
    rank = shown.rank or rank_in(shown.said)
    return f" of rank {rank}" if rank else ""


def rank_in(line: str) -> str:
    """The rank that a line names; empty when it names none."""
    match = _RANK.search(line)
    return match[1] or match[2] if match else ""


def _cut(line: str) -> str:
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]+", " ", line).split())
    return line if len(line) <= _SAID_MAX else line[: _SAID_MAX - 1] + "…"
