"""A folder outside the root that is written as a draft beside its place: whole, or not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from phalanx.store.refusals import unwritable


@contextmanager
def drafted(to: str) -> Iterator[str]:
    """A new folder to write into, which becomes `to` at the end; folders above it are made.

    After any error neither it nor a folder above it that was made is left. Raises
    `StoreUnavailable` for every `OSError`, also of what is written inside the `with`.
    """
    place = os.path.realpath(to)  # a link to an empty folder stays a link
    draft = f"{place}.{os.getpid()}.tmp"
    above = os.path.dirname(place)
    made = _missing(above)
    is_ours = False
    try:
        os.makedirs(above, exist_ok=True)
        os.mkdir(draft)
        is_ours = True
        yield draft
        sync(draft)
        os.rename(draft, place)
    except BaseException as error:
        if is_ours:
            shutil.rmtree(draft, ignore_errors=True)
        for folder in made:
            with suppress(OSError):
                os.rmdir(folder)
        if isinstance(error, OSError):
            raise unwritable(error, to) from error
        raise
    try:
        sync(above)
    except OSError as error:
        raise unwritable(error, to) from error


def sync(folder: str) -> None:
    """Make what a folder lists durable. Raises `OSError`."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _missing(folder: str) -> list[str]:
    """The folder and those above it that are not there, the deepest first."""
    found = []
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found
