"""`phalanx ps`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.cli import view
from phalanx.cli.options import json_option, note, out, out_json, root_option, starter


@click.command("ps")
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, root: str | None, as_json: bool) -> None:
    """List the jobs under the root."""
    answer = api.ps(root=root, ensure=starter(ctx))
    for item in answer["unreadable"]:
        note(f"phalanx: {item['because']}")
    out_json(answer) if as_json else out(view.ps(answer))
