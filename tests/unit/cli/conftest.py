from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from phalanx.app.root import Root
from phalanx.cli.main import call
from tests.support.made_root import MadeRoot


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class Starts(list[str]):
    """Stands in for starting controllers: remembers for which jobs it was asked."""

    def __call__(self, root: Root, job: str) -> None:
        self.append(job)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeRoot:
    """A root of its own, named by PHALANX_ROOT."""
    monkeypatch.setenv("PHALANX_ROOT", str(tmp_path / "root"))
    return MadeRoot(tmp_path / "root")


@pytest.fixture
def starts() -> Starts:
    return Starts()


@pytest.fixture
def phalanx(capfd: pytest.CaptureFixture[str], starts: Starts) -> Callable[..., Answer]:
    """Run one command line in this process."""

    def run(*args: str) -> Answer:
        capfd.readouterr()
        code = call(args, starts)
        return Answer(code, *capfd.readouterr())

    return run
