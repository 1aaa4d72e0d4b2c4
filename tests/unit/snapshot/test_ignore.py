"""Our matcher against git itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from phalanx.snapshot.ignore import is_ignored, read_rules

PATHS = (
    "a", "b", "a.pt", "a.txt", "z.PT", "#c", "!d", "x y", "end ", "a-b", "[z]", "é.txt", "a\\b",
    "data/a", "data/a.pt", "data/deep/a.pt", "data/deep/er/a.txt", "src/data/a", "src/a.pt",
    "src/data/deep/b", "src/build/out", "build/out", "build/keep/me", "f1", "f2", "fa", "f-", "f]",
    "src/x/y/z", "src/y", "logs/1.log", "logs/old/2.log", "deep/logs/3.log",
)  # fmt: skip

FILES = (
    "*.pt", "a", "/a", "data", "data/", "/data/", "src/data", "data/*", "data/**", "**/a",
    "**/data/**", "src/**/y", "src/**", "**", "*", "?", "f?", "f[12]", "f[!12]", "f[^12]", "f[1-9]",
    "f[a-]", "f[]]", "f[[:digit:]]", "f[[:alpha:]]", "f[9-1]", "f[", r"\#c", "#c", r"\!d", "!d",
    "x y", "end ", r"end\ ", "a.*", "**.pt", "a**", "src/*/a", "*/a", "data/deep", "deep/*",
    "*\n!a", "*\n!*/\n!a.pt", "data\n!data/a", "data/*\n!data/deep", "/*\n!/src\n/src/*\n!/src/y",
    "*.pt\n!src/*.pt", "logs/*.log", "**/logs/*.log", "**/logs/**/*.log", "", "   ", "\\", "a\\",
    r"\a", r"\[z]", "[[]z]", "é*", "/", "//", "a/", "build/\n!build/keep/", "*/deep/", "src//y",
    "data/**/a.pt", "**/**/a", "a\r", r"a\\b", "*[!a-z]",
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "-q", folder], check=True)
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def kept_by_git(tree: Path) -> list[str]:
    answer = subprocess.run(
        ["git", "-C", tree, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
        capture_output=True,
        check=True,
    )
    names = answer.stdout.decode().split("\0")
    return sorted(name for name in names if name and not name.endswith(".gitignore"))


def kept_by_us(*files: tuple[str, str]) -> list[str]:
    rules = [rule for base, text in files for rule in read_rules(text.split("\n"), base)]
    kept = []
    for path in PATHS:
        parts = path.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        is_gone = any(is_ignored(rules, folder, True) for folder in above)
        if not is_gone and not is_ignored(rules, path, False):
            kept.append(path)
    return sorted(kept)


@pytest.mark.parametrize("text", FILES)
def test_it_keeps_what_git_keeps(tree: Path, text: str) -> None:
    (tree / ".gitignore").write_text(text, newline="")
    assert kept_by_us(("", text)) == kept_by_git(tree)


def test_deeper_files_win_and_speak_of_their_folder(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.pt\n/a\n")
    (tree / "data" / ".gitignore").write_text("!a.pt\n/a\n")
    try:
        kept = kept_by_us(("", "*.pt\n/a\n"), ("data/", "!a.pt\n/a\n"))
        assert kept == kept_by_git(tree)
        assert "data/a.pt" in kept
        assert "src/data/a" in kept
    finally:
        (tree / "data" / ".gitignore").unlink()
