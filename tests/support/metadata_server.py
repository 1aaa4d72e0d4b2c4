"""An instance metadata service of the EC2 form: a real HTTP server on the loopback interface."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "a-token-of-the-test"
ACTION = "/latest/meta-data/spot/instance-action"
ADVICE = "/latest/meta-data/events/recommendations/rebalance"


class MetadataServer:
    """Answers 404 until it is given something to say; refuses whoever brings no token."""

    def __init__(self) -> None:
        self.bodies: dict[str, str] = {}
        """Path → body, for everybody."""
        self.once: dict[str, str] = {}
        """Path → body, for the first that asks: one instance of several."""
        self.asked: list[tuple[str, str]] = []
        """(method, path) of every request."""
        self.is_over = threading.Event()
        self.hangs = False
        """Whether requests are accepted and never answered."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        words = {"poll_interval": 0.05}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=words)
        self._thread.start()

    def close(self) -> None:
        """Nobody answers any more."""
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> MetadataServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def action_in(seconds: float) -> str:
    """An instance-action document with so many seconds to go."""
    at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return json.dumps({"action": "terminate", "time": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")})


def _handler(server: MetadataServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            server.asked.append(("PUT", self.path))
            self._wait_if_hanging()
            has_life = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
            is_token = self.path == "/latest/api/token" and has_life
            self._answer(200 if is_token else 400, TOKEN if is_token else "")

        def do_GET(self) -> None:
            server.asked.append(("GET", self.path))
            self._wait_if_hanging()
            if self.headers.get("X-aws-ec2-metadata-token") != TOKEN:
                self._answer(401, "")
                return
            body = server.once.pop(self.path, None) or server.bodies.get(self.path)
            self._answer(404 if body is None else 200, body or "not here")

        def _wait_if_hanging(self) -> None:
            if server.hangs:
                server.is_over.wait(60)

        def _answer(self, status: int, body: str) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())
            except OSError:
                self.close_connection = True  # whoever asked has gone

        def log_message(self, format: str, *args: Any) -> None:
            """Not into the test's output."""

    return Handler
