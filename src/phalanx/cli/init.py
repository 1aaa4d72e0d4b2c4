"""`phalanx init [DIR]`."""

from __future__ import annotations

import os
import shlex

import click

from phalanx.cli.options import json_option, note, out, out_json
from phalanx.errors import InputError

FILES = ("job.yaml", "train.py")


@click.command("init")
@click.argument("folder", default=".", type=click.Path())
@json_option
def command(folder: str, as_json: bool) -> None:
    """Write job.yaml and train.py into a folder; they run as they are.

    Files that exist are never overwritten.
    """
    paths = [os.path.join(folder, name) for name in FILES]
    there = [path for path in paths if os.path.lexists(path)]
    if there:
        raise InputError(
            f"{' and '.join(there)} exist already; nothing was written",
            hint="name another folder: `phalanx init DIR`",
        )
    _write(folder, paths)
    if as_json:
        out_json({"schema": "phalanx.init/1", "files": paths})
        return
    out(f"wrote {' and '.join(paths)}")
    note(f"next: phalanx run {shlex.quote(paths[0])}")


def _write(folder: str, paths: list[str]) -> None:
    """Write both files or none. Raises `StoreUnavailable`."""
    written = []
    try:
        os.makedirs(folder, exist_ok=True)
        for path in paths:
            with open(path, "xb") as file:
                written.append(path)
                file.write(_content(os.path.basename(path)))
    except OSError as error:
        from phalanx.store.refusals import unwritable

        for path in written:
            os.unlink(path)
        raise unwritable(error, folder) from error


def _content(name: str) -> bytes:
    from importlib.resources import files

    return (files("phalanx.spec") / "starter" / name).read_bytes()
