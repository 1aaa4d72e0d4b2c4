"""One try to hand a message to a receiver. Nothing here ever names a whole address.

A try runs in a thread of its own and is left alone once its time is up, since a receiver may
dribble its answer for ever.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

TRY_S = 5.0
"""For one try, whatever the receiver does."""
HEARD_BYTES = 4096
"""Of what a program prints, in one try."""
_LATER = frozenset({408, 425, 429})
"""Refusals that may pass, beside every 5xx."""


class Answer(NamedTuple):
    """What came of one try."""

    is_sent: bool
    is_final: bool
    """Whether another try is pointless."""
    said: str


class _NoRedirects(HTTPRedirectHandler):
    """A message goes where the job file says and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post(url: str, body: bytes, headers: Mapping[str, str], timeout_s: float = TRY_S) -> Answer:
    """POST the body. Only http and https; redirects are answers like any other refusal."""
    if urlsplit(url).scheme.lower() not in ("http", "https"):
        return Answer(False, True, "its address is neither http nor https")
    return _within(timeout_s, lambda: _post(url, body, headers, timeout_s))


def call(
    words: Sequence[str], body: bytes, env: Mapping[str, str], cwd: str, timeout_s: float = TRY_S
) -> Answer:
    """Run a program with the body on its standard input; exit code 0 means told."""
    try:
        child = subprocess.Popen(
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "its words are no command"
        return Answer(False, True, f"it cannot be started: {said}")
    heard = bytearray()
    threading.Thread(target=_hear, args=(child, body, heard), daemon=True).start()
    try:
        child.wait(timeout_s)
        answer = Answer(child.returncode == 0, False, f"it exited {child.returncode}")
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        said = f"it had not ended after {timeout_s:g} s and was killed"
        answer = Answer(False, False, said)
    if heard:
        # Through our own standard error, which hides secrets; a file descriptor would not.
        print(bytes(heard).decode(errors="replace").rstrip(), file=sys.stderr, flush=True)
    return answer


def _hear(child: subprocess.Popen[bytes], body: bytes, heard: bytearray) -> None:
    """Give a program the message and keep the beginning of what it prints; the rest is dropped."""
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(OSError), child.stdin as stdin:
        stdin.write(body)
    with contextlib.suppress(OSError, ValueError), child.stdout as said:
        while chunk := os.read(said.fileno(), 1 << 16):
            heard += chunk[: max(0, HEARD_BYTES - len(heard))]


def _post(url: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> Answer:
    handlers: list[Any] = [_NoRedirects()]
    if (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1"):
        handlers.append(ProxyHandler({}))
    request = Request(url, data=body, headers=dict(headers), method="POST")
    try:
        with build_opener(*handlers).open(request, timeout=timeout_s) as response:
            return Answer(True, True, f"it answered {response.status}")
    except HTTPError as error:
        error.close()
        said = f"it answered {error.code}"
        if 300 <= error.code < 400:
            return Answer(False, True, f"{said}, and redirects are not followed")
        return Answer(False, error.code < 500 and error.code not in _LATER, said)
    except URLError as error:
        why = error.reason if isinstance(error.reason, str) else type(error.reason).__name__
        told = getattr(error.reason, "strerror", None) or why
        return Answer(False, False, f"it cannot be reached: {told}")
    except TimeoutError:
        return Answer(False, False, f"no answer within {timeout_s:g} s")
    except Exception as error:  # words of http.client may hold the address
        return Answer(False, False, f"it cannot be told: {type(error).__name__}")


def _within(timeout_s: float, attempt: Callable[[], Answer]) -> Answer:
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(attempt()), daemon=True)
    thread.start()
    thread.join(timeout_s + 0.5)
    return answers[0] if answers else Answer(False, False, f"no answer within {timeout_s:g} s")
