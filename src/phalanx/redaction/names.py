"""Which names stand for secrets, and which values could be one. Pure."""

from __future__ import annotations

import re

_NAME = (
    r"(?:^|[_.-])(?:TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD_?HASH|API[_-]?KEY"
    r"|(?:ACCESS|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION|LICENSE|MASTER|ACCOUNT)[_-]?KEY"
    r"|ACCESS[_-]?KEY[_-]?ID|CREDENTIALS?|WEBHOOK(?:_URL)?)$"
)
_JOINED = (
    r"(?:SECRETACCESSKEY|SESSIONTOKEN|ACCESSTOKEN|REFRESHTOKEN|IDTOKEN|AUTHTOKEN|CLIENTSECRET"
    r"|ACCESSKEYID)$"
)
_VOCABULARY = (
    r"(?:^|[_.-])(?:EOS|BOS|PAD|UNK|MASK|SEP|CLS|STOP|START|END|SPECIAL|NEXT|PER|MAX|MIN|NUM"
    r"|LAST|FIRST|NEW|IMAGE|AUDIO|VIDEO)[_-]?TOKEN$"
)
"""Tokens of language models."""
_DULL = (
    r"(?:none|null|true|false|yes|no|on|off|required|missing|optional|unset|changeme|placeholder|example|string|str|bytes|int"
    r"|[xX*.#_-]+|[0-9.,:%]+|redacted)"
)
_PATH = r"(?:\.{0,2}|~)/"

SHORTEST_PASSWORD = 4
SHORTEST = 8
SHORTEST_TOKEN = 16
"""Of a value under the bare word `token`, which language models use for other things."""


def is_secret_name(name: str) -> bool:
    """Whether a variable or option of that name holds a secret: `HF_TOKEN`, `db-password`."""
    upper = name.upper()
    if re.search(_VOCABULARY, upper):
        return False
    return bool(re.search(_NAME, upper) or re.search(_JOINED, upper))


def could_be_secret(name: str, value: str) -> bool:
    """Whether the value under such a name is worth hiding: no path, no number, no plain word."""
    if re.fullmatch(_DULL, value, re.I) or re.match(_PATH, value):
        return False
    upper = name.upper()
    if "PASS" in upper:
        return len(value) >= SHORTEST_PASSWORD
    if upper.endswith("TOKEN") and not name.isupper():
        return len(value) >= SHORTEST_TOKEN and _is_mixed(value)
    return len(value) >= SHORTEST


def _is_mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
