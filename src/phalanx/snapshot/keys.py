"""Where snapshots lie under the root."""

from __future__ import annotations


def snapshot_key(digest: str) -> str:
    """Create-once: the tar whose sha256, in hex, is `digest`."""
    return f"snapshots/{digest}"
