from __future__ import annotations

import errno
from pathlib import Path

import pytest

from phalanx.backends.local.spawn import refusal, spawn_detached
from phalanx.errors import BackendError, LaunchRefused, NoCapacity, Throttled
from tests.support.waiting import until


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, NoCapacity),
        (errno.EAGAIN, Throttled),
        (errno.E2BIG, LaunchRefused),
        (errno.EROFS, BackendError),
    ],
)
def test_answers_of_the_system_have_their_place_in_our_tree(
    number: int, kind: type[BackendError]
) -> None:
    error = refusal(OSError(number, "words of the system", "/some/file"), "start a task")
    assert type(error) is kind
    assert "cannot start a task: words of the system" in error.line()


def test_output_goes_to_the_log_and_input_is_empty(tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = ["/bin/sh", "-c", 'read line || echo "no input, $GREETING"; echo bad >&2']
    spawn_detached(words, {"GREETING": "hello"}, str(log))
    until(lambda: log.read_text() == "no input, hello\nbad\n")


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchRefused, match="/no/such/python cannot be executed"):
        spawn_detached(["/no/such/python"], {}, str(tmp_path / "log"))


def test_an_environment_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchRefused) as caught:
        spawn_detached(["/bin/true"], {"A": "x" * (1 << 22)}, str(tmp_path / "log"))
    assert "the environment is too large" in caught.value.line()
