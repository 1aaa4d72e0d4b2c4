from pathlib import Path

import pytest

from phalanx.app.preflight import check_command
from phalanx.plan.job import JobPlan


def plan(tmp_path: Path, *command: str, **values) -> JobPlan:
    (tmp_path / "train.py").write_text("")
    (tmp_path / "run.sh").write_text("")
    (tmp_path / "run.sh").chmod(0o755)
    return JobPlan(name="a", command=command, source=str(tmp_path), **values)


@pytest.mark.parametrize(
    "command",
    [
        ("python", "train.py"),
        ("python3", "-u", "train.py", "--steps", "3"),
        ("python", "-m", "anything"),
        ("python", "-c", "print(1)"),
        ("sh", "-c", "exit 0"),
        ("./run.sh",),
        ("/bin/sh", "run.sh"),
    ],
)
def test_what_can_be_started_passes(tmp_path, command):
    assert check_command(plan(tmp_path, *command), {"PATH": "/usr/bin:/bin"}) is None


@pytest.mark.parametrize(
    ("command", "index", "line"),
    [
        (("pyhton", "x.py"), 0, "the program 'pyhton' is not to be found (did you mean 'python'?)"),
        (("no-such-thing",), 0, "the program 'no-such-thing' is not to be found (is it on PATH?)"),
        (("./gone.sh",), 0, "the program './gone.sh' is not to be found"),
        (("./train.py",), 0, "is it in the source, and executable?"),
        (("python", "-u", "trian.py"), 2, "no file 'trian.py' (did you mean 'train.py'?)"),
        (("python", "sub/other.py"), 1, "no file 'sub/other.py' (the source is"),
    ],
)
def test_what_cannot_be_started_is_told_with_its_place(tmp_path, command, index, line):
    found = check_command(plan(tmp_path, *command), {"PATH": "/usr/bin:/bin"})
    assert found is not None
    assert found[0] == index
    assert line in found[1].line()


def test_a_working_directory_outside_the_source_is_told(tmp_path):
    found = check_command(plan(tmp_path, "python", "a.py", working_directory="sub"), {})
    assert found is not None
    assert found[1].line().startswith("working_directory: 'sub' is not a folder of the source")


def test_without_a_source_only_the_program_is_looked_for():
    alone = JobPlan(name="a", command=("python", "anything.py"))
    assert check_command(alone, {"PATH": "/bin"}) is None
