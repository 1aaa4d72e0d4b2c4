"""Modules under `warm`: what cannot be imported is told to people, and the ranks run without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MADE = {
    "halves.py": "import nowhere_at_all\n",
    "raises.py": "raise ValueError('two\\nlines')\n",
    "leaves.py": "raise SystemExit(3)\n",
    "fine.py": "print('fine was imported')\n",
}
ASK = """
import json, sys
from phalanx.agent import warm
warm.PRELOAD = ()
sys.path.insert(0, sys.argv[1])
print(json.dumps(warm.preload(sys.argv[2:])))
"""
RUN = """
import json, os, sys
from phalanx.agent.rank_main import run_script
run_script({**json.loads(sys.argv[1]), "env": dict(os.environ), "fds": [os.dup(1), os.dup(2)]})
"""


def python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)


def test_every_module_that_cannot_be_imported_has_a_sentence(tmp_path: Path) -> None:
    for name, text in MADE.items():
        (tmp_path / name).write_text(text)
    done = python(ASK, str(tmp_path), "nomodule", "halves", "raises", "leaves", "fine")
    imported, told = done.stdout.splitlines()
    assert imported == "fine was imported"
    assert json.loads(told) == [
        "warm: nomodule cannot be imported: No module named 'nomodule'",
        "warm: halves cannot be imported: No module named 'nowhere_at_all'",
        "warm: raises cannot be imported: ValueError: two lines",
        "warm: leaves cannot be imported: SystemExit: 3",
    ]


@pytest.mark.parametrize("notes", [[], ["warm: a cannot be imported: No module named 'a'"]])
def test_a_rank_prints_what_is_to_be_told_and_runs(tmp_path: Path, notes: list[str]) -> None:
    (tmp_path / "train.py").write_text("import sys\nprint('trains')\nsys.exit(5)\n")
    request = {"argv": ["python", "train.py"], "cwd": str(tmp_path), "notes": notes}
    done = python(RUN, json.dumps(request))
    assert done.stdout.splitlines() == [*(f"phalanx: {text}" for text in notes), "trains"]
    # The last lines of standard error are taken for why a rank failed.
    assert (done.returncode, done.stderr) == (5, "")
