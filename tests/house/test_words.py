"""Tracked files speak of the project alone, and leave nothing for later."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT, project_files

# Written in pieces, so that this file does not name what it looks for.
FORBIDDEN = {
    "a folder of some machine": re.compile(
        r"(?<![\w.<$}])/" + "work/|/root" + "/|/home" + "/[a-z]"
    ),
    "the host of a package registry": re.compile(
        "py" + r"pi\.org|pythonhosted" + r"\.org|download\.py" + r"torch\.org"
    ),
    "work left for later": re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b"),
    "a stub": re.compile("NotImplemented" + "Error"),
}

LARGEST = 512 * 1024
"""Bytes; a larger file in the repository needs a very good reason."""


def read(path: Path) -> str:
    """The text of a file; empty when it holds none."""
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode(errors="replace")


def found_in(text: str) -> list[str]:
    """What a text should not say, with the line."""
    return [
        f"line {number}: {what}: {line.strip()[:80]}"
        for number, line in enumerate(text.splitlines(), start=1)
        for what, pattern in FORBIDDEN.items()
        if pattern.search(line)
    ]


def test_no_file_says_what_it_should_not() -> None:
    found = {str(path.relative_to(ROOT)): found_in(read(path)) for path in project_files()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_file_is_large() -> None:
    large = [str(path) for path in project_files() if path.stat().st_size > LARGEST]
    assert large == []


@pytest.mark.parametrize(
    "text",
    [
        "see /wo" + "rk/main",
        "--index-url=https://py" + "pi.org/simple",
        "# TO" + "DO later",
        "raise NotImplemented" + "Error",
    ],
)
def test_each_is_seen(text: str) -> None:
    assert found_in(text) != []


def test_the_lock_has_names_versions_and_digests_only() -> None:
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        assert re.fullmatch(
            r"|#.*|[a-z0-9-]+==[\w.]+( ; .*)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|    # via .*",
            line,
        ), line
    assert "://" not in (ROOT / "requirements.lock").read_text()


def test_torch_stands_outside_the_lock() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"^torch==", lock, flags=re.MULTILINE)
    assert "torch==" in (ROOT / "Makefile").read_text()
