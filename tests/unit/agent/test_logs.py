"""What a rank prints reaches the root without secrets, in whatever pieces it was written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phalanx.agent.logs import LogStream, PassedOn
from phalanx.redaction.redactor import Redactor

SECRET = "correct horse battery"
REDACTOR = Redactor({"HORSE": SECRET})


@contextmanager
def stream_of(tmp_path: Path) -> Iterator[tuple[LogStream, int]]:
    (tmp_path / "job").mkdir()
    heard, said = os.pipe()
    stream = LogStream(str(tmp_path / "job" / "logs" / "0.0-0"), "3.out", heard, REDACTOR)
    try:
        yield stream, said
    finally:
        os.close(said)
        stream.close()


def kept(tmp_path: Path) -> bytes:
    return (tmp_path / "job" / "logs" / "0.0-0" / "3.out.0").read_bytes()


def test_a_secret_in_two_writes_is_hidden(tmp_path: Path) -> None:
    with stream_of(tmp_path) as (stream, said):
        for piece in (b"a\nit is correct ho", b"rse batt", b"ery.\nb\n"):
            os.write(said, piece)
            assert stream.pump()
        assert kept(tmp_path) == b"a\nit is [redacted HORSE].\nb\n"


def test_a_line_without_an_end_is_kept_when_the_pipe_ends(tmp_path: Path) -> None:
    with stream_of(tmp_path) as (stream, said):
        os.write(said, f"last words: {SECRET}".encode())
        stream.pump()
    assert kept(tmp_path) == b"last words: [redacted HORSE]"
    assert stream.tail == b"last words: [redacted HORSE]"


def test_the_tail_never_holds_a_part_of_a_secret(tmp_path: Path) -> None:
    with stream_of(tmp_path) as (stream, said):
        for _ in range(400):
            os.write(said, f"{SECRET}\n".encode())
            stream.pump()
    assert b"horse" not in stream.tail
    assert stream.tail.endswith(b"[redacted HORSE]\n")


def test_a_line_has_the_time_of_its_first_byte(tmp_path: Path) -> None:
    with stream_of(tmp_path) as (stream, said):
        os.write(said, b"begun ")
        stream.pump()
        os.write(said, b"and ended\nnext\n")
        stream.pump()
        index = (tmp_path / "job" / "logs" / "0.0-0" / "3.out.0.idx").read_text()
    entries = [tuple(map(int, line.split())) for line in index.splitlines()]
    assert [offset for offset, _ in entries] == [0, len("begun and ended\n")]
    assert entries[0][1] < entries[1][1]


def test_bytes_that_are_no_text_pass(tmp_path: Path) -> None:
    data = bytes(range(256)) * 400
    with stream_of(tmp_path) as (stream, said):
        for at in range(0, len(data), 40_000):
            os.write(said, data[at : at + 40_000])
            stream.pump()
    assert kept(tmp_path) == data


def test_logs_are_private_and_never_written_through_a_link(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with stream_of(tmp_path) as (stream, said):
            os.write(said, b"x\n")
            stream.pump()
    finally:
        os.umask(before)
    found = [*(tmp_path / "job" / "logs").rglob("*")]
    assert len(found) == 3
    assert [path for path in found if path.stat().st_mode & 0o077] == []

    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    log = tmp_path / "job" / "logs" / "0.0-0" / "3.out.0"
    log.unlink()
    log.symlink_to(victim)
    heard, said = os.pipe()
    stream = LogStream(str(log.parent), "3.out", heard, REDACTOR)
    os.write(said, b"x\n")
    os.close(said)
    stream.close()
    assert victim.read_bytes() == b""


def test_what_a_helper_process_prints_is_passed_on_without_secrets(tmp_path: Path) -> None:
    heard, said = os.pipe()
    out = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT, 0o600)
    passed = PassedOn(heard, out, REDACTOR)
    os.write(said, b"correct horse ")
    passed.pump()
    os.write(said, b"battery\nrest")
    os.close(said)
    passed.pump()
    os.close(out)
    assert passed.fd == -1
    assert (tmp_path / "log").read_bytes() == b"[redacted HORSE]\nrest"
