"""Files that look like secrets are not shipped. Pure; no value is ever repeated."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = {
    ".netrc": "login data",
    "_netrc": "login data",
    ".pypirc": "login data of a package index",
    ".git-credentials": "login data of git",
    ".envrc": "an environment file",
    ".dockercfg": "login data of a registry",
    "credentials": "a credentials file",
    "credentials.json": "a credentials file",
    "id_rsa": "a private key",
    "id_dsa": "a private key",
    "id_ecdsa": "a private key",
    "id_ed25519": "a private key",
}
_HARMLESS = (".example", ".sample", ".template", ".dist")

_TEXTS = (
    ("a private key", (b"PRIVATE KEY",), rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    # The example key of AWS's own documentation ends with EXAMPLE.
    (
        "an AWS access key",
        (b"AKIA", b"ASIA"),
        rb"(?<![A-Za-z0-9/+])(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9/+])",
    ),
    ("a Hugging Face token", (b"hf_",), rb"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{34,}(?![A-Za-z0-9_])"),
    (
        "a GitHub token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
        rb"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{36,}",
    ),
    ("a GitHub token", (b"github_pat_",), rb"github_pat_[A-Za-z0-9_]{50,}"),
    ("a GitLab token", (b"glpat-",), rb"(?<![A-Za-z0-9_-])glpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", (b"xox",), rb"(?<![A-Za-z0-9])xox[abprs]-[A-Za-z0-9-]{10,}"),
)
_PATTERNS = tuple((what, marks, re.compile(text)) for what, marks, text in _TEXTS)


class Suspicion(NamedTuple):
    """A place that looks like a secret."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} looks like {self.what}"


def suspect(path: str, data: bytes) -> Suspicion | None:
    """The first suspicion about a file, by its name, then by its bytes."""
    name = path.rpartition("/")[2]
    if name in _NAMES:
        return Suspicion(path, 1, _NAMES[name])
    if name == ".env" or (name.startswith(".env.") and not name.endswith(_HARMLESS)):
        return Suspicion(path, 1, "an environment file")
    found = [match for match in (_find(data, *pattern) for pattern in _PATTERNS) if match]
    if not found:
        return None
    at, what = min(found)
    return Suspicion(path, data.count(b"\n", 0, at) + 1, what)


def _find(
    data: bytes, what: str, marks: tuple[bytes, ...], pattern: re.Pattern[bytes]
) -> tuple[int, str] | None:
    """Plain search comes first: it is far faster than the expression on large files."""
    if not any(mark in data for mark in marks):
        return None
    match = pattern.search(data)
    return (match.start(), what) if match else None
