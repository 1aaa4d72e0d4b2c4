"""`python -m bench [part ...]`: recovery, overhead, imports, lint, saves; all without a name.

QUICK=1 takes minutes and leaves the committed results alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import imports, lint, overhead, recovery, report, saves
from bench.raw import say
from bench.stats import Row

PARTS: dict[str, Callable[[], tuple[list[Row], list[str]]]] = {
    "imports": imports.run,
    "lint": lint.run,
    "saves": saves.run,
    "overhead": overhead.run,
    "recovery": recovery.run,
}


def main(names: list[str]) -> int:
    """Run the parts, print and write what they found. Missed goals are no error."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        say(f"bench: no part {unknown[0]!r}; there are {', '.join(PARTS)}")
        return 2
    missed = 0
    for name in names or list(PARTS):
        say(f"bench: {name}")
        rows, notes = PARTS[name]()
        report.write({name: (rows, notes)})
        for row in rows:
            missed += row.met is False
            print(report.line(vars(row)), flush=True)
        for note in notes:
            print(note, flush=True)
    print(f"{missed} goals missed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
