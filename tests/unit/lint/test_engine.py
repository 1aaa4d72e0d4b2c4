"""Crashes, waivers, severities, repairs, order."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from phalanx.cli.lint import command
from phalanx.errors import InputError, SpecError
from phalanx.lint import waive
from phalanx.lint.collect import collect, config
from phalanx.lint.engine import check, lint
from phalanx.lint.fixes import difference, repaired
from phalanx.lint.readers.detect import read_world
from phalanx.lint.rule import Found, Hit, Rule, Severity, rule
from phalanx.lint.source import SourceFile
from phalanx.lint.workload import Container, TaskDefinition
from phalanx.lint.world import World
from tests.support.linting import environment, report, task


def _rule(check_, on=TaskDefinition, severity="error", id="TST001"):  # type: ignore[no-untyped-def]
    made: Rule[TaskDefinition] = rule(
        id=id,
        slug=id.lower(),
        severity=severity,
        areas=("host",),
        on=on,
        message="m",
        why="w",
        fix="f",
        sources=(("https://example.com", "undated"),),
    )(check_)
    return made


def _world(text: str) -> World:
    return World(read_world([SourceFile("t.json", text)])[0])


def test_a_rule_that_crashes_is_a_finding_and_hides_nothing() -> None:
    def bad(entity: TaskDefinition, world: World) -> Found:
        yield Hit(entity, "family")
        raise ZeroDivisionError("x")

    def good(entity: TaskDefinition, world: World) -> Found:
        yield Hit(entity, "cpu")

    findings = check(_world(task()), [_rule(bad), _rule(good, id="TST002")])
    assert [(f.rule, f.where) for f in findings] == [
        ("TST001", "family"),
        ("PHX001", ""),
        ("TST002", "cpu"),
    ]
    assert findings[1].severity is Severity.WARNING
    assert "TST001" in findings[1].message


def test_a_hit_can_soften_but_not_harden() -> None:
    def soft(entity: TaskDefinition, world: World) -> Found:
        yield Hit(entity, "family", severity="info")
        yield Hit(entity, "cpu", severity="error")

    findings = check(_world(task()), [_rule(soft, severity="warning")])
    assert [f.severity.value for f in findings] == ["info", "warning"]


def test_one_rule_speaks_once_of_one_place() -> None:
    def twice(entity: TaskDefinition, world: World) -> Found:
        yield Hit(entity, "family", "first")
        yield Hit(entity, "family", "second")

    assert [f.message for f in check(_world(task()), [_rule(twice)])] == ["first"]


YAML = """Resources:
  P:
    Type: AWS::ECS::CapacityProvider
    Properties:
      Name: gpu
      AutoScalingGroupProvider:
        AutoScalingGroupArn: x
{above}        ManagedTerminationProtection: DISABLED{beside}
"""


@pytest.mark.parametrize(
    ("above", "beside"),
    [
        ("", "  # phalanx: ignore CAP004 scale-in is done by hand"),
        ("        # phalanx: ignore termination-protection-off: by hand\n", ""),
        ("        # phalanx: ignore CAP004, CAP003 by hand\n", ""),
    ],
)
def test_a_comment_with_a_reason_waives(above: str, beside: str) -> None:
    got = report(("t.yaml", YAML.format(above=above, beside=beside)))
    assert [f.slug for f in got.findings if f.severity is not Severity.INFO] == []
    assert [(f.rule, "by hand" in f.waived_because) for f in got.waived] == [("CAP004", True)]


def test_a_comment_above_a_block_covers_the_block() -> None:
    text = YAML.format(above="", beside="").replace("  P:", "  # phalanx: ignore CAP004 why\n  P:")
    assert report(("t.yaml", text)).findings == ()


def test_a_comment_without_a_reason_waives_nothing_and_is_a_finding() -> None:
    got = report(("t.yaml", YAML.format(above="", beside="  # phalanx: ignore CAP004")))
    assert [f.slug for f in got.findings] == ["waiver-without-reason", "termination-protection-off"]
    assert (got.findings[0].line, got.findings[0].where) == (8, "line 8")
    assert got.waived == ()


def test_a_waiver_that_covers_nothing_is_said() -> None:
    text = YAML.format(above="", beside="").replace("DISABLED", "ENABLED")
    got = report(("t.yaml", "# phalanx: ignore CAP004 why\n" + text))
    assert [(f.slug, f.severity.value) for f in got.findings] == [("waiver-unused", "info")]


def test_a_config_waives_by_path() -> None:
    files = [SourceFile("infra/a.json", task(environment(NCCL_PROTO="simple")))]
    waivers = waive.from_config(
        {"waive": [{"rule": "NCC001", "path": "infra/*.json", "reason": "old"}]}, "phalanx.toml"
    )
    assert [f.rule for f in lint(files, waivers=waivers).waived] == ["NCC001"]
    other = waive.from_config({"waive": [{"rule": "NCC001", "path": "b/*", "reason": "x"}]}, "c")
    assert [f.rule for f in lint(files, waivers=other).findings] == ["NCC001"]
    idle = waive.from_config({"waive": [{"rule": "EFA001", "reason": "x"}]}, "c")
    assert [f.rule for f in lint(files, waivers=idle).findings] == ["NCC001", "PHX003"]
    none = waive.from_config({"waive": [{"rule": "NCC001"}]}, "c")
    found = lint(files, waivers=none).findings
    assert [f.rule for f in found] == ["NCC001", "PHX002"]
    assert found[1].where == "waive[0]"


@pytest.mark.parametrize(
    "bad", [{"waive": 1}, {"waive": [1]}, {"waive": [{"rule": 1}]}, {"waive": [{"x": "y"}]}]
)
def test_a_wrong_config_is_refused(bad: object) -> None:
    with pytest.raises(InputError):
        waive.from_config(bad, "phalanx.toml")


def test_a_safe_repair_is_a_diff_of_one_scalar(tmp_path: Path) -> None:
    def repair(entity: Container, world: World) -> Found:
        yield Hit(entity, "name", replace=("name", "b"))
        yield Hit(entity, "memory", replace=("memory", 16))

    text = task().replace('"name": "main"', '"name":  "main"')
    rules = [_rule(repair, on=Container)]
    got = lint([SourceFile("t.json", text)], rules=rules)
    changed = repaired(got)
    assert changed == {"t.json": text.replace('"main"', '"b"').replace("8000", "16")}
    assert difference(got, changed).startswith("--- a/t.json\n+++ b/t.json\n")


def test_a_repair_in_yaml_and_hcl() -> None:
    def repair(entity: TaskDefinition, world: World) -> Found:
        yield Hit(entity, "networkMode", replace=("networkMode", "host"))

    rules = [_rule(repair)]
    hcl = 'resource "aws_ecs_task_definition" "t" {\n  network_mode = "awsvpc" # é\n}\n'
    got = lint([SourceFile("m.tf", hcl)], rules=rules)
    assert repaired(got) == {"m.tf": hcl.replace("awsvpc", "host")}
    template = (
        "Resources:\n  T:\n    Type: AWS::ECS::TaskDefinition\n"
        "    Properties:\n      NetworkMode: awsvpc # why\n"
    )
    got = lint([SourceFile("t.yaml", template)], rules=rules)
    assert repaired(got) == {"t.yaml": template.replace("awsvpc", "host")}
    computed = hcl.replace('"awsvpc"', "var.mode")
    assert repaired(lint([SourceFile("m.tf", computed)], rules=rules)) == {}


def test_files_below_a_folder_that_are_of_no_kind_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "broken.yaml").write_text("a: [")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_text("{")
    (tmp_path / "t.json").write_text(task(environment(NCCL_PROTO="simple")))
    got = lint(collect([str(tmp_path)]))
    assert [f.slug for f in got.findings] == ["nccl-proto-legacy"]
    assert got.files == 1
    assert len(got.skipped) == 2


def test_the_verb_exits_by_the_threshold(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(task(environment(NCCL_PROTO="simple")))

    def code(*words: str) -> int:
        result = CliRunner().invoke(command, [str(path), *words], standalone_mode=False)
        assert result.exception is None
        return int(result.return_value)

    assert code() == 0
    assert code("--fail-on", "warning") == 1
    assert code("--json", "--fail-on", "info") == 1


def test_the_config_of_a_folder_is_read(tmp_path: Path) -> None:
    assert config(str(tmp_path)) == ([], "phalanx.toml")
    (tmp_path / "phalanx.toml").write_text('[[waive]]\nrule = "A"\nreason = "b"\n')
    waivers, name = config(str(tmp_path))
    assert [w.rule for w in waivers] == ["A"]
    assert name.endswith("phalanx.toml")
    (tmp_path / "phalanx.toml").write_text("[[waive")
    with pytest.raises(InputError):
        config(str(tmp_path))


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ('"x"', "t.json:1:26: containerDefinitions is not a list of containers"),
        ('{"name": "a"}', "t.json:1:26: containerDefinitions is not a list of containers"),
        ('[{"name": "a"}, 1]', "t.json:1:42: containerDefinitions[1] is not a container"),
    ],
)
def test_containers_that_are_none_are_refused(held: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        report(("t.json", f'{{"containerDefinitions": {held}}}'))
    assert caught.value.line().startswith(said)
