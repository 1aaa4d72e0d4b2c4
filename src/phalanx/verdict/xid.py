"""NVIDIA Xid numbers that tell the program from the hardware."""

from __future__ import annotations

PROGRAM = {
    13: "a graphics engine exception, mostly a bad memory access of the program",
    31: "a page fault of the GPU's memory unit, mostly a bad address in the program",
    43: "the program's channel was reset after an error of the program",
    68: "a video decoder exception",
    69: "a graphics engine class error",
}
"""Xids whose first suspect is the program."""

CONSEQUENCE = {
    45: "a clean-up after an earlier error or a kill, not a cause",
}
"""Xids that follow from something else."""

NOTICE = {
    63: "a memory row was marked for remapping; the remap takes effect at the next GPU reset",
    154: "the driver says what the GPU needs to recover (a reset, a reboot, or nothing)",
}
"""Xids that end no process by themselves."""

HARDWARE = {
    46: "the GPU stopped processing",
    48: "an uncorrectable (double-bit) memory error",
    61: "an error of the GPU's microcontroller",
    62: "an error of the GPU's microcontroller",
    64: "a memory row could not be remapped",
    74: "an NVLink error",
    79: "the GPU has fallen off the bus",
    92: "a high rate of corrected memory errors",
    94: "a contained uncorrectable memory error",
    95: "an uncontained uncorrectable memory error",
    119: "the GPU's system processor (GSP) did not answer",
    120: "an error of the GPU's system processor (GSP)",
    140: "an unrecovered memory error",
    149: "an NVLink error",
}
"""Xids that want another host."""


def xid_kind(number: int) -> str:
    """`program`, `consequence`, `notice`, `hardware` or `unknown`."""
    for kind, table in _TABLES:
        if number in table:
            return kind
    return "unknown"


def xid_means(number: int) -> str:
    """What the number stands for, in words; empty when it is not in the tables."""
    return next((table[number] for _, table in _TABLES if number in table), "")


_TABLES = (
    ("program", PROGRAM),
    ("consequence", CONSEQUENCE),
    ("notice", NOTICE),
    ("hardware", HARDWARE),
)
