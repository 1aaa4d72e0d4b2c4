"""Datagrams from this agent's ranks: a part is durable, a checkpoint is unreadable, the end."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from typing import Any

MESSAGE_MAX = 8192


class Inbox:
    """A datagram socket in the agent's private folder."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)
        self.path = os.path.join(folder, "agent")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.setblocking(False)

    def fileno(self) -> int:
        """For `poll`."""
        return self.socket.fileno()

    def messages(self) -> list[dict[str, Any]]:
        """All whole messages that have arrived; what is no JSON object is dropped."""
        found: list[dict[str, Any]] = []
        while True:
            try:
                data = self.socket.recv(MESSAGE_MAX)
            except (BlockingIOError, InterruptedError):
                return found
            with contextlib.suppress(ValueError):
                words = json.loads(data)
                if isinstance(words, dict):
                    found.append(words)

    def close(self) -> None:
        """Close and remove."""
        self.socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)
