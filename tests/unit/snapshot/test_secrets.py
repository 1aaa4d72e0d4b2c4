"""Look-alikes are put together here, so that this file itself can be shipped."""

from __future__ import annotations

import pytest

from phalanx.snapshot.secrets import suspect

KEY = "-----BEGIN {}PRIVATE KEY-----"
LETTERS = "Ab1" * 20

SECRETS = {
    "an AWS access key": ["AKIA" + "Q7" * 8, "id='ASIA" + "Z9" * 8 + "'"],
    "a private key": [KEY.format(""), KEY.format("RSA "), KEY.format("OPENSSH ")],
    "a Hugging Face token": ["hf_" + LETTERS[:34]],
    "a GitHub token": ["token=ghp_" + LETTERS[:36], "github_pat_" + LETTERS[:59]],
    "a GitLab token": ["glpat-" + LETTERS[:20]],
    "a Slack token": ["xoxb-" + "1234567890-" + LETTERS[:12]],
}
HARMLESS = [
    "AKIAIOSFODNN7" + "EXAMPLE",
    "AKIA" + "Q7" * 9,
    "MAKIA" + "Q7" * 8,
    "hf_model_name",
    "half_" + LETTERS[:34],
    "ghp_" + LETTERS[:10],
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "xoxo-love",
]
NAMES = [".env", "conf/.env.production", ".netrc", "a/.pypirc", "aws/credentials", "id_ed25519"]
NAMES_HARMLESS = [".env.example", "env.py", "credentials/__init__.py", "id_rsa.pub", "key.pem"]


@pytest.mark.parametrize(
    ("what", "text"), [(what, text) for what, texts in SECRETS.items() for text in texts]
)
def test_secrets_are_found_at_their_line_and_not_repeated(what: str, text: str) -> None:
    found = suspect("a/b.py", f"first\n\n  {text}\nlast".encode())
    assert found is not None
    assert str(found) == f"a/b.py:3 looks like {what}"


@pytest.mark.parametrize("text", HARMLESS)
def test_look_alikes_of_look_alikes_pass(text: str) -> None:
    assert suspect("a.py", text.encode()) is None


@pytest.mark.parametrize("path", NAMES)
def test_names_that_hold_secrets(path: str) -> None:
    found = suspect(path, b"")
    assert found is not None
    assert found.path == path


@pytest.mark.parametrize("path", NAMES_HARMLESS)
def test_names_that_do_not(path: str) -> None:
    assert suspect(path, b"") is None


def test_the_first_of_several_is_named() -> None:
    text = f"\n{SECRETS['a GitHub token'][0]}\n{SECRETS['an AWS access key'][0]}"
    found = suspect("a.py", text.encode())
    assert found is not None
    assert (found.line, found.what) == (2, "a GitHub token")
