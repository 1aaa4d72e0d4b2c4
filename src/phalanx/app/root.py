"""Which root a command works on, and the store that serves it."""

from __future__ import annotations

import os
from typing import NamedTuple

from phalanx.errors import InputError
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id

DEFAULT = ".phalanx"


class Root(NamedTuple):
    """An open root: its store, and the folder that holds it (absolute)."""

    store: Store
    folder: str


def folder_of(url: str | None) -> str:
    """Absolute folder of a root: `url`, else PHALANX_ROOT, else `./.phalanx`.

    Raises `InputError` for anything but a folder.
    """
    text = url or os.environ.get("PHALANX_ROOT") or DEFAULT
    text = text.removeprefix("file://")
    if "://" in text:
        raise InputError(
            f"the root {text} is no folder: this release keeps its jobs in folders only",
            hint="name a folder with --root or PHALANX_ROOT",
        )
    return os.path.abspath(os.path.expanduser(text))


def open_root(url: str | None = None, *, create: bool = False) -> Root:
    """Open a root. Raises `InputError` when it is not there and `create` is false."""
    folder = folder_of(url)
    if not create and not os.path.isdir(folder):
        raise InputError(
            f"there is no root at {folder}",
            hint="name one with --root or PHALANX_ROOT, or start a job with `phalanx run FILE`",
        )
    return Root(Store(FilesObjects.open(folder, make=create), writer_id()), folder)
