"""The environment that Ray runs in: its own, made when it is first needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.place import REPOSITORY
from bench.raw import say

WANTED = (("torch==2.13.0", "numpy"), ("ray[train]==2.58.0",))
"""torch first and by itself: otherwise a resolver may choose another build of it."""


def ray_python() -> tuple[str | None, str]:
    """(its Python, ""), or (None, why there is none)."""
    given = os.environ.get("PHALANX_BENCH_VENV")
    if given == "none":
        return None, "PHALANX_BENCH_VENV=none"
    folder = Path(given) if given else REPOSITORY / ".bench-venv"
    python = folder / "bin" / "python"
    problem = _check(python)
    if problem is None:
        return str(python), ""
    say(f"making {folder} for Ray (once; torch and Ray are large)")
    problem = _make(folder, python) or _check(python)
    return (str(python), "") if problem is None else (None, problem.replace(str(folder), "venv"))


def _check(python: Path) -> str | None:
    if not python.exists():
        return f"{python} does not exist"
    words = [str(python), "-c", "import torch, ray.train.torch; assert ray.__version__ == '2.58.0'"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else _last_line(done.stderr)


def _make(folder: Path, python: Path) -> str | None:
    steps = [[sys.executable, "-m", "venv", str(folder)]]
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps += [[*pip, *names] for names in WANTED]
    for words in steps:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{' '.join(words[1:])}: {_last_line(done.stderr)}"
    return None


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
