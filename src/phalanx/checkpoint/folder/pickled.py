"""Which files a DCP checkpoint needs, from its `.metadata`, without unpickling it.

The file is a pickle of classes that say `relative_path`, `offset` and `length`, one after the
other. Its opcodes are read as a stream of words and numbers, with the references to words said
before; no class is looked up and nothing is built, so a hostile file can only be wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

_WINDOW = 6
"""`relative_path`, its value, `offset`, its value, `length`, its value."""


def needed_files(data: bytes) -> dict[str, int]:
    """Least size in bytes of every file that is named, relative to the checkpoint's folder.

    Raises `ValueError` when `data` is not one whole pickle.
    """
    needed: dict[str, int] = {}
    window: deque[Any] = deque(maxlen=_WINDOW)
    for word in _words(data):
        window.append(word)
        if len(window) < _WINDOW:
            continue
        first, path, second, offset, third, length = window
        if (first, second, third) == ("relative_path", "offset", "length"):
            _add(needed, path, offset, length)
    return needed


def _add(needed: dict[str, int], path: object, offset: object, length: object) -> None:
    if not isinstance(path, str) or not isinstance(offset, int) or not isinstance(length, int):
        raise ValueError("a place in storage is malformed")
    needed[path] = max(needed.get(path, 0), offset + length)


def _words(data: bytes) -> Iterator[Any]:
    """Every string and number in the order in which a reader of the pickle would meet it."""
    import pickletools

    memo: dict[Any, Any] = {}
    last: Any = None
    stops = False
    for opcode, argument, position in pickletools.genops(data):
        name = opcode.name
        stops = name == "STOP" and position == len(data) - 1
        if name == "MEMOIZE":
            memo[len(memo)] = last
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = last
        else:
            last = _value(name, argument, memo)
            if last is not None:
                yield last
    if not stops:
        raise ValueError("bytes follow the end of the pickle")


def _value(name: str, argument: Any, memo: dict[Any, Any]) -> Any:
    if name in ("BINGET", "LONG_BINGET"):
        return memo.get(argument)
    if "UNICODE" in name or name.startswith(("BININT", "LONG")) or name == "INT":
        return argument
    return None
