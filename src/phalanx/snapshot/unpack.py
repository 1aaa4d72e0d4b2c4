"""Unpack a snapshot: digest first, then files, then links, then one rename."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
from contextlib import suppress
from typing import Protocol

from phalanx.errors import SourceDamaged, StoreUnavailable
from phalanx.owned import make_folder, problem_of
from phalanx.snapshot.keys import snapshot_key

_DIGEST = re.compile(r"[0-9a-f]{64}")


class _Reads(Protocol):
    def get_blob(self, key: str) -> memoryview | None: ...


def unpack(store: _Reads, digest: str, into: str | os.PathLike[str]) -> str:
    """The folder `<into>/<digest>` with the snapshot's files; tasks of one host share it.

    Nothing is written before the whole digest is right. Whoever finishes first makes the folder;
    a folder of ours that is there is taken as it is. Raises `SourceDamaged` (missing, altered,
    unsafe) and `StoreUnavailable` (no room).
    """
    if not _DIGEST.fullmatch(digest):
        raise SourceDamaged(f"{digest!r} is no snapshot's digest")
    final = os.path.join(os.fspath(into), digest)
    if _is_there(final):
        return final
    data = store.get_blob(snapshot_key(digest))
    if data is None:
        raise SourceDamaged(f"the snapshot {digest} is not in the root")
    if hashlib.sha256(data).hexdigest() != digest:
        raise SourceDamaged(f"the snapshot {digest} is damaged: its digest is wrong")
    try:
        _place(data, digest, final)
    except OSError as error:
        if _is_there(final):
            return final
        raise StoreUnavailable(
            f"the snapshot {digest} cannot be unpacked: {error.strerror or error}"
        ) from error
    return final


def _is_there(final: str) -> bool:
    """Raises `SourceDamaged` when something stands there that we did not unpack."""
    problem = problem_of(final)
    if problem:
        raise SourceDamaged(f"{final} is not the unpacked source: {problem}")
    return os.path.isdir(final)


def _place(data: memoryview, digest: str, final: str) -> None:
    """Raises `OSError` also when somebody else was faster; the folder is there then."""
    parent, prefix = os.path.dirname(final), f".{digest[:16]}."
    # The folder above is the job's own: it is not made anew once somebody has removed it.
    with suppress(FileExistsError):
        os.mkdir(parent, 0o700)
    draft = tempfile.mkdtemp(prefix=prefix, dir=parent)
    try:
        _extract(data, draft)
        os.rename(draft, final)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _sync_folder(parent)
    # Drafts of those who were killed, or of those who are about to find the folder made.
    for name in os.listdir(parent):
        if name.startswith(prefix):
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)


def _extract(data: memoryview, draft: str) -> None:
    """Links come last: while files are written there is none to be led astray by."""
    links = []
    try:
        with tarfile.open(fileobj=_View(data), mode="r:") as tar:
            for member in tar:
                path = _safe_path(draft, member.name)
                if member.issym():
                    links.append((path, member.linkname))
                elif member.isdir():
                    make_folder(path)
                elif member.isreg() and not member.issparse():
                    content = tar.extractfile(member)
                    _write_file(path, content.read() if content else b"", member.mode & 0o700)
                else:
                    raise SourceDamaged(
                        f"the snapshot holds {member.name!r}, which is no plain file"
                    )
        _link(draft, links)
    except tarfile.TarError as error:
        raise SourceDamaged(f"the snapshot is no archive: {error}") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise SourceDamaged("the snapshot names one place twice") from error


def _safe_path(draft: str, name: str) -> str:
    parts = name.split("/")
    if not name or name.startswith("/") or "\0" in name or set(parts) & {"", ".", ".."}:
        raise SourceDamaged(f"the snapshot holds the unsafe name {name!r}")
    return os.path.join(draft, *parts)


def _write_file(path: str, content: bytes, mode: int) -> None:
    """Durable before the rename: after a crash of the host no file may be found cut short."""
    make_folder(os.path.dirname(path))
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(fd, mode)
        os.fsync(fd)


def _link(draft: str, links: list[tuple[str, str]]) -> None:
    for path, target in links:
        above = os.path.dirname(path)
        if os.path.realpath(above) != os.path.join(
            os.path.realpath(draft), os.path.relpath(above, draft)
        ).removesuffix("/."):
            raise SourceDamaged("the snapshot holds a link below another link")
        make_folder(above)
        os.symlink(target, path)
    inside = os.path.realpath(draft) + os.sep
    for path, target in links:
        is_inside = (os.path.realpath(path) + os.sep).startswith(inside)
        if os.path.isabs(target) or not is_inside:
            name = os.path.relpath(path, draft)
            raise SourceDamaged(f"the snapshot holds the link {name!r}, which leaves its folder")


def _sync_folder(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class _View(io.RawIOBase):
    """A memory view as a file, without a copy."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: len(self._data)}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: object) -> int:
        room = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        piece = self._data[self._at : self._at + len(room)]
        room[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
