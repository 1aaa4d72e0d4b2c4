"""Whether a line of a log tells of an end, of something that was survived, or of going on.

A program writes exceptions that it survives: it retries, skips, logs a trace and continues. Only an
exception that stands alone on its line ends a program, and not even that when the same rank goes
on afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIECE = re.compile(
    r"\s+"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d(?:[T_ ]\d\d:\d\d(?::\d\d)?)?[\d.,]*(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"|\[?\d\d:\d\d:\d\d[\d.,]*Z?\]?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]{1,64}(?= ))?"
    r"|\[\s{0,12}\d{1,12}(?:\.\d{1,9})?\]:?"
    r"|\[(?:default|trainer|worker|rank)?[ _-]?\d{1,6}\]:?"
    r"|\brank[ =:]?\d{1,6}\b"
    r"|(?:stdout|stderr)\b(?: [FP]\b)?"
    r"|\([\w.-]{1,64}(?: rank=\d{1,6},?)? pid=\d{1,9}(?:, ip=[\d.:]{1,40})?\)"
    r"|[\w./-]{1,128}\[\d{1,9}\]:"
    r"|[\w./-]{1,128} {0,32}\|"
    r"|[|>:-]",
    re.IGNORECASE,
)
"""What log drivers and launchers write before a line: moments, ranks, names of processes."""
_PIECES_MAX = 12
_LEVEL = re.compile(
    r"\b(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b"
    r"|\"(?:level|levelname|severity)\"|\blevel=|(?:^|[\[\s:])[IWEF]\d{4} \d\d:\d\d:"
)
_UNCAUGHT = re.compile(
    r"\b(?:uncaught|unhandled)\b[\w ]{0,40}:?\s*$|terminated (?:with|by) .{0,40}$", re.IGNORECASE
)
_SURVIVED = re.compile(
    r"\bretry(?:ing)?\b|\bretries left\b|\bre-?connect(?:ing|ed)\b|\bskip(?:ping|ped)\b"
    r"|\bcaught\b|\bignor(?:ing|ed)\b|\bhandled\b|\bfall(?:ing)? back\b|\brecovered\b"
    r"|\bcontinu(?:e|ing)\b|\btrying (?:again|another|next)\b|\bbacking off\b"
    r"|\battempt \d{1,4}\s?(?:/|of)\s?\d",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"\bgiv(?:e|ing|en) up\b|\bno (?:more )?retries\b|\b(?:uncaught|unhandled|watchdog caught)\b"
    r"|\b(?:can ?not|can't|not|unable to|after|without) (?:continue|retry(?:ing)?|recover\w*)\b"
    r"|\bretries (?:failed|exhausted|exceeded)\b|\bexhausted\b",
    re.IGNORECASE,
)
MAY_PASS = re.compile(
    r"[sS]tep|STEP|[eE]poch|EPOCH|[iI]ter|ITER|[bB]atch|BATCH|%\||[rR]ecovered|[cC]ontinuing|[rR]etry"
    r"|[cC]omplete|COMPLETE|[fF]inish|FINISH|[dD]one|DONE|[sS]ucce|SUCCE|[eE]xit|EXIT|[cC]leanly"
    r"|[nN]ormally|reached"
)
"""Cheap test: a line without any of these words tells of no going on and of no success."""
_RECOVERED = re.compile(
    r"\b(?:recovered|continuing|retry succeeded|succeeded (?:on|after) (?:re)?try)\b", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"\b(?:global[_ ]?)?(?:step|epoch|iter|iteration|batch)s?[ =:#\[\"]{1,3}\d|\d{1,3}%\|",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"\b(?:train\w*|fit|job|run|finetuning|fine-tuning|experiment|script|main|all epochs)\b"
    r"(?: (?:is|has|was|been|run|job|loop)){0,3} "
    r"(?:completed?|finished|done|succeeded|ended successfully)\b"
    r"|\b(?:finished|completed|exited|exiting) (?:successfully|cleanly|normally)\b"
    r"|\bexit(?:ing|ed)?(?: with)?(?: (?:code|status))?[ =:]{1,3}0\b"
    r"|\bsuccessfully (?:finished|completed|trained)\b|\bmax_(?:steps|epochs)\S{0,12} reached\b"
    r"|^(?:\W{0,8}(?:INFO|DEBUG)\b)?\W{0,8}(?:all )?(?:done|finished|success|completed)\W{0,4}$",
    re.IGNORECASE,
)
_BAD_END = (
    r"|exit(?:ing|ed)?(?: with)?(?: (?:code|status))?[ =:]{1,3}-?[1-9]"
    r"|\bnot (?:complete|finish|done|continu|recover)|\bincomplete\b|\bunfinished\b"
)
_BAD = re.compile(
    r"\berrors?\b|\bexceptions?\b|\bfail(?:ed|ure|ures|ing|s)?\b|\btraceback\b|\babort|\bkilled\b"
    r"|\bcrash|\bemergency\b|(?-i:[a-z](?:Error|Exception)\b)" + _BAD_END,
    re.IGNORECASE,
)
_LAST_ACTS = re.compile(
    r"\bshutting down\b|\bsav(?:e|ed|ing)\b|\bcheckpoint|\blast (?:step|epoch)\b"
    r"|^\W{0,4}wandb:|^\s*File \"",
    re.IGNORECASE,
)
"""What a program also writes on its way out, with a step's number in it."""
_TORCH_WARNS = re.compile(r"(?:^|[\[\s:])W\d{4} \d\d:\d\d:\d\d")
_HEAD = re.compile(r"Traceback \(most recent call last\)")
_IGNORED_HEAD = re.compile(r"^.{0,200}\bException ignored in\b")


def start_of(line: str) -> int:
    """Where the program's own words begin, after what log drivers and launchers put before."""
    at = 0
    for _ in range(_PIECES_MAX):
        match = _PIECE.match(line, at)
        if match is None or match.end() == at:
            break
        at = match.end()
    return at


def is_bare(line: str, at: int) -> bool:
    """Whether the exception that is named at `at` stands alone, or is said to be uncaught."""
    return start_of(line) >= at or bool(_UNCAUGHT.search(line[:at]))


def is_logged(line: str, at: int) -> bool:
    """Whether a logger wrote the line: its level stands before `at`."""
    return bool(_LEVEL.search(line[:at]))


def was_survived(line: str) -> bool:
    """Whether the line says itself that the program goes on."""
    return bool(_SURVIVED.search(line)) and not _GIVEN_UP.search(line)


def torch_warns(line: str) -> bool:
    """Whether torch itself calls the line a warning, as at every teardown of its store."""
    return bool(_TORCH_WARNS.search(line[:200]))


def recovers(line: str) -> bool:
    """Whether the line says that what went wrong is over."""
    return bool(_RECOVERED.search(line)) and not _GIVEN_UP.search(line)


def goes_on(line: str) -> bool:
    """Whether whoever wrote the line is still at work."""
    if not _GOES_ON.search(line):
        return False
    return not _BAD.search(line) and not _LAST_ACTS.search(line)


def succeeds(line: str) -> bool:
    """Whether the line says that the whole program came to its right end."""
    return bool(_SUCCESS.search(line[start_of(line) :])) and not _BAD.search(line)


@dataclass(frozen=True)
class Told:
    """How an exception was told."""

    ends: bool
    """It stands alone or in a trace of its own, and Python did not ignore it."""
    logged: bool
    """A logger wrote it, or the trace that it closes."""


class Block:
    """The trace that lines belong to, as far as it tells whether its exception ends anything."""

    def __init__(self) -> None:
        """Outside of any trace."""
        self._ignored = self._logged = False
        self._lead = ""

    def see(self, line: str, before: str) -> None:
        """Take note of the head of a trace, or of one that Python ignores by itself.

        `before` is the line before it: a logger that writes a trace says something first.
        """
        head = _HEAD.search(line)
        if head:
            at = head.start()
            self._lead = _without_digits(line[:at])
            same = _without_digits(before[:at]) == self._lead
            self._logged = bool(_LEVEL.search(before[at:] if same else before))
        elif _IGNORED_HEAD.match(line):
            self._ignored = True

    def told(self, line: str, at: int) -> Told:
        """How the exception at `at` was told; closes the trace."""
        ignored, lead, logged = self._ignored, self._lead, self._logged
        self._ignored = self._logged = False
        self._lead = ""
        shipped = bool(lead) and _without_digits(line[:at]) == lead
        ends = not ignored and (shipped or is_bare(line, at))
        return Told(ends, logged or (not shipped and is_logged(line, at)))


def _without_digits(lead: str) -> str:
    return re.sub(r"\d+", "0", lead)
