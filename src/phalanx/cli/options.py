"""Options and output that verbs share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO, TypeVar

import click

from phalanx.app.revive import Ensure, start_controller

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """`--json`: the answer as one JSON object on standard output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(
        function
    )


def root_option(function: F) -> F:
    """`--root`: where the jobs are kept."""
    return click.option(
        "--root", metavar="FOLDER", help="Where jobs are kept. [PHALANX_ROOT or ./.phalanx]"
    )(function)


def job_argument(function: F) -> F:
    """JOB: an id or a bare name; completed from the root."""
    return click.argument("job", shell_complete=complete_job)(function)


def complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of jobs that begin with the word typed so far; none when there is no root."""
    from phalanx.app.jobs import job_ids
    from phalanx.app.root import open_root
    from phalanx.errors import PhalanxError

    try:
        ids = job_ids(open_root(ctx.params.get("root")))
    except PhalanxError:
        return []
    return [job for job in ids if job.startswith(incomplete)]


def complete_ended(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of jobs that have ended and begin with the word typed so far."""
    from phalanx.app.jobs import load_all
    from phalanx.app.root import open_root
    from phalanx.errors import PhalanxError

    try:
        jobs, _ = load_all(open_root(ctx.params.get("root")))
    except PhalanxError:
        return []
    ended = [job.id for job in jobs if job.record.phase.is_terminal]
    given = ctx.params.get(param.name or "") or ()
    return [job for job in ended if job.startswith(incomplete) and job not in given]


def complete_phase(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Phases that begin with the word typed so far."""
    from phalanx.words import Phase

    names = [phase.value.lower() for phase in Phase]
    return [name for name in names if name.startswith(incomplete.lower())]


def starter(ctx: click.Context) -> Ensure:
    """What starts controllers: given by the caller of `main.call`, else the real one."""
    return ctx.obj if ctx.obj is not None else start_controller


def out(text: str) -> None:
    """One answer on standard output, at once."""
    click.echo(text, color=use_colour())


def out_json(view: Any) -> None:
    """One JSON object on one line of standard output."""
    print(json.dumps(view, allow_nan=False, default=str), flush=True)


def note(text: str) -> None:
    """One line on standard error; nothing for an empty one."""
    if text:
        click.echo(text, err=True, color=use_colour(sys.stderr))


def use_colour(stream: TextIO | None = None) -> bool:
    """Only where it is seen (standard output, unless told), and never against NO_COLOR."""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR")
