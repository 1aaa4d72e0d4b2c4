"""Options and output that verbs share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

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
        print(text, file=sys.stderr, flush=True)


def use_colour() -> bool:
    """Only on a terminal, and never against NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
