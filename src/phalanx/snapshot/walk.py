"""What of a folder would be shipped: its files, folders and links, after the ignore rules."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from phalanx.errors import InputError
from phalanx.snapshot.ignore import DEFAULTS, Rule, is_asked_for, is_ignored, read_rules

IGNORE_FILES = (".gitignore", ".phalanxignore")
MAX_ENTRIES = 100_000


class Entry(NamedTuple):
    """One file, folder or link of the source. `path` is relative, with slashes."""

    path: str
    kind: str
    """`file`, `folder` or `link`."""
    size: int = 0
    target: str = ""
    """Of a link: where it leads, relative to the link's folder."""
    is_asked_for: bool = False
    """A rule of ours, no `.gitignore`, ships it by name: then it may hold secrets too."""


class _Rules(NamedTuple):
    """Rules in force in one folder, by source; later sources win."""

    git: tuple[Rule, ...] = ()
    own: tuple[Rule, ...] = ()

    def with_files_of(self, source: str, base: str) -> _Rules:
        git, own = (read_rules(_lines(source, base + name), base) for name in IGNORE_FILES)
        return _Rules(self.git + git, self.own + own)


def walk(folder: str, exclude: Sequence[str], skip: Collection[str]) -> list[Entry]:
    """Everything that would be shipped, sorted. `skip` are absolute folders that never are.

    Raises `InputError`: no such folder, unreadable, too many files, a link that leaves it.
    """
    source = os.path.realpath(folder)
    if not os.path.isdir(source):
        raise InputError(f"the source {folder} is no folder", hint="see `source:` of the job file")
    defaults, own = read_rules(DEFAULTS), read_rules(exclude)
    skipped = {os.path.realpath(path) for path in skip}
    found: list[Entry] = []
    waiting = [("", _Rules(), False)]
    while waiting:
        base, rules, is_below_asked = waiting.pop()
        children = list(_children(source, base))
        rules = rules.with_files_of(source, base)
        for entry in children:
            ordered = (*defaults, *rules.git, *rules.own, *own)
            is_folder = entry.kind == "folder"
            if is_ignored(ordered, entry.path, is_folder):
                continue
            ours = (*rules.own, *own)
            is_asked = is_below_asked or is_asked_for(ours, entry.path, is_folder)
            entry = entry._replace(is_asked_for=is_asked)
            if is_folder:
                whole = os.path.join(source, entry.path)
                if whole in skipped or os.path.exists(os.path.join(whole, "pyvenv.cfg")):
                    continue
                waiting.append((entry.path + "/", rules, is_asked))
            found.append(entry)
        if len(found) > MAX_ENTRIES:
            raise InputError(
                f"the source {folder} holds more than {MAX_ENTRIES} files",
                hint="ship a smaller folder, or leave some out with `exclude:` or .phalanxignore",
            )
    return sorted(
        (_checked(source, entry) if entry.kind == "link" else entry for entry in found),
        key=lambda entry: os.fsencode(entry.path),
    )


def _children(source: str, base: str) -> Iterator[Entry]:
    """Sockets, pipes and devices are passed over; what vanishes meanwhile was never there."""
    try:
        names = os.listdir(os.path.join(source, base))
    except FileNotFoundError:
        return
    except OSError as error:
        raise unreadable(base.rstrip("/"), error) from error
    for name in names:
        path = base + name
        try:
            seen = os.lstat(os.path.join(source, path))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise unreadable(path, error) from error
        if stat.S_ISDIR(seen.st_mode):
            yield Entry(path, "folder")
        elif stat.S_ISREG(seen.st_mode):
            yield Entry(path, "file", seen.st_size)
        elif stat.S_ISLNK(seen.st_mode):
            yield Entry(path, "link")


def _checked(source: str, entry: Entry) -> Entry:
    """The link with a relative target. Raises `InputError` when it leaves the source."""
    whole = os.path.join(source, entry.path)
    try:
        target = os.readlink(whole)
    except OSError as error:
        raise unreadable(entry.path, error) from error
    end = os.path.realpath(whole)
    if end != source and not end.startswith(source.rstrip("/") + "/"):
        raise InputError(
            f"{entry.path} is a link that leaves the source folder",
            hint=f"copy what it points to, or exclude it: {exclude_hint([entry.path])}",
        )
    at = os.path.dirname(entry.path)
    leads_to = os.path.normpath(os.path.join(at, target))
    if os.path.isabs(target) or leads_to.startswith(".."):
        target = os.path.relpath(end, os.path.join(source, at))
    return entry._replace(target=target)


def unreadable(path: str, error: OSError) -> InputError:
    """The error for something in the source that cannot be read."""
    return InputError(
        f"{path or 'the source folder'} cannot be read: {error.strerror}",
        hint=f"mend its permissions, or exclude it: {exclude_hint([path])}",
    )


def exclude_hint(paths: Sequence[str]) -> str:
    """`exclude: ["a", "b"]`, as a job file takes it; anchored, so that nothing else is meant."""
    return "exclude: [" + ", ".join(f'"/{path}"' for path in paths) + "]"


def _lines(source: str, path: str) -> list[str]:
    """Lines of an ignore file; none when there is no such file."""
    try:
        with open(os.path.join(source, path), encoding="utf-8", errors="surrogateescape") as file:
            return file.read().split("\n")
    except (FileNotFoundError, IsADirectoryError):
        return []
    except OSError as error:
        raise unreadable(path, error) from error
