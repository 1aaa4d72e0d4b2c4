"""One try at a receiver: real HTTP and real programs; nothing that is said names an address."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.controller.sending import HEARD_BYTES, call, post
from tests.support.receiver import PATH, Receiver

HEADERS = {"Idempotency-Key": "k"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as one:
        yield one


def test_a_message_arrives_with_its_key(receiver: Receiver) -> None:
    answer = post(receiver.url, b'{"a": 1}', HEADERS)
    assert (answer.is_sent, answer.said) == (True, "it answered 200")
    assert receiver.got == [{"a": 1}]
    assert receiver.keys == ["k"]


@pytest.mark.parametrize(
    ("code", "is_final"), [(400, True), (404, True), (429, False), (500, False), (503, False)]
)
def test_a_refusal_is_final_unless_it_may_pass(
    receiver: Receiver, code: int, is_final: bool
) -> None:
    receiver.answers = [code]
    answer = post(receiver.url, b"{}", HEADERS)
    assert answer == (False, is_final, f"it answered {code}")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("scheme", ["http", "file"])
def test_redirects_are_not_followed(receiver: Receiver, code: int, scheme: str) -> None:
    receiver.answers = [code]
    receiver.location = receiver.url if scheme == "http" else f"file://{PATH}"
    answer = post(receiver.url, b"{}", HEADERS)
    assert (answer.is_sent, answer.is_final) == (False, True)
    assert len(receiver.got) == 1


def test_a_receiver_that_never_answers_is_given_up(receiver: Receiver) -> None:
    receiver.hangs = True
    answer = post(receiver.url, b"{}", HEADERS, timeout_s=0.2)
    assert (answer.is_sent, answer.is_final) == (False, False)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/a-secret-token",
        "https://127.0.0.1:1/a-secret-token",
        "ftp://127.0.0.1/a-secret-token",
        "file:///a-secret-token",
        "http://nowhere.invalid/a-secret-token",
        "http://127.0.0.1:99999/a-secret-token",
        "http://127.0.0.1:1/a-secret-token bad",
    ],
)
def test_what_is_said_of_a_failure_never_names_the_address(url: str) -> None:
    answer = post(url, b"{}", HEADERS, timeout_s=2.0)
    assert not answer.is_sent
    assert "secret" not in answer.said
    assert answer.said


def test_tls_is_verified_against_a_plain_server(receiver: Receiver) -> None:
    answer = post(receiver.url.replace("http:", "https:"), b"{}", HEADERS, timeout_s=2.0)
    assert not answer.is_sent
    assert receiver.got == []


def test_a_program_gets_the_message_on_its_input_and_in_its_environment(tmp_path: Path) -> None:
    words = ["sh", "-c", 'cat > "$OUT"; echo "$PHALANX_EVENT" >> "$OUT"']
    env = {**os.environ, "OUT": str(tmp_path / "out"), "PHALANX_EVENT": "ended"}
    answer = call(words, b"{}\n", env, str(tmp_path))
    assert (answer.is_sent, answer.said) == (True, "it exited 0")
    assert (tmp_path / "out").read_text() == "{}\nended\n"


def test_a_program_that_fails_may_be_tried_again(tmp_path: Path) -> None:
    assert call(["false"], b"{}", os.environ, str(tmp_path)) == (False, False, "it exited 1")


def test_a_program_that_reads_nothing_is_no_error(tmp_path: Path) -> None:
    assert call(["true"], b"x" * 1_000_000, os.environ, str(tmp_path)).is_sent


def test_a_program_that_is_not_there_is_final(tmp_path: Path) -> None:
    answer = call(["no-such-program"], b"{}", os.environ, str(tmp_path))
    assert (answer.is_sent, answer.is_final) == (False, True)


def test_a_program_that_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    script = "import subprocess, time; subprocess.run(['sleep', '600'])"
    answer = call([sys.executable, "-c", script], b"{}", os.environ, str(tmp_path), timeout_s=0.5)
    assert (answer.is_sent, answer.is_final) == (False, False)
    assert "killed" in answer.said


def test_what_a_program_prints_is_bounded_and_goes_through_our_own_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "import sys; sys.stdout.write('o' * 3_000_000); sys.stderr.write('e' * 3_000_000)"
    answer = call([sys.executable, "-c", script], b"{}", os.environ, str(tmp_path), timeout_s=60)
    assert answer.is_sent
    said = capsys.readouterr().err
    assert set(said.strip()) == {"o"}
    assert 0 < len(said) <= HEARD_BYTES + 1
