from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx.spec.units import DURATION, SIZE, duration_s, size_mib
from phalanx.spec.wrong import Wrong


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("24h", 86_400),
        ("30d", 2_592_000),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("1.5h", 5400),
        ("250ms", 0.25),
        (" 5s ", 5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds
    assert re.match(DURATION, text.strip())


@pytest.mark.parametrize(
    "value",
    [
        *("", "s", "5", "5x", "-5s", "5 s", "1m30", "0s", "9e9s", "9999999d"),
        5,
        1.5,
        True,
        None,
        [],
        {},
    ],
)
def test_no_durations(value: object) -> None:
    with pytest.raises(Wrong):
        duration_s(value)


@pytest.mark.parametrize(
    ("text", "mib"),
    [("512MiB", 512), ("64GiB", 65_536), ("1.5GiB", 1536), ("2TiB", 2_097_152), ("2048KiB", 2)],
)
def test_sizes(text: str, mib: int) -> None:
    assert size_mib(text) == mib
    assert re.match(SIZE, text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("8GB", "write 8GiB"),
        ("8G", "write 8GiB"),
        ("512Mi", "write 512MiB"),
        ("512mib", "write 512MiB"),
        ("much", "write 512MiB or 64GiB"),
    ],
)
def test_a_size_that_is_nearly_right_is_shown_right(text: str, hint: str) -> None:
    with pytest.raises(Wrong) as caught:
        size_mib(text)
    assert caught.value.hint == hint


@pytest.mark.parametrize("value", ["0MiB", "1KiB", "1.0001MiB", "9999999TiB", 8, True, None])
def test_no_sizes(value: object) -> None:
    with pytest.raises(Wrong):
        size_mib(value)


@given(hours=st.integers(0, 80_000), minutes=st.integers(0, 59), seconds=st.integers(1, 59))
def test_parts_of_a_duration_add_up(hours: int, minutes: int, seconds: int) -> None:
    expected = hours * 3600 + minutes * 60 + seconds
    assert duration_s(f"{hours}h{minutes}m{seconds}s") == expected
