"""The interview of `phalanx plan --ask`: asks, checks each answer, writes the files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import yaml

from phalanx.cli.options import note
from phalanx.errors import InputError, SpecError
from phalanx.plan.design import design
from phalanx.plan.questions import QUESTIONS, Question, job_file, workload_file
from phalanx.plan.resolve import resolve
from phalanx.spec.load_workload import load_workload

Ask = Callable[[Question], str]
"""Puts one question and returns what was typed. Raises `EOFError` when nobody answers."""
TRIES = 3
"""Wrong answers to one question before the interview gives up."""
WORKLOAD, JOB = "workload.yaml", "job.yaml"


def terminal(question: Question) -> str:
    """Ask on standard error, read from standard input."""
    shown = f" [{question.default}]" if question.default else ""
    print(f"{question.text}{shown}: ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def interview(folder: str, ask: Ask = terminal) -> tuple[str, ...]:
    """Ask everything, write workload.yaml and, for a training, job.yaml; the files to plan from.

    Raises `InputError` when the answers end early or files are there already.
    """
    paths = [os.path.join(folder, name) for name in (WORKLOAD, JOB)]
    for path in paths:
        if os.path.lexists(path):
            raise InputError(f"{path} exists already", hint="name another folder with --to")
    answers = _answers(ask)
    text = _yaml(workload_file(answers))
    _write(paths[0], text)
    job = _job(text)
    if job:
        _write(paths[1], _yaml(job))
    note(f"wrote {' and '.join(paths if job else paths[:1])}")
    return (paths[0],)


def _answers(ask: Ask) -> dict[str, str]:
    answers: dict[str, str] = {}
    for question in QUESTIONS:
        if question.when(answers):
            answers[question.path] = _answer(question, answers, ask)
    return answers


def _answer(question: Question, answers: dict[str, str], ask: Ask) -> str:
    for _ in range(TRIES):
        try:
            said = ask(question) or question.default
        except EOFError:
            raise InputError(
                f"no answer to: {question.text}", hint="run it in a terminal"
            ) from None
        wrong = _wrong({**answers, question.path: said})
        if not wrong:
            return said
        note(wrong)
    raise InputError(f"no usable answer to: {question.text}")


def _wrong(answers: dict[str, str]) -> str:
    """What is wrong with the answers so far; empty when nothing is."""
    made = {"use": "training", **workload_file(answers)}
    try:
        load_workload(_yaml(made), WORKLOAD)
    except SpecError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message
    return ""


def _job(text: str) -> dict[str, Any] | None:
    spec = load_workload(text, WORKLOAD)
    if spec.use != "training":
        return None
    made = design(resolve(None, spec))
    row, nodes = made.sized.instance, made.sized.nodes
    each = -(-made.sized.devices // nodes) if row else 0
    # An accelerator's name is one word in a job file; a type's name always is.
    name = "" if row is None else f"{row.accelerator if row.accelerator.isalnum() else row.name}"
    return job_file(
        spec.name,
        f"{name}:{max(each, 1)}" if name else "",
        nodes,
        efa=nodes > 1 and bool(row and row.efa),
        spot=made.chosen.capacity == "spot-group",
    )


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False)


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        from phalanx.store.refusals import unwritable

        raise unwritable(error, path) from error
