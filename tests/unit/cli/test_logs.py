from __future__ import annotations

import json
import threading

from phalanx.app.logs import LINE_MAX, Filter, LogReader
from phalanx.words import Phase
from tests.support.made_root import SECOND, T0, ended_job, record, running_job


def at(seconds: float) -> int:
    return T0 + int(seconds * SECOND)


def two_ranks(made):
    ended_job(made)
    made.log("gpt-1", "0.0-0/0.out.0", b"a\nb\nc\n", (0, at(1)), (2, at(3)), (4, at(5)))
    made.log("gpt-1", "1.0-0/1.out.0", b"A\nB\n", (0, at(2)), (2, at(4)))
    made.log("gpt-1", "1.0-0/1.err.0", b"oh\n", (0, at(4.5)))
    made.log("gpt-1", "1.1-1/1.out.0", b"again\n", (0, at(9)))


def test_ranks_are_merged_by_time_and_prefixed(phalanx, made):
    two_ranks(made)
    answer = phalanx("logs", "gpt-1")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "[0/0] a",
        "[1/1] A",
        "[0/0] b",
        "[1/1] B",
        "[1/1] oh",
        "[0/0] c",
        "[1/1] again",
    ]


def test_json_is_one_object_a_line(phalanx, made):
    two_ranks(made)
    lines = [json.loads(line) for line in phalanx("logs", "gpt-1", "--json").out.splitlines()]
    assert lines[4] == {
        "at": "2026-05-28T20:26:44.500Z",
        "slot": 1,
        "rank": 1,
        "stream": "err",
        "text": "oh",
    }


def test_only_a_slot_a_rank_an_attempt_or_the_last_lines(phalanx, made):
    two_ranks(made)
    assert phalanx("logs", "gpt-1", "--slot", "0").out.split()[1::2] == ["a", "b", "c"]
    assert phalanx("logs", "gpt-1", "--rank", "1", "--attempt", "1").out == "[1/1] again\n"
    assert phalanx("logs", "gpt-1", "--tail", "2").out == "[0/0] c\n[1/1] again\n"
    assert phalanx("logs", "gpt-1", "--tail", "0").out == ""


def test_a_job_without_logs_prints_nothing(phalanx, made):
    ended_job(made)
    assert phalanx("logs", "gpt-1") == (0, "", "")


def test_follow_goes_on_until_the_job_has_ended(phalanx, made):
    running_job(made)
    made.log("gpt-1", "0.0-1/0.out.0", b"one\ntw", (0, at(1)))

    def finish() -> None:
        made.log("gpt-1", "0.0-1/0.out.0", b"one\ntwo\nthree", (0, at(1)), (6, at(2)))
        made.put(record(phase=Phase.SUCCEEDED, ended_ns=at(30)))

    timer = threading.Timer(0.3, finish)
    timer.start()
    answer = phalanx("logs", "gpt-1", "--follow")
    timer.join()
    assert answer.out.splitlines() == ["[0/0] one", "[0/0] two", "[0/0] three"]


def lines(made, only: Filter | None = None) -> list[str]:
    folder = str(made.path / "jobs/gpt-1/logs")
    reader = LogReader(folder, only) if only else LogReader(folder)
    return [line.text for line in reader.read(last=True)]


def test_a_line_goes_on_over_segments_and_a_gap_is_told(made):
    made.log("gpt-1", "0.0-0/0.out.0", b"first\nhal", (0, at(1)))
    made.log("gpt-1", "0.0-0/0.out.1", b"f\ncut", (0, at(2)))
    made.log("gpt-1", "0.0-0/0.out.4", b"off\nlast\n", (0, at(3)))
    found = lines(made)
    assert found[:3] == ["first", "half", "cut"]
    assert "2 log segments were not kept" in found[3]
    assert found[4:] == ["off", "last"]


def test_the_time_of_a_line_is_that_of_its_first_byte(made):
    made.log("gpt-1", "0.0-0/0.out.0", b"abcd\nef\n", (0, at(1)), (2, at(2)), (5, at(3)))
    reader = LogReader(str(made.path / "jobs/gpt-1/logs"))
    assert [line.at_ns for line in reader.read(last=True)] == [at(1), at(3)]


def test_output_without_a_line_end_is_broken_into_pieces(made):
    made.log("gpt-1", "0.0-0/0.out.0", b"x" * (3 << 20), (0, at(1)))
    found = lines(made)
    assert sum(map(len, found)) == 3 << 20
    assert len(found) > 1
    assert LINE_MAX <= 1 << 20


def test_bytes_that_are_no_text_and_a_missing_index_are_survived(made):
    made.log("gpt-1", "0.0-0/0.out.0", b"\xff\xfe\r\nok\n")
    assert lines(made) == ["\ufffd\ufffd", "ok"]


def test_reading_again_gives_only_what_is_new(made):
    made.log("gpt-1", "0.0-0/0.out.0", b"a\nb", (0, at(1)))
    reader = LogReader(str(made.path / "jobs/gpt-1/logs"))
    assert [line.text for line in reader.read()] == ["a"]
    made.log("gpt-1", "0.0-0/0.out.0", b"a\nbc\nd\n", (0, at(1)), (3, at(2)))
    assert [line.text for line in reader.read()] == ["bc", "d"]
    assert [line.text for line in reader.read(last=True)] == []
