"""Damaged files of every kind that a verb reads, given to that verb as a user would."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from phalanx.cli.main import INTERNAL, call
from tests.support.mutate import mutate, scramble

TESTS = Path(__file__).parents[1]
BLOCK = 100
"""Files that one seed stands for."""
HANG_S = 20
LOGS = (
    "NVRM: Xid (PCI:0000:53:00): 79, pid=1, GPU has fallen off the bus\n",
    "Out of memory: Killed process 42 (python) total-vm:1kB\n",
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n",
    "host:1:2 [0] NCCL WARN NET/OFI No eligible providers\nhost:1:2 Using network Socket\n",
)


def corpus() -> dict[str, list[Path]]:
    """Kind → whole files of that kind; a kind is a verb and the end of the name."""
    found: dict[str, list[Path]] = {}
    for verb, folder in (
        ("lint", TESTS / "cases" / "lint"),
        ("lint", TESTS / "clean"),
        ("lint", TESTS / "golden" / "spec"),
        ("explain", TESTS / "cases" / "explain"),
        ("plan", TESTS / "golden" / "plan" / "scenarios"),
    ):
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            kind = ".".join(path.name.split(".")[1:]) or path.name
            if path.name != "index.json" and path.suffix != ".py":
                found.setdefault(f"{verb} {kind}", []).append(path)
    return found


def fuzzed(seed: int, folder: Path) -> dict[str, dict[str, int]]:
    """`BLOCK` damaged files; raises at the first crash, hang or answer that is not one line."""
    folder.mkdir(parents=True)
    files, kinds = corpus(), Counter[str]()
    for number in range(BLOCK):
        rng = random.Random(seed + number)
        kind = rng.choice([*sorted(files), "explain log"])
        verb = kind.split()[0]
        kinds[kind] += 1
        path = folder / f"{number}-{rng.choice(files[kind]).name if kind in files else 'a.log'}"
        if rng.random() < 0.05:
            path.write_bytes(rng.randbytes(rng.randrange(400)))
        else:
            text = damaged(rng, files.get(kind))
            path.write_text(text, encoding="utf-8", errors="replace")
        check(verb, path)
    return {"counts": dict(kinds)}


def damaged(rng: random.Random, files: list[Path] | None) -> str:
    """One damaged text; JSON is damaged as a document or as a text."""
    text = rng.choice(files).read_text() if files else rng.choice(LOGS) * rng.randint(1, 3)
    if text.lstrip().startswith(("{", "[")) and rng.random() < 0.5:
        with contextlib.suppress(ValueError):
            return json.dumps(mutate(json.loads(text), rng, rng.randint(1, 4)))
    return scramble(text, rng)


def check(verb: str, path: Path) -> None:
    """The verb answers, or refuses with one line and exit code 2 or 3; in time, and never 70."""
    out, err = io.StringIO(), io.StringIO()
    with deadline(path), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = call([verb, str(path), "--json"])
    lines = err.getvalue().splitlines()
    assert code in (0, 1, 2, 3), (path, code, lines)
    assert code != INTERNAL
    assert "Traceback" not in out.getvalue() + err.getvalue(), (path, lines)
    if code >= 2 and verb != "lint":
        assert len(lines) == 1, (path, code, lines)
    if out.getvalue():
        answer = json.loads(out.getvalue())
        crashed = [f for f in answer.get("findings", ()) if f.get("rule") == "PHX001"]
        assert not crashed, (path, crashed)


@contextlib.contextmanager
def deadline(path: Path) -> Iterator[None]:
    """A hang is a failure, not a wait."""

    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"{path}: no answer within {HANG_S} s (process {os.getpid()})")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANG_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
