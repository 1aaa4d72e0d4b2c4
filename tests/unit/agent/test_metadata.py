"""The metadata service, asked over real HTTP."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from phalanx.agent.departure import Notice
from phalanx.agent.metadata import MetadataPoll, endpoint, seconds_left
from tests.support.metadata_server import ACTION, ADVICE, MetadataServer, action_in
from tests.support.waiting import until


@pytest.fixture
def server() -> Iterator[MetadataServer]:
    with MetadataServer() as made:
        yield made


class Watched:
    """A poll at short intervals, and what it found."""

    def __init__(self, address: str) -> None:
        self.found: list[Notice] = []
        self.poll = MetadataPoll(address, self.found.append, every_s=0.01)

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.poll.close()
        until(lambda: not self.poll.is_alive)


def rounds(server: MetadataServer, more: int) -> None:
    """Wait until the service was asked for advice that many times more."""
    asked = server.asked.count(("GET", ADVICE))
    until(lambda: server.asked.count(("GET", ADVICE)) >= asked + more)


def test_nothing_is_found_while_there_is_nothing(server: MetadataServer) -> None:
    with Watched(server.address) as watched:
        rounds(server, 3)
    assert watched.found == []
    assert server.asked[:3] == [("PUT", "/latest/api/token"), ("GET", ACTION), ("GET", ADVICE)]


def test_a_spot_notice_is_told_once(server: MetadataServer) -> None:
    server.bodies[ACTION] = action_in(120)
    with Watched(server.address) as watched:
        rounds(server, 3)
    (notice,) = watched.found
    assert (notice.source, notice.departs) == ("spot", True)


def test_advice_and_then_a_notice(server: MetadataServer) -> None:
    server.bodies[ADVICE] = '{"noticeTime": "2026-01-01T00:00:00Z"}'
    with Watched(server.address) as watched:
        until(lambda: watched.found)
        server.bodies[ACTION] = action_in(2)
        until(lambda: len(watched.found) == 2)
    assert [notice.source for notice in watched.found] == ["rebalance", "spot"]
    assert not watched.found[0].departs


@pytest.mark.parametrize("body", ["", "no JSON", "[]", "{}", '{"time": 5}', '{"time": "soon"}'])
def test_garbage_is_no_notice_and_the_next_answer_counts(server: MetadataServer, body: str) -> None:
    server.bodies[ACTION] = body
    with Watched(server.address) as watched:
        rounds(server, 2)
        assert watched.found == []
        server.bodies[ACTION] = action_in(60)
        until(lambda: watched.found)


def test_a_service_that_hangs_blocks_nobody(server: MetadataServer) -> None:
    server.hangs = True
    with Watched(server.address) as watched:
        until(lambda: server.asked)
        assert watched.found == []


def test_a_service_that_is_gone_is_asked_again(server: MetadataServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with Watched(address) as watched:
        assert watched.poll.is_alive
    assert watched.found == []


def test_a_server_that_does_not_speak_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answered = threading.Event()

        def answer() -> None:
            link, _ = listener.accept()
            with link:
                link.recv(4096)
                link.sendall(b"220 mail is served here\r\n")
            answered.set()

        thread = threading.Thread(target=answer)
        thread.start()
        with Watched(f"http://127.0.0.1:{listener.getsockname()[1]}") as watched:
            until(answered.is_set)
            assert watched.poll.is_alive
        thread.join()
    assert watched.found == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:port", "http://", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_finds_nothing(address: str) -> None:
    with Watched(address) as watched:
        assert watched.poll.is_alive
    assert watched.found == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"action": "stop", "time": "2026-01-01T00:02:00Z"}', 120.0),
        ('{"action": "terminate", "time": "2026-01-01T00:00:02+00:00"}', 2.0),
        ('{"time": "2026-01-01T00:02:00"}', 120.0),
        ('{"time": "2025-12-31T23:59:00Z"}', -60.0),
        ('{"action": "stop"}', None),
        ("[1]", None),
        ("null", None),
        ("{", None),
    ],
)
def test_seconds_left(text: str, left: float | None) -> None:
    now_s = datetime(2026, 1, 1, tzinfo=timezone.utc).timestamp()
    assert seconds_left(text, now_s) == left


@pytest.mark.parametrize(
    ("environ", "address"),
    [
        ({}, ""),
        ({"PHALANX_METADATA": "http://127.0.0.1:1"}, "http://127.0.0.1:1"),
        ({"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://a"}, "http://a"),
        ({"PHALANX_METADATA": "http://b", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "c"}, "http://b"),
    ],
)
def test_the_address(environ: dict[str, str], address: str) -> None:
    assert endpoint(environ) == address
