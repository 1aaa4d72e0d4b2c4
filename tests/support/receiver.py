"""Somebody who is told: a real HTTP server on the loopback interface that keeps every message."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATH = "/hooks/a-secret-token"


class Receiver:
    """Answers 200, or what it is told to answer."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        """Bodies of all requests, in order of arrival."""
        self.keys: list[str] = []
        """Their `Idempotency-Key`."""
        self.answers: list[int] = []
        """Codes for the next requests; 200 when there are none."""
        self.location = ""
        """Where a redirect leads."""
        self.is_over = threading.Event()
        self.hangs = False
        """Whether requests are taken and never answered."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{PATH}"
        words = {"poll_interval": 0.05}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=words)
        self._thread.start()

    def events(self) -> Counter[str]:
        """How often each message came, by its id without job and time."""
        return Counter(str(words["id"]).split(".", 2)[2] for words in self.got)

    def close(self) -> None:
        """Nobody answers any more."""
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.keys.append(self.headers["Idempotency-Key"])
            receiver.got.append(json.loads(body))
            if receiver.hangs:
                receiver.is_over.wait(60)
            code = receiver.answers.pop(0) if receiver.answers else 200
            try:
                self.send_response(code)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:
                self.close_connection = True  # whoever told us has gone

        def log_message(self, format: str, *args: Any) -> None:
            """Not into the test's output."""

    return Handler
