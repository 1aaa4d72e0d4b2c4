"""User data of a launch template: settings of the ECS agent, and whether all of it is known."""

from __future__ import annotations

import base64
import re
from functools import cached_property

from phalanx.lint.pattern import Pattern
from phalanx.lint.values import HOLE

_SETTING = Pattern(r"\b((?:ECS|NVIDIA)_[A-Z0-9_]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"';&|>]*)")
_TOML = Pattern(r"^\s*([a-z][a-z0-9-]*)\s*=\s*(.+?)\s*$", re.MULTILINE)
_OPEN = Pattern(rf"^[^\S\n]*(?:{HOLE}[^\S\n]*)+$", re.MULTILINE)
_FETCH = Pattern(r"(?:s3 cp|curl|wget|\bcp\b)[^\n]*/etc/ecs/ecs\.config|curl[^\n|]*\|\s*(?:ba)?sh")
_BASE64 = Pattern(r"[A-Za-z0-9+/]{16,}={0,2}")
_GZIP = b"\x1f\x8b"
_DURATION = Pattern(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


class UserData:
    """`text` is the decoded text; unresolved interpolations are `HOLE`s in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def settings(self) -> dict[str, str]:
        """Agent settings by name (`ECS_CLUSTER`); the last one wins, as in the file."""
        lines = [line for line in self.text.splitlines() if not line.lstrip().startswith("#")]
        found = _SETTING.findall("\n".join(lines))
        return {name: value.strip("\"'") for name, value in found}

    @cached_property
    def toml(self) -> dict[str, str]:
        """Settings of a Bottlerocket host (`enable-spot-instance-draining`)."""
        return {key: value.strip("\"'") for key, value in _TOML.findall(self.text)}

    @property
    def is_bottlerocket(self) -> bool:
        """It is Bottlerocket's TOML."""
        return "[settings." in self.text

    @cached_property
    def is_whole(self) -> bool:
        """False when an unresolved part, or a file fetched at boot, could add further settings."""
        if _OPEN.search(self.text) or not self.text.replace(HOLE, "").strip():
            return False
        return not _FETCH.search(self.text)


def decoded(text: str) -> str | None:
    """User data as the host reads it, also where the file holds its base64; None when packed."""
    written = "".join(text.split("\n")).strip()
    if not _BASE64.fullmatch(written):
        return text
    try:
        raw = base64.b64decode(written, validate=True)
        if raw.startswith(_GZIP):
            return None
        plain = raw.decode("utf-8")
    except ValueError:  # no base64 after all, or no text
        return text
    return plain if all(c.isprintable() or c in "\n\r\t" for c in plain) else text


def seconds(text: str) -> float | None:
    """A Go duration (`3h`, `2m30s`, `110s`, `90`) in seconds; None when it is none."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not text.strip():
        return None
    hours, minutes, rest = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest
