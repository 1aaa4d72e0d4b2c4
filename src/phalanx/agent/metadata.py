"""The EC2 instance metadata service, asked for Spot notices and rebalance advice.

Asked only where `PHALANX_METADATA` or `AWS_EC2_METADATA_SERVICE_ENDPOINT` names an address: on ECS
the host's hop limit decides whether a task may ask at all. The form is IMDSv2: a token by PUT
`/latest/api/token`, then GET `/latest/meta-data/spot/instance-action` (404 while there is none;
else `{"action": "terminate", "time": "2026-01-01T00:00:00Z"}`) and GET
`/latest/meta-data/events/recommendations/rebalance`. Source: the EC2 user guide, "Spot Instance
interruption notices" and "EC2 instance rebalance recommendations".
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping

from phalanx.agent.departure import Notice, rebalance, spot

POLL_S = 2.0
"""AWS advises to look every five seconds; two costs nothing here."""
TIMEOUT_S = 1.0
_TOKEN_HEADER = "X-aws-ec2-metadata-token"


def endpoint(environ: Mapping[str, str]) -> str:
    """The configured address, `http://127.0.0.1:1234`, or ''."""
    return environ.get("PHALANX_METADATA") or environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or ""


class MetadataPoll:
    """Asks in a thread of its own, so that a service that does not answer blocks nobody."""

    def __init__(
        self, address: str, found: Callable[[Notice], None], every_s: float = POLL_S
    ) -> None:
        """`found` is called in the thread, once per kind of notice."""
        self._address = address
        self._every_s = every_s
        self._found = found
        self._told: set[str] = set()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="phalanx-metadata", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it still asks."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Ask no more."""
        self._is_over.set()

    def _run(self) -> None:
        while not self._is_over.is_set():
            for notice in self._look():
                if notice.source not in self._told:
                    self._told.add(notice.source)
                    self._found(notice)
            self._is_over.wait(self._every_s)

    def _look(self) -> list[Notice]:
        try:
            token = self._ask("PUT", "/latest/api/token", "")
            action = self._ask("GET", "/latest/meta-data/spot/instance-action", token)
            advice = self._ask("GET", "/latest/meta-data/events/recommendations/rebalance", token)
        except OSError:
            return []
        found = [rebalance()] if advice else []
        left_s = seconds_left(action, time.time()) if action else None
        return found if left_s is None else [*found, spot(left_s)]

    def _ask(self, method: str, path: str, token: str) -> str:
        """The body, '' for anything but 200. Raises `OSError` when nobody answers."""
        from contextlib import closing
        from http.client import HTTPConnection, HTTPException

        headers = {_TOKEN_HEADER: token} if token else {}
        if method == "PUT":
            headers[f"{_TOKEN_HEADER}-ttl-seconds"] = "300"
        try:
            host = self._address.removeprefix("http://").strip("/")
            with closing(HTTPConnection(host, timeout=TIMEOUT_S)) as link:
                link.request(method, path, headers=headers)
                answer = link.getresponse()
                body = answer.read(65536).decode(errors="replace")
                return body if answer.status == 200 else ""
        except (HTTPException, ValueError, OverflowError) as error:
            raise OSError(str(error)) from error


def seconds_left(text: str, now_s: float) -> float | None:
    """Seconds until the action of an instance-action document; None when it names none."""
    from datetime import datetime, timezone

    try:
        at = datetime.fromisoformat(str(json.loads(text)["time"]).replace("Z", "+00:00"))
        return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp() - now_s
    except (ValueError, KeyError, TypeError):
        return None


def start(found: Callable[[Notice], None]) -> MetadataPoll | None:
    """Start to ask when an address is configured."""
    address = endpoint(os.environ)
    return MetadataPoll(address, found) if address else None
