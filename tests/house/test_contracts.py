"""Import contracts hold, cover every room, and notice when somebody breaks them."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, PURE_ROOMS, ROOT, rooms

TOP_MODULES = {"names", "clock", "errors", "words"}


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package below `folder`."""
    tool = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [str(tool), "--no-cache", "--no-logo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package and its contracts, to break."""
    shutil.copytree(
        PACKAGE, tmp_path / "src" / "phalanx", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def contract(name: str) -> dict[str, str]:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return dict(parser[f"importlinter:contract:{name}"])


def rooms_in(text: str) -> set[str]:
    return set(re.findall(r"phalanx\.([a-z]+)", text))


def test_the_contracts_hold(copy: Path) -> None:
    done = check_imports(copy)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("where", "line", "says"),
    [
        ("reconcile/reconcile.py", "import subprocess", "phalanx.reconcile is not allowed"),
        ("state/codec.py", "import time", "phalanx.state is not allowed to import time"),
        ("state/codec.py", "import phalanx.controller.loop", "phalanx.state is not allowed"),
        ("backends/local/render.py", "import os", "is not allowed to import os"),
        ("agent/__init__.py", "import pydantic", "phalanx.agent is not allowed"),
        ("checkpoint/__init__.py", "import phalanx.agent", "phalanx.checkpoint is not allowed"),
    ],
)
def test_a_planted_violation_is_caught(copy: Path, where: str, line: str, says: str) -> None:
    path = copy / "src" / "phalanx" / where
    path.write_text(path.read_text() + f"\n{line}\n")
    done = check_imports(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert says in " ".join(done.stdout.split())


def test_every_room_has_its_place_in_the_order() -> None:
    assert rooms() | TOP_MODULES <= rooms_in(contract("layers")["layers"])


def test_every_pure_room_is_named_by_the_rule_for_pure_rooms() -> None:
    assert rooms_in(contract("pure")["source_modules"]) - {"backends"} == PURE_ROOMS
