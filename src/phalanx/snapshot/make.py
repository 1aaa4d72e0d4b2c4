"""Ship a folder: one deterministic tar, stored once under its digest."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, NamedTuple

from phalanx.errors import InputError, StoreConflict, StoreError, StoreUnavailable
from phalanx.snapshot.keys import snapshot_key
from phalanx.snapshot.secrets import Suspicion, suspect
from phalanx.snapshot.walk import Entry, exclude_hint, unreadable, walk
from phalanx.store.base import Blobs

LIMIT_BYTES = 200 * 1024 * 1024
_CHUNK = 1024 * 1024
_IN_MEMORY = 8 * 1024 * 1024
_NAMED = 3


class Snapshot(NamedTuple):
    """A stored snapshot."""

    digest: str
    """sha256 of the tar, in hex: the same files always give the same one."""
    files: int
    bytes: int
    """Of the files, without the tar around them."""
    left_out: tuple[Suspicion, ...] = ()
    """Files that are known to hold secrets, and were not asked for."""


class _Limits(NamedTuple):
    """What may be in a source."""

    most: int
    """Bytes."""
    secret_in: Callable[[bytes], str]


def make_snapshot(
    store: Blobs,
    folder: str | os.PathLike[str],
    exclude: Sequence[str] = (),
    *,
    skip: Sequence[str | os.PathLike[str]] = (),
    limit_bytes: int = LIMIT_BYTES,
    secret_in: Callable[[bytes], str] = lambda data: "",
) -> Snapshot:
    """Store what a folder holds now; what is edited later changes nothing.

    `exclude` are patterns as in `.gitignore`, from the job file; `skip` are folders that are
    never shipped, such as the root. Every file is read once, and what was read is what is
    hashed, searched for secrets and stored. `secret_in` names the known secret whose value stands
    in some bytes. Raises `InputError` (nothing was stored then) and `StoreError`.
    """
    source = os.path.realpath(folder)
    entries = walk(os.fspath(folder), exclude, [os.fspath(path) for path in skip])
    _check_size(entries, limit_bytes)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as draft:
        made = _write(draft, source, entries, _Limits(limit_bytes, secret_in))
        digest = _digest(draft)
        _store(store, digest, draft)
    return made._replace(digest=digest)


def _write(draft: IO[bytes], source: str, entries: Sequence[Entry], limits: _Limits) -> Snapshot:
    """Write the tar; returns what is in it, its digest not known yet."""
    files = size = 0
    suspicions: list[Suspicion] = []
    try:
        with tarfile.open(fileobj=draft, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for entry in entries:
                member, data = _member(source, entry, limits.most)
                if member is None:
                    continue
                suspicion = _suspicion(entry, data, limits)
                if suspicion is not None:
                    suspicions.append(suspicion)
                    continue
                files += entry.kind != "folder"
                size += len(data)
                _refuse_growth(size, limits.most)
                tar.addfile(member, io.BytesIO(data) if data else None)
    except OSError as error:
        raise StoreUnavailable(f"no room for a snapshot: {error.strerror or error}") from error
    inside = [one for one in suspicions if not one.is_whole]
    if inside:
        raise _secrets(inside)
    return Snapshot("", files, size, tuple(suspicions))


def _suspicion(entry: Entry, data: bytes, limits: _Limits) -> Suspicion | None:
    if entry.kind != "file" or entry.is_asked_for:
        return None
    found = suspect(entry.path, data)
    if found is None and (name := limits.secret_in(data)):
        lines = data.split(b"\n")
        row = next((n for n, line in enumerate(lines, 1) if limits.secret_in(line)), 1)
        found = Suspicion(entry.path, row, f"the value of {name}")
    return found


def _member(source: str, entry: Entry, limit_bytes: int) -> tuple[tarfile.TarInfo | None, bytes]:
    """Head and bytes of one entry; None for a file that is gone by now."""
    member = tarfile.TarInfo(entry.path)
    member.mode, data = 0o755, b""
    if entry.kind == "folder":
        member.type = tarfile.DIRTYPE
    elif entry.kind == "link":
        member.type, member.linkname = tarfile.SYMTYPE, entry.target
    else:
        found = _read(os.path.join(source, entry.path), entry.path, limit_bytes)
        if found is None:
            return None, b""
        data, is_executable = found
        member.mode = 0o755 if is_executable else 0o644
        member.size = len(data)
    return member, data


def _read(whole: str, path: str, limit_bytes: int) -> tuple[bytes, bool] | None:
    """Bytes of a file, at most one more than the limit, and whether its owner may execute it."""
    try:
        fd = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode):
                return None
            return file.read(limit_bytes + 1), bool(mode & stat.S_IXUSR)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error


def _digest(draft: IO[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(draft):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(draft: IO[bytes]) -> Iterator[bytes]:
    draft.seek(0)
    while chunk := draft.read(_CHUNK):
        yield chunk


def _store(store: Blobs, digest: str, draft: IO[bytes]) -> None:
    key = snapshot_key(digest)
    try:
        store.put_blob(key, _chunks(draft))
    except StoreConflict:
        held = store.get_blob(key)
        if held is None or hashlib.sha256(held).hexdigest() != digest:
            raise StoreError(
                f"the stored snapshot {key} is damaged", hint="delete it and try again"
            ) from None


def _check_size(entries: Sequence[Entry], limit_bytes: int) -> None:
    total = sum(entry.size for entry in entries)
    if total <= limit_bytes:
        return
    biggest = _biggest(entries)
    words = ", ".join(f"{path} ({_human(size)})" for path, size in biggest)
    raise InputError(
        f"the source holds {_human(total)}, more than {_human(limit_bytes)}; biggest: {words}",
        hint=f"leave them out in the job file with {exclude_hint([p for p, _ in biggest])} "
        "or in .phalanxignore",
    )


def _refuse_growth(size: int, limit_bytes: int) -> None:
    if size > limit_bytes:
        raise InputError(
            f"the source grew beyond {_human(limit_bytes)} while it was being read",
            hint="leave out what is being written, with `exclude:` or .phalanxignore",
        )


def _biggest(entries: Sequence[Entry]) -> list[tuple[str, int]]:
    """The three biggest files or folders at the top, each followed down while one child rules."""
    sizes: dict[str, int] = {}
    for entry in entries:
        parts = entry.path.split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            sizes[path] = sizes.get(path, 0) + entry.size
    top = sorted((p for p in sizes if "/" not in p), key=lambda p: (-sizes[p], p))
    return [(path, sizes[path]) for path in (_down(sizes, p) for p in top[:_NAMED]) if sizes[path]]


def _down(sizes: dict[str, int], path: str) -> str:
    """The child that holds at least nine tenths of a folder, and so on; else the path itself."""
    while True:
        depth = path.count("/") + 1
        below = [p for p in sizes if p.startswith(path + "/") and p.count("/") == depth]
        child = max(below, key=lambda p: sizes[p], default="")
        if not child or sizes[child] * 10 < sizes[path] * 9:
            return path
        path = child


def _human(size: int) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


def _secrets(found: Sequence[Suspicion]) -> InputError:
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    words = "; ".join(str(one) for one in found[:_NAMED])
    hint = exclude_hint([one.path for one in found[:_NAMED]])
    return InputError(
        f"the source is not shipped: {words}{more}",
        hint=f"leave it out with {hint} and pass the value by `secrets:`",
    )
