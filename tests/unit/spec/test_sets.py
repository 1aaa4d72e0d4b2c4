from __future__ import annotations

from typing import Any

import pytest

from phalanx.errors import InputError, SpecError
from phalanx.spec.load import load

JOB = """\
kind: train
name: a
command: [python, t.py]
env: &e {A: "1"}
stop: {grace: 90s}
"""


def changed(*sets: str) -> dict[str, Any]:
    return load(JOB, "job.yaml", sets).spec.model_dump(mode="json", exclude_none=True)


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ("name=b-2", "name", "b-2"),
        ("resources.cpus=2", "resources", {"cpus": 2.0}),
        ("resources.efa=yes", "resources", {"efa": True}),
        ("env.FOO=bar", "env", {"A": "1", "FOO": "bar"}),
        ("env.A=1.10", "env", {"A": "1.10"}),
        ("env.A=a: b #c", "env", {"A": "a: b #c"}),
        ("env.A='x'", "env", {"A": "x"}),
        ("env.A=", "env", {"A": ""}),
        ("env.A=b=c", "env", {"A": "b=c"}),
        ("command[1]=x.py", "command", ["python", "x.py"]),
        ("command[2]=7", "command", ["python", "t.py", "7"]),
        ("command=[sh, -c, ls]", "command", ["sh", "-c", "ls"]),
        ("nodes={min: 2, max: 2}", "nodes", {"min": 2, "max": 2}),
        ("stop.grace=2m", "stop", {"grace_s": 120.0}),
        ("restart[0]={on: [Hang]}", "restart", [{"on": ["Hang"]}]),
        ("warm[0]=numpy", "warm", ["numpy"]),
    ],
)
def test_change(change: str, field: str, value: object) -> None:
    assert changed(change)[field] == value


def test_later_changes_win_and_null_takes_a_value_back() -> None:
    assert changed("nodes=2", "nodes=3")["nodes"] == {"min": 3, "max": 3}
    assert "stop" not in changed("stop=null")
    assert "stop" not in changed("stop=")


def test_an_aliased_value_changes_in_one_place_only() -> None:
    text = "kind: train\nname: a\ncommand: &c [x, y]\nexclude: *c\n"
    spec = load(text, "job.yaml", ["command[1]=z"]).spec
    assert spec.command == ("x", "z")
    assert spec.exclude == ("x", "y")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("x", "--set 'x': is not path=value (write resources.cpus=2)"),
        ("=1", "--set '': is not path=value (write resources.cpus=2)"),
        ("a b=1", "--set 'a b': is not path=value (write resources.cpus=2)"),
        ("a..b=1", "--set 'a..b': is not path=value (write resources.cpus=2)"),
        ("[0]=1", "--set '[0]': is not path=value (write resources.cpus=2)"),
        (
            "resource.cpus=2",
            "--set resource.cpus: a job file has no field 'resource' (did you mean resources?)",
        ),
        (
            "resources.cpu=2",
            "--set resources.cpu: resources has no field 'cpu' (did you mean resources.cpus?)",
        ),
        (
            "gpus=2",
            "--set gpus: a job file has no field 'gpus' (did you mean resources.accelerator?)",
        ),
        ("command[5]=x", "--set command[5]: command has 2 items (the next new one is [2])"),
        ("command.x=1", "--set command.x: command is a list, not a mapping"),
        ("name.x=1", "--set name.x: name is text, not a mapping"),
        ("name[0]=1", "--set name[0]: name is text, not a list"),
        (
            "nodes.min=2",
            "--set nodes.min: nodes.max is missing (write nodes: {min: 2, max: 4})",
        ),
        ("nodes=0", "--set nodes: must be at least 1, not 0"),
        ("nodes=[1", "--set nodes: the value is not YAML: a [ is not closed with ]"),
        (
            "stop.grace=5",
            "--set stop.grace: needs a unit (write 5s for seconds or 5m for minutes)",
        ),
        (
            "exclude=[*x]",
            "--set exclude: the alias *x names no anchor above it"
            " (mark a value above with &x, or put text with * in quotes)",
        ),
        (
            "kind=serve",
            "--set kind: kind serve comes with a later release (this release runs kind train)",
        ),
        ("env.RANK=1", "--set env.RANK: phalanx sets RANK itself (remove it)"),
    ],
)
def test_refusal(change: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        changed(change)
    assert caught.value.line() == line
    assert caught.value.exit_code == 2


def test_a_mistake_of_the_file_keeps_its_place_beside_a_change() -> None:
    with pytest.raises(SpecError) as caught:
        load(JOB + "nodes: 0\n", "job.yaml", ["resources.cpus=2"])
    assert caught.value.line() == "job.yaml:6:8: nodes must be at least 1, not 0"
    assert load(JOB + "nodes: 0\n", "job.yaml", ["nodes=1"]).spec.nodes is not None
