"""`phalanx plan FILE...` and `phalanx plan --ask`."""

from __future__ import annotations

from pathlib import Path

import click

from phalanx.cli.options import json_option, out, out_json
from phalanx.errors import InputError
from phalanx.plan.design import Design, design
from phalanx.plan.page import page
from phalanx.plan.resolve import resolve
from phalanx.plan.view import view
from phalanx.spec.job import JobSpec
from phalanx.spec.load import check, read_document
from phalanx.spec.load_workload import check_workload
from phalanx.spec.workload import WorkloadSpec


@click.command("plan")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--ask", is_flag=True, help="Ask in the terminal, write the answers, then plan.")
@click.option("--to", "folder", default=".", metavar="FOLDER", help="Where --ask writes.")
@json_option
def command(files: tuple[str, ...], ask: bool, folder: str, as_json: bool) -> int:
    """What to run a workload on: five decisions with reasons and sources, and what follows.

    FILE is a job file (kind: train), a workload file (kind: workload), or one of each. A job file
    alone gives a plan too; what it does not say is assumed and named.
    """
    if ask == bool(files):
        hint = "phalanx plan job.yaml, or phalanx plan --ask"
        raise InputError("give files or --ask, one of the two", hint=hint)
    if ask:
        from phalanx.cli.plan_ask import interview

        files = interview(folder)
    made = planned(files)
    out_json(view(made)) if as_json else out(page(made).rstrip("\n"))
    return 0


def planned(files: tuple[str, ...]) -> Design:
    """The plan of a job file, a workload file, or one of each. Raises `InputError`."""
    job: JobSpec | None = None
    workload: WorkloadSpec | None = None
    for file in files:
        document = read_document(Path(file))
        value = document.value
        if isinstance(value, dict) and value.get("kind") == "workload":
            if workload:
                raise InputError(f"{file}: is the second workload file", hint="give one")
            workload = check_workload(document)
        else:
            if job:
                raise InputError(f"{file}: is the second job file", hint="give one")
            job = check(document).spec
    return design(resolve(job, workload))
