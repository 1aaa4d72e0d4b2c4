"""`phalanx explain PATH...`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from phalanx.cli.explain_view import explained
from phalanx.cli.options import json_option, note, out, out_json
from phalanx.errors import InputError
from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

FILE_MAX = 64 * 1024 * 1024
"""Bytes of the largest file that is read whole; of a larger log the last part is read."""
FILES_MAX = 10_000
"""Files of one folder that are read at most."""

_PASSED_OVER = frozenset({".git", "__pycache__", "node_modules", "source", "snapshots", "shards"})
_NO_EVIDENCE = frozenset(
    {".safetensors", ".idx", ".py", ".pyc", ".so", ".pt", ".pth", ".ckpt", ".bin", ".npz", ".gz"}
)
IN_FOLDER_MAX = 8 * 1024 * 1024
"""Bytes that are read of a file found in a folder: of a longer log its last part."""


@click.command("explain")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@json_option
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """What happened to a dead job, from the evidence: which end was first, and what to do.

    PATH is a file or a folder: ECS task events, describe answers, service events, container
    instances, scaling activities, Batch jobs, checkpoint listings, launch plans, incidents, a
    job's folder under a root, or plain logs of torch, NCCL and the kernel.
    """
    answer = explain([given for path in paths for given in _inputs(path)])
    for line in answer.notes:
        note(f"note: {line}")
    out_json(answer.plain()) if as_json else out(explained(answer))
    return 0


def _inputs(path: str) -> Iterator[Input]:
    place = Path(path)
    if place.is_dir():
        found = list(_in_folder(place))
        if not found:
            raise InputError(f"{path}: no file that could be evidence is in this folder")
        yield from found
        return
    yield Input(path, _read(place))


def _in_folder(place: Path) -> Iterator[Input]:
    count = 0
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(f for f in folders if f not in _PASSED_OVER)
        for name in sorted(files):
            file = Path(folder, name)
            if file.suffix in _NO_EVIDENCE or not file.is_file():
                continue
            count += 1
            if count > FILES_MAX:
                raise InputError(f"{place}: holds more than {FILES_MAX} files", hint="name fewer")
            yield Input(str(file), _read(file, IN_FOLDER_MAX), optional=True)


def _read(place: Path, most: int = FILE_MAX) -> bytes:
    try:
        with place.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                file.seek(size - most)
            return file.read(most)
    except OSError as error:
        raise InputError(f"{place}: {error.strerror or error}") from None
