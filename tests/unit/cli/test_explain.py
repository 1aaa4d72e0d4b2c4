"""`phalanx explain`: words, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from phalanx.cli.explain import command
from phalanx.errors import InputError

CASES = Path(__file__).parents[2] / "cases" / "explain"


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, words, standalone_mode=False)
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exception is None
    return int(result.return_value), result.stdout


def test_text_says_what_to_do_first() -> None:
    code, text = run(str(CASES / "C20.events.json"))
    assert code == 0
    assert text.startswith("exp-031: restart 4 tasks as attempt 2\n")


def test_json_is_one_object_of_the_contract() -> None:
    code, text = run(str(CASES / "F05.events.json"), str(CASES / "F05.ckpt.json"), "--json")
    given = json.loads(text)
    assert code == 0
    assert given["schema"] == "phalanx.explain/1"
    assert given["decision"]["next"] == "succeeded"
    assert given["resume"] == {
        "root": "s3://example-ckpt/run-2/",
        "from": "step_002000",
        "refused": [],
    }
    assert given["summary"] == {"files": 2, "errors": 0, "warnings": 0, "infos": 2}


def test_a_folder_is_read_as_one_world(tmp_path: Path) -> None:
    for name in ("C25.asg-activity.json", "C25.service-events.json"):
        (tmp_path / name).write_bytes((CASES / name).read_bytes())
    (tmp_path / "broken.json").write_text("{")
    _, text = run(str(tmp_path), "--json")
    assert [f["slug"] for f in json.loads(text)["findings"]] == ["spot-quota-zero"]


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        run(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="no file"):
        run(str(tmp_path))
