import dataclasses

import pytest

from phalanx.frozen import FrozenError, field_names, frozen, replace
from phalanx.state import codec
from phalanx.state.record import Seat


@frozen
class Point:
    x: int
    y: int = 2


@frozen
class Other:
    x: int
    y: int = 2


def test_constructor_takes_positions_names_and_defaults():
    assert (Point(1).x, Point(1).y) == (1, 2)
    assert Point(x=1, y=3) == Point(1, 3)
    with pytest.raises(TypeError, match="missing"):
        Point()
    with pytest.raises(TypeError, match="z"):
        Point(1, z=3)


def test_equality_and_hash_are_by_class_and_value():
    assert Point(1) == Point(1)
    assert Point(1) != Point(2)
    assert Point(1) != Other(1)
    assert len({Point(1), Point(1), Other(1)}) == 2


def test_nothing_can_be_assigned_or_deleted():
    with pytest.raises(FrozenError, match=r"Point\.x cannot be changed"):
        Point(1).x = 2
    with pytest.raises(FrozenError):
        del Point(1).x


def test_replace_copies_and_refuses_unknown_names():
    assert replace(Point(1), y=5) == Point(1, 5)
    with pytest.raises(TypeError, match="z"):
        replace(Point(1), z=5)


def test_repr_reads_like_the_constructor():
    assert repr(Point(1)) == "Point(x=1, y=2)"


def test_dataclasses_tools_work_too():
    assert dataclasses.is_dataclass(Seat)
    assert dataclasses.replace(Seat(1), tries=2) == Seat(1, tries=2)
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2}
    assert [f.name for f in dataclasses.fields(Point)] == ["x", "y"]


def test_codec_round_trip():
    assert field_names(Seat(1)) is not None
    assert codec.loads(Seat, codec.dumps(Seat(1, launched_ns=5))) == Seat(1, launched_ns=5)
    with pytest.raises(ValueError, match="not a Seat"):
        codec.loads(Seat, b"[1]")
