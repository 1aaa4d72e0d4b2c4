"""`lint`, `rules` and `facts` as a person calls them: output and exit codes."""

from __future__ import annotations

import json

from tests.support.linting import environment, task


def test_nothing_found_is_zero(phalanx, tmp_path):
    file = tmp_path / "t.json"
    file.write_text(task())
    answer = phalanx("lint", str(file))
    assert answer.code == 0
    assert answer.err == ""


def test_an_error_is_one_and_a_warning_only_if_asked(phalanx, tmp_path):
    error, warning = tmp_path / "e.json", tmp_path / "w.json"
    error.write_text(task(environment(HF_TOKEN="hf_abcdefghijklmnopqrst")))
    warning.write_text(task({"image": "a:latest"}))
    answer = phalanx("lint", str(error))
    assert answer.code == 1
    assert "secret-in-env" in answer.out
    assert "hf_abcdefghijklmnopqrst" not in answer.out
    assert phalanx("lint", str(warning)).code == 0
    assert phalanx("lint", str(warning), "--fail-on", "warning").code == 1


def test_json_and_sarif_are_nothing_but_json(phalanx, tmp_path):
    (tmp_path / "w.json").write_text(task({"image": "a:latest"}))
    made = json.loads(phalanx("lint", str(tmp_path), "--json").out)
    assert made["schema"] == "phalanx.lint/1"
    assert [f["rule"] for f in made["findings"]] == ["SEC012"]
    assert json.loads(phalanx("lint", str(tmp_path), "--format", "sarif").out)["version"] == "2.1.0"


def test_bad_input_is_two_with_one_line(phalanx, tmp_path):
    evidence, broken = tmp_path / "events.json", tmp_path / "t.json"
    evidence.write_text(
        '{"source": "aws.ecs", "detail-type": "ECS Task State Change", "detail": {}}'
    )
    broken.write_text('{"family": ')
    for path in (tmp_path / "absent.json", evidence, broken):
        answer = phalanx("lint", str(path))
        assert answer.code == 2
        assert answer.out == ""
        assert len(answer.err.splitlines()) == 1
        assert path.name in answer.err


def test_rules_and_facts(phalanx):
    assert "SB3" in phalanx("rules", "show", "SEC012").out
    assert phalanx("rules", "show", "NO999").code == 2
    assert "H100" in phalanx("facts", "show", "p5.48xlarge").out
    assert phalanx("facts", "show", "nothing").code == 2
    listed = json.loads(phalanx("facts", "list", "--json").out)
    assert {"schema", "rows"} == set(listed)
    assert len(listed["rows"]) == len(phalanx("facts", "list").out.splitlines())
