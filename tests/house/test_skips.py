"""In CI a test that does not run must be one that is known not to run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

_TEST = """
import pytest

def test_runs():
    pass

@pytest.mark.skip(reason="no GPU")
def test_skips():
    pass
"""


def run_pytest(folder: Path, allowed: str, ci: str) -> subprocess.CompletedProcess[str]:
    """Run a small suite with one skip under the project's own conftest."""
    tests = folder / "tests"
    tests.mkdir()
    (tests / "__init__.py").touch()
    (tests / "test_small.py").write_text(_TEST)
    (tests / "allowed_skips.txt").write_text(allowed)
    shutil.copy(ROOT / "tests" / "conftest.py", tests)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\ntestpaths = ['tests']\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "CI"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**env, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unexpected_skip_fails_in_ci(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "# nothing\n", "1")
    assert done.returncode == 1
    assert "not allowed to skip: tests/test_small.py::test_skips (no GPU)" in done.stdout


@pytest.mark.parametrize(
    ("allowed", "ci"), [("tests/test_small.py::test_skips  # no GPU there\n", "1"), ("", "")]
)
def test_a_known_skip_or_one_at_home_is_fine(tmp_path: Path, allowed: str, ci: str) -> None:
    done = run_pytest(tmp_path, allowed, ci)
    assert done.returncode == 0, done.stdout
