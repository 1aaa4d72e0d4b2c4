from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import yaml

from phalanx.cli.plan_ask import interview
from phalanx.errors import InputError
from phalanx.plan.questions import QUESTIONS, Question
from phalanx.spec.load import load

WORKLOAD = "kind: workload\nname: w\nuse: training\nmodel: {parameters: 7B}\n"
JOB = "kind: train\nname: j\ncommand: [python, train.py]\nresources: {accelerator: 'H100:8'}\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "workload.yaml").write_text(WORKLOAD)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def test_json_is_one_object_and_nothing_else(phalanx, place: Path) -> None:
    answer = phalanx("plan", str(place / "workload.yaml"), "--json")
    assert (answer.code, answer.err) == (0, "")
    made = json.loads(answer.out)
    assert next(iter(made)) == "schema"
    assert made["schema"] == "phalanx.plan/1"
    wanted = "decisions parallelism capacity checkpoint cost findings route_out"
    assert set(wanted.split()) <= set(made)
    assert made["checkpoint"]["interval_s"] > 0


def test_text_is_a_page(phalanx, place: Path) -> None:
    answer = phalanx("plan", str(place / "job.yaml"))
    assert answer.code == 0
    assert answer.out.startswith("# Plan: j (training)")
    assert "## Assumptions" in answer.out
    assert "The size of the model is not said" in answer.out


def test_a_job_file_and_a_workload_file_make_one_plan(phalanx, place: Path) -> None:
    files = str(place / "job.yaml"), str(place / "workload.yaml")
    made = json.loads(phalanx("plan", *files, "--json").out)
    assert made["capacity"]["groups"][0]["instance_type"] == "p5.48xlarge"
    assert made["parallelism"]["model"]["parameters"] == 7 * 10**9


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: workload\nname: w\nuse: sleep\n", ":3:6: use cannot be 'sleep'"),
        (WORKLOAD + "run: {duraton: 3d}\n", ":5:7: run has no field 'duraton' (did you mean"),
        (WORKLOAD + "run: {duration: 3}\n", ":5:17: run.duration needs a unit"),
        ("kind: workload\nname: w\nuse: training\nmodel: {parameters: big}\n", ":4:21:"),
        ("kind: train\nname: j\n", ": command is missing"),
        (WORKLOAD + "price: {low: 3, high: 3, currency: USD, source: s, date: '2026-01-01'}\n",
         ":5:17: price.high must be above price.low"),
        ("apiVersion: v1\nkind: Pod\n", "this is a Kubernetes manifest"),
        ("", "is empty"),
        ("kind: [\n", ":"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line_with_its_place(
    phalanx, tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text)
    answer = phalanx("plan", str(file))
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert answer.err.startswith(f"phalanx: {file}")
    assert says in answer.err


def test_the_words_of_the_command_are_checked(phalanx, place: Path) -> None:
    job = str(place / "job.yaml")
    for words in ((), (job, "--ask"), (job, job), (str(place / "none.yaml"),)):
        answer = phalanx("plan", *words)
        assert answer.code == 2
        assert answer.err.count("\n") == 1


def test_run_says_which_verb_reads_a_workload(phalanx, place: Path) -> None:
    answer = phalanx("run", str(place / "workload.yaml"))
    assert answer.code == 2
    assert "phalanx plan reads it" in answer.err


def told(**answers: str):
    """Answers by path; everything else is left empty."""

    def ask(question: Question) -> str:
        return answers.get(question.path.replace(".", "_"), "")

    return ask


def test_an_interview_writes_a_workload_and_a_job_that_load(tmp_path: Path) -> None:
    answers = told(name="llama", model_parameters="70B", run_duration="21d", run_market="spot")
    files = interview(str(tmp_path / "new"), answers)
    assert files == (str(tmp_path / "new" / "workload.yaml"),)
    job = load(tmp_path / "new" / "job.yaml").spec
    assert job.name == "llama"
    assert job.nodes is not None
    assert job.nodes.max > 1
    assert job.resources is not None
    assert job.resources.efa
    assert job.target is not None
    assert job.target.capacity is not None
    assert job.target.capacity.market == "spot"


def test_inference_makes_no_job_file(tmp_path: Path) -> None:
    interview(str(tmp_path), told(use="inference", team_self_host="no", serving_own_weights="no"))
    assert not (tmp_path / "job.yaml").exists()
    said = yaml.safe_load((tmp_path / "workload.yaml").read_text())
    assert said["team"]["self_host"] is False
    with pytest.raises(InputError, match="exists already"):
        interview(str(tmp_path), told())


def test_a_wrong_answer_is_asked_again_and_then_given_up(tmp_path: Path, capsys) -> None:
    asked: list[str] = []

    def ask(question: Question) -> str:
        asked.append(question.path)
        return "lots" if question.path == "model.parameters" else ""

    with pytest.raises(InputError, match="no usable answer"):
        interview(str(tmp_path), ask)
    assert asked.count("model.parameters") == 3
    assert "is not a number" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_terminal_asks_and_plans(phalanx, tmp_path: Path, monkeypatch) -> None:
    typed = ["serve-it", "inference", *[""] * (len(QUESTIONS) - 2)]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed) + "\n"))
    answer = phalanx("plan", "--ask", "--to", str(tmp_path), "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["name"] == "serve-it"
    assert "What does it do" in answer.err


def test_an_interview_without_a_reader_ends_in_one_line(
    phalanx, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    answer = phalanx("plan", "--ask", "--to", str(tmp_path))
    assert answer.code == 2
    assert "no answer to" in answer.err


def test_answers_that_cannot_be_written_are_told(phalanx, tmp_path: Path, monkeypatch) -> None:
    typed = ["serve-it", "inference", *[""] * (len(QUESTIONS) - 2)]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed) + "\n"))
    (tmp_path / "file").touch()
    answer = phalanx("plan", "--ask", "--to", str(tmp_path / "file"))
    assert answer.code == 4
    assert answer.err.endswith(
        f"cannot be written: {tmp_path}/file is no folder (name another place)\n"
    )
