"""Values of the shell's secrets are kept out of the record and the snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.app.exposure import check_words, known_secrets, notes
from phalanx.app.submit import _left_out_by_default
from phalanx.plan.build import DEFAULT_EXCLUDE
from phalanx.plan.job import JobPlan, Secret
from phalanx.snapshot.secrets import Suspicion
from phalanx.spec.places import dotted

SECRETS = (Secret("MINE", "env", "THEIRS"), Secret("PIN", "env", "PIN"), Secret("S", "ssm", "S"))
ENVIRON = {"THEIRS": "horse-battery", "TEAM_API_KEY": "0123456789abcdef01", "PIN": "123"}


def plan(**changes: object) -> JobPlan:
    values = {"name": "mine", "command": ("python", "t.py"), "secrets": SECRETS, **changes}
    return JobPlan(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "changes"),
    [
        ("command[2]", {"command": ("python", "t.py", "--x=horse-battery")}),
        ("env.X", {"env": (("X", "a horse-battery b"),)}),
        ("source", {"source": "/srv/horse-battery"}),
    ],
)
def test_a_known_value_in_the_plan_is_refused(where: str, changes: dict[str, object]) -> None:
    found = check_words(plan(**changes), known_secrets(plan(), ENVIRON))
    assert found is not None
    line = found[1].line()
    assert dotted(found[0]) == where
    assert line.startswith(f"{where} holds the value of MINE")
    assert "horse" not in line.replace(where, "")


def test_undeclared_values_are_known_by_the_name_of_their_variable() -> None:
    known = known_secrets(plan(), ENVIRON)
    assert known.holds_value(b"key = 0123456789abcdef01") == "TEAM_API_KEY"
    assert known_secrets(plan(), {"DB_PASSWORD": "postgres"}).holds_value(b"postgres") == ""
    assert check_words(plan(), known) is None


def test_what_was_left_out_and_what_cannot_be_hidden_is_told() -> None:
    left = [Suspicion(f"f{n}", 1, "a private key", is_whole=True) for n in range(7)]
    first, second = notes(plan(), ENVIRON, left)
    assert first.startswith("not shipped, for they hold secrets: f0 (a private key), f1")
    assert first.endswith('and 2 more; exclude: ["!/f0"] ships one')
    assert second == "secret PIN has fewer than 4 characters: it cannot be hidden in logs"
    assert notes(plan(secrets=()), ENVIRON, ()) == []


def test_files_that_the_usual_patterns_leave_out_are_named(tmp_path: Path) -> None:
    (tmp_path / "data.pt").touch()
    (tmp_path / "data.csv").touch()
    (line,) = _left_out_by_default(str(tmp_path), DEFAULT_EXCLUDE)
    assert line.startswith("not shipped: data.pt (")
    assert _left_out_by_default(str(tmp_path), (".git",)) == ()
    (tmp_path / "data.pt").unlink()
    assert _left_out_by_default(str(tmp_path), DEFAULT_EXCLUDE) == ()
