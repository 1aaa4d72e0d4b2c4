"""`phalanx run FILE`."""

from __future__ import annotations

import click

from phalanx.app.jobs import load
from phalanx.app.submit import submit
from phalanx.cli.interrupts import Interrupts
from phalanx.cli.options import json_option, note, out, out_json, root_option, starter


@click.command("run")
@click.argument("file", type=click.Path())
@click.option("--detach", "-d", is_flag=True, help="Print the job's id and return at once.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Replace a field.")
@click.option("--target", metavar="TARGET", help="Run there instead of where the file says.")
@click.option("--logs", is_flag=True, help="Show what the ranks print while following.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: str,
    sets: tuple[str, ...],
    target: str | None,
    root: str | None,
    **flags: bool,
) -> int:
    """Start the job that FILE describes and follow it to its end.

    Exit 0 when it succeeded, 1 when it failed or was stopped. Ctrl-C leaves the job running; a
    second one within three seconds saves and stops it.
    """
    ensure, interrupts = starter(ctx), Interrupts()
    try:
        opened, job, notes = submit(
            file, sets, root, target=target, ensure=ensure, at_record=interrupts.hold
        )
        for text in notes:
            note(f"phalanx: {text}")
        as_json = flags["as_json"]
        out_json({"schema": "phalanx.run/1", "job": job}) if as_json else out(job)
        if flags["detach"]:
            return 0
        from phalanx.cli.follow import Follower

        follower = Follower(
            load(opened, job), ensure, interrupts, with_logs=flags["logs"], quiet=as_json
        )
        return follower.run(root)
    finally:
        interrupts.release()
