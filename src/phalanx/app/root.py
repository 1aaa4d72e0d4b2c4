"""Which root a command works on, and the store that serves it."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from phalanx.errors import InputError
from phalanx.store.files import FilesObjects
from phalanx.store.refusals import refusal
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
    """Open a root; with `create` it is made when it is missing.

    Raises `InputError` when it is not there or is no folder, `StoreUnavailable` when it is not
    ours to read.
    """
    folder = folder_of(url)
    if not _is_there(folder) and not create:
        raise InputError(
            f"there is no root at {folder}",
            hint="name one with --root or PHALANX_ROOT, or start a job with `phalanx run FILE`",
        )
    return Root(Store(FilesObjects.open(folder, make=create), writer_id()), folder)


def _is_there(folder: str) -> bool:
    try:
        seen = os.stat(folder)
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        is_folder = False
    except OSError as error:
        raise refusal(error, folder) from error
    else:
        is_folder = stat.S_ISDIR(seen.st_mode)
    if not is_folder:
        raise InputError(
            f"{folder}: a file stands where the root should be",
            hint="name a folder with --root or PHALANX_ROOT",
        )
    return True
