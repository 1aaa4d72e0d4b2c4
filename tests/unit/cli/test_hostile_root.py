"""A root that somebody else has filled: one line at most, no crash, nothing read from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from phalanx.cli.main import call
from phalanx.names import Keys, checkpoint_name
from phalanx.store.files import LARGEST_OBJECT
from tests.support.made_root import MadeRoot, ended_job

KEYS = Keys("gpt-1")
STAMP = b'{"writer":"evil","n":1}\n'
DEEP = STAMP + b"[" * 200_000
WRONG = STAMP + b'{"slot": [], "incarnation": "x", "attempt": {}, "outcome": "succeeded"}'
NAME = checkpoint_name(200, 1)
VERBS = (
    ("status", "gpt-1"),
    ("why", "gpt-1"),
    ("logs", "gpt-1"),
    ("ledger", "gpt-1"),
    ("checkpoints", "gpt-1"),
    ("ps",),
)
OUTSIDE = b"outside-of-the-root"


def newest(folder: Path) -> Path:
    return max(folder.iterdir())


def _replace(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


def _link(path: Path, root: Path) -> None:
    (root.parent / "outside").write_bytes(STAMP + OUTSIDE)
    path.unlink()
    path.symlink_to(root.parent / "outside")


def _huge(path: Path) -> None:
    path.unlink()
    with path.open("wb") as file:
        file.truncate(LARGEST_OBJECT + 1)


def _manifest(root: Path) -> None:
    path = root / KEYS.manifest(NAME)
    stamp, _, body = path.read_bytes().partition(b"\n")
    words = json.loads(body)
    shard = {"name": "../../../../outside", "bytes": 3, "sha256": "0" * 64}
    part = {"rank": 0, "name": NAME, "attempt": 1, "step": 200, "world_size": 1}
    words.update(parts=[{**part, "shards": [shard]}], world_size=1)
    _replace(path, stamp + b"\n" + json.dumps(words).encode())


def _logs(root: Path) -> None:
    folder = root / KEYS.logs / "0.0-0"
    folder.mkdir(parents=True)
    (root.parent / "outside").write_bytes(OUTSIDE)
    (folder / "0.out.0").symlink_to(root.parent / "outside")
    os.mkfifo(folder / "1.out.0")


HARM: dict[str, Callable[[Path], None]] = {
    "record too deep": lambda root: _replace(newest(root / KEYS.record), DEEP),
    "record is a link": lambda root: _link(newest(root / KEYS.record), root),
    "record too large": lambda root: _huge(newest(root / KEYS.record)),
    "record of wrong types": lambda root: _replace(newest(root / KEYS.record), WRONG),
    "head too deep": lambda root: _replace(newest(root / KEYS.head), DEEP),
    "end too deep": lambda root: _replace(root / KEYS.end(1, 0, 0), DEEP),
    "end of wrong types": lambda root: _replace(root / KEYS.end(1, 0, 0), WRONG),
    "world of wrong types": lambda root: _replace(root / KEYS.world(1), WRONG),
    "manifest too deep": lambda root: _replace(root / KEYS.manifest(NAME), DEEP),
    "manifest that leaves the root": _manifest,
    "logs that are links and pipes": _logs,
    "odd names": lambda root: (root / "jobs" / "..x-1").mkdir(),
}


@pytest.mark.parametrize("harm", sorted(HARM))
def test_every_verb_answers(harm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "root"
    ended_job(MadeRoot(root))
    HARM[harm](root)
    for verb in VERBS:
        code = call([*verb, "--root", str(root)], lambda root, job: None)
        out, err = capsys.readouterr()
        assert code in (0, 1, 2, 4), (verb, code, err)
        assert "Traceback" not in err
        assert len(err.splitlines()) <= 3, err
        assert OUTSIDE.decode() not in out + err
