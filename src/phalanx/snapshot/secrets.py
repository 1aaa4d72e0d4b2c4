"""What looks like a secret is not shipped. Pure; no value is ever repeated.

Files that are known to hold secrets are left out; a secret inside another file refuses the whole
source, because without that file it would not be what the user means to run.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = {
    ".netrc": "login data",
    "_netrc": "login data",
    ".pypirc": "login data of a package index",
    ".git-credentials": "login data of git",
    ".envrc": "an environment file",
    ".pgpass": "login data of a database",
    ".my.cnf": "login data of a database",
    ".s3cfg": "login data of a store",
    ".boto": "login data of a store",
    ".vault-token": "a token",
    ".dockercfg": "login data of a registry",
    "credentials": "a credentials file",
    "credentials.json": "a credentials file",
    "id_rsa": "a private key",
    "id_dsa": "a private key",
    "id_ecdsa": "a private key",
    "id_ed25519": "a private key",
}
_FOLDERS = {
    ".aws": "login data of AWS",
    ".azure": "login data of Azure",
    ".docker": "login data of a registry",
    ".gnupg": "a private key",
    ".huggingface": "a Hugging Face token",
    ".kube": "login data of a cluster",
    ".ssh": "a private key",
}
"""Everything in them is left out."""
_BELOW = {
    (".config", "gcloud"): "login data of Google Cloud",
    (".config", "gh"): "login data of GitHub",
    (".cache", "huggingface", "token"): "a Hugging Face token",
    (".cache", "huggingface", "stored_tokens"): "a Hugging Face token",
    ("huggingface", "token"): "a Hugging Face token",
}
_STORES = (".p12", ".pfx", ".jks", ".keystore", ".kdbx")
_KEY_FILES = (".pem", ".key", ".ppk", ".asc")
"""Often public: left out when a private key is in them."""
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
    is_whole: bool = False
    """The file is known to hold secrets: it is left out, and the rest is shipped."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} looks like {self.what}"


def suspect(path: str, data: bytes) -> Suspicion | None:
    """The first suspicion about a file, by its name, then by its bytes."""
    known = _known(path)
    if known:
        return Suspicion(path, 1, known, is_whole=True)
    found = [match for match in (_find(data, *pattern) for pattern in _PATTERNS) if match]
    if not found:
        return None
    at, what = min(found)
    is_whole = what == "a private key" and path.endswith(_KEY_FILES)
    return Suspicion(path, data.count(b"\n", 0, at) + 1, what, is_whole)


def _known(path: str) -> str:
    """What a file of that name holds by custom; '' when nothing is known of it."""
    parts = path.split("/")
    name = parts[-1]
    if name in _NAMES:
        return _NAMES[name]
    if name == ".env" or (name.startswith(".env.") and not name.endswith(_HARMLESS)):
        return "an environment file"
    if name.endswith(_STORES):
        return "a store of keys"
    below = (what for folder, what in _FOLDERS.items() if folder in parts[:-1])
    return next(below, "") or next((what for at, what in _BELOW.items() if _holds(parts, at)), "")


def _holds(parts: list[str], inner: tuple[str, ...]) -> bool:
    size = len(inner)
    return any(tuple(parts[at : at + size]) == inner for at in range(len(parts) - size + 1))


def _find(
    data: bytes, what: str, marks: tuple[bytes, ...], pattern: re.Pattern[bytes]
) -> tuple[int, str] | None:
    """Plain search comes first: it is far faster than the expression on large files."""
    if not any(mark in data for mark in marks):
        return None
    match = pattern.search(data)
    return (match.start(), what) if match else None
