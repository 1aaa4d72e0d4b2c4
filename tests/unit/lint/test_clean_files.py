"""Files in public styles that are right: nothing at warning or above.

Those that begin with `s_` were written without a look at the rules.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.lint.collect import collect
from phalanx.lint.engine import lint
from phalanx.lint.rule import Severity

CLEAN = Path(__file__).parents[2] / "clean"
WORLDS = sorted(p for p in CLEAN.iterdir() if not p.name.startswith((".", "_")))


@pytest.mark.parametrize("path", WORLDS, ids=lambda p: p.name)
def test_a_clean_file_stays_clean(path: Path) -> None:
    report = lint(collect([str(path)]))
    loud = [f for f in report.findings if f.severity.rank <= Severity.WARNING.rank]
    assert [(f.severity.value, f.slug, f.where, f.message) for f in loud] == []
    assert report.files > 0


def test_there_are_enough() -> None:
    assert len(WORLDS) >= 30
    assert sum(path.name.startswith("s_") for path in WORLDS) >= 10
