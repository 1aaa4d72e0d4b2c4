"""Gathers the files that lint reads from the paths that a person names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from phalanx.errors import InputError
from phalanx.lint import waive
from phalanx.lint.source import SourceFile

READ = (".json", ".yaml", ".yml", ".template", ".tf", ".tfvars")
BESIDE = (".tpl", ".tftpl", ".sh", ".json", ".tmpl")
"""Files that `file()` and `templatefile()` of a configuration may name."""
CONFIG = "phalanx.toml"
_SKIPPED = frozenset({".git", ".terraform", ".venv", "node_modules", "__pycache__", ".phalanx"})
_BYTES_MAX = 5 * 1024 * 1024


def collect(paths: Iterable[str]) -> list[SourceFile]:
    """Files named, files below folders named, and what Terraform files among them refer to.

    Raises `InputError` for a path that is not there or cannot be read.
    """
    out: dict[str, SourceFile] = {}
    for word in paths:
        path = Path(word)
        if path.is_dir():
            for inside in sorted(_below(path)):
                read = _read(inside, named=False)
                if read is not None:
                    out.setdefault(read.name, read)
        elif path.is_file():
            read = _read(path, named=True)
            if read is not None:
                out[read.name] = read
        else:
            raise InputError(f"{word}: no such file or folder")
    for file in _beside(out):
        out.setdefault(file.name, file)
    return list(out.values())


def config(folder: str = ".") -> tuple[list[waive.Waiver], str]:
    """Waivers of `phalanx.toml`, and its name. Raises `InputError` where it is wrong."""
    path = Path(folder) / CONFIG
    if not path.is_file():
        return [], CONFIG
    if sys.version_info < (3, 11):
        raise InputError(f"{path}: reading it needs Python 3.11 or later")
    import tomllib

    try:
        parsed = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path}: {error}") from error
    return waive.from_config(parsed, str(path)), str(path)


def _below(folder: Path) -> Iterable[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in _SKIPPED and not path.is_symlink():
                yield from _below(path)
        elif path.suffix in READ and path.is_file():
            yield path


def _beside(found: dict[str, SourceFile]) -> list[SourceFile]:
    """Modules that are called by a relative path, and files beside Terraform files."""
    out: list[SourceFile] = []
    waiting = {Path(name).parent for name in found if name.endswith(".tf")}
    seen = set(waiting)
    while waiting:
        folder = waiting.pop()
        texts = [f.text for f in (*found.values(), *out) if Path(f.name).parent == folder]
        wanted = sorted(folder.glob("*.tfvars"))
        for path in _mentioned(folder, texts):
            if path.is_dir() and path not in seen:
                seen.add(path)
                waiting.add(path)
                wanted += sorted(path.glob("*.tf"))
            elif path.is_file():
                wanted.append(path)
        for file in wanted:
            is_code = file.suffix in (".tf", ".tfvars")
            read = _read(file, named=False, data_only=not is_code)
            out += [read] if read is not None else []
    return out


def _mentioned(folder: Path, texts: list[str]) -> Iterable[Path]:
    import re

    for text in texts:
        for word in re.findall(r'source\s*=\s*"(\.\.?/[^"$]+)"', text):
            yield _joined(folder, word)
        for word in re.findall(r'file\(\s*"(?:\$\{path\.(?:module|root)\}/)?([^"$]+)"', text):
            yield _joined(folder, word)


def _joined(folder: Path, word: str) -> Path:
    from phalanx.lint.readers.tf_module import join

    return Path(join(str(folder), word))


def _read(path: Path, *, named: bool, data_only: bool = False) -> SourceFile | None:
    try:
        if path.stat().st_size > _BYTES_MAX:
            raise InputError(f"{path}: larger than 5 MiB")
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, InputError) as error:
        if not named:
            return None
        if isinstance(error, InputError):
            raise
        said = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise InputError(f"{path}: {said}") from error
    return SourceFile(str(path), text, named=named, data_only=data_only)
