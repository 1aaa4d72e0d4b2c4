"""Tiny file systems for tests, where mounting is allowed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def tiny(place: Path, options: str) -> Iterator[Path]:
    """A tmpfs at `place`; skips the test where mounting is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    place.mkdir(parents=True, exist_ok=True)
    words = ("mount", "-t", "tmpfs", "-o", options, "none", str(place))
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(("umount", "--lazy", str(place)), check=True)


def remount(place: Path, options: str) -> None:
    """Change the options of a mounted file system."""
    words = ("mount", "-o", f"remount,{options}", str(place))
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
