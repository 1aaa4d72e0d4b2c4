"""Short messages: datagrams to the agent, and lines for people on standard error."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

_TRIES = 200
_PAUSE_S = 0.01


def say(text: str) -> None:
    """One line on standard error."""
    print(f"phalanx: {' '.join(text.split())}", file=sys.stderr, flush=True)


class AgentLine:
    """The agent's socket. A datagram is a hint: what it tells of is already durable."""

    def __init__(self, path: str) -> None:
        self._path = path

    def tell(self, message: Mapping[str, Any]) -> bool:
        """Send one message; False when nobody took it within two seconds."""
        if not self._path:
            return False
        data = json.dumps(message, separators=(",", ":")).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.setblocking(False)
            for _ in range(_TRIES):
                try:
                    line.sendto(data, self._path)
                    return True
                except (BlockingIOError, InterruptedError):
                    time.sleep(_PAUSE_S)  # the agent's queue is full for a moment
                except OSError:
                    return False
        return False
