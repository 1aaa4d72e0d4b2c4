"""Whatever the input is, the answer is a spec or one line; never another exception."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx.errors import InputError, PlanError
from phalanx.plan.build import build_plan
from phalanx.spec.load import load
from phalanx.spec.shape import elsewhere

FULL = (Path(__file__).parents[2] / "golden" / "spec" / "full.yaml").read_text()
FIELDS = [*elsewhere(), *elsewhere().values()]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["auto", "90s", "2GiB", "gpu:2", "Hang", "restart", "watch", "ecs", "train"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def answer(text: str | bytes, file: str, sets: tuple[str, ...] = ()) -> None:
    try:
        build_plan(load(text, file, sets).spec)
    except (InputError, PlanError) as error:
        line, code = error.line(), error.exit_code
        assert len(line.splitlines()) == 1
        assert line.isprintable()
        assert code in (2, 3)
        assert "pydantic" not in line
        assert "Traceback" not in line


@quick
@given(st.binary(max_size=60), st.sampled_from(["a.json", "a.yaml"]))
def test_any_bytes(raw: bytes, file: str) -> None:
    answer(raw, file)


@quick
@given(st.text(max_size=60), st.sampled_from(["a.json", "a.yaml"]))
def test_any_text(text: str, file: str) -> None:
    answer(text, file)


@quick
@given(st.text(alphabet="[]{}:,-&*!<>#|%?'\"\\ \n\tab1~.", max_size=60))
def test_any_punctuation(text: str) -> None:
    answer(text, "a.yaml")
    answer(text, "a.json")


@quick
@given(st.integers(0, len(FULL)), st.integers(0, 12), st.text(max_size=4))
def test_a_job_file_with_a_piece_replaced(start: int, length: int, piece: str) -> None:
    answer(FULL[:start] + piece + FULL[start + length :], "a.yaml")


@quick
@given(st.dictionaries(st.sampled_from(FIELDS), values, max_size=4))
def test_any_values_in_known_fields(members: dict[str, object]) -> None:
    job = {"kind": "train", "name": "a", "command": ["x"], **members}
    answer(json.dumps(job), "a.json")


@quick
@given(
    st.sampled_from(FIELDS) | st.text(max_size=10),
    st.sampled_from(["", "[0]", ".x", ".A"]),
    st.text(max_size=20),
)
def test_any_change(path: str, below: str, value: str) -> None:
    answer("kind: train\nname: a\ncommand: [x]\n", "a.yaml", (f"{path}{below}={value}",))
