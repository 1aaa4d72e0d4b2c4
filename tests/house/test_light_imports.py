"""What starts often starts fast: heavy modules stay off the paths of the agent and the verbs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.made_root import MadeRoot, ended_job

HEAVY = frozenset({"pydantic", "rich", "asyncio", "urllib", "boto3", "torch", "numpy", "yaml"})
HEAVY_FOR_AGENTS = HEAVY | {"logging", "click", "email", "http"}
READING_VERBS = ("status", "why", "ledger", "metrics", "checkpoints", "logs", "wait")

_CALL = """
import sys
sys.argv = ["phalanx", *sys.argv[1:]]
from phalanx.cli.main import main
try:
    main()
except SystemExit as left:
    code = left.code
import json
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
_IMPORT = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps([0, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded_by(program: str, *args: str) -> tuple[int, set[str]]:
    """Exit code, and the top-level modules in memory after a program has run."""
    done = subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, {name.split(".")[0] for name in names}


@pytest.mark.parametrize(
    "module",
    ["phalanx.agent", "phalanx.agent.__main__", "phalanx.store.files", "phalanx.state.codec"],
)
def test_what_ships_in_images_is_light(module: str) -> None:
    _, loaded = loaded_by(_IMPORT, module)
    assert "phalanx" in loaded
    assert loaded & HEAVY_FOR_AGENTS == set()


@pytest.mark.parametrize("module", ["phalanx", "phalanx.train"])
def test_what_scripts_import_is_light(module: str) -> None:
    _, loaded = loaded_by(_IMPORT, module)
    assert loaded & (HEAVY - {"numpy"}) == set()


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("status", "--help")])
def test_asking_for_help_is_light(words: tuple[str, ...]) -> None:
    code, loaded = loaded_by(_CALL, *words)
    assert code == 0
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("verb", READING_VERBS)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_reading_a_job_is_light(tmp_path: Path, verb: str, form: tuple[str, ...]) -> None:
    ended_job(MadeRoot(tmp_path))
    code, loaded = loaded_by(_CALL, verb, "gpt-1", "--root", str(tmp_path), *form)
    assert code == 0
    assert loaded & HEAVY == set()


def test_listing_jobs_is_light(tmp_path: Path) -> None:
    ended_job(MadeRoot(tmp_path))
    code, loaded = loaded_by(_CALL, "ps", "--root", str(tmp_path))
    assert code == 0
    assert loaded & HEAVY == set()


def test_a_heavy_module_would_be_seen() -> None:
    _, loaded = loaded_by(_IMPORT, "asyncio")
    assert "asyncio" in loaded
