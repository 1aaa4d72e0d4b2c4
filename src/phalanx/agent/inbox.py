"""Datagrams from this agent's ranks: a part is durable, a checkpoint is unreadable, the end."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from typing import Any

from phalanx.errors import InputError
from phalanx.owned import FILE_MODE, make_own_folder

MESSAGE_MAX = 8192


class Inbox:
    """A datagram socket in the agent's private folder. Raises `InputError` when it is not ours."""

    def __init__(self, folder: str) -> None:
        _make_own(os.path.dirname(folder))
        _make_own(folder)
        self.path = os.path.join(folder, "agent")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        os.chmod(self.path, FILE_MODE)
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
            with contextlib.suppress(ValueError, RecursionError):
                words = json.loads(data)
                if isinstance(words, dict):
                    found.append(words)

    def close(self) -> None:
        """Close and remove."""
        self.socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def _make_own(folder: str) -> None:
    """Where others can write too, somebody may have been faster. Raises `InputError`."""
    try:
        make_own_folder(folder)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be used: {error.strerror}",
            hint="set TMPDIR to a folder of your own where the job is started",
        ) from error
