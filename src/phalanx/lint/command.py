"""How a container starts: is a shell first, what does it run, is it handed over with exec."""

from __future__ import annotations

import re
from functools import cached_property

from phalanx.lint.entity import Node
from phalanx.lint.pattern import Pattern

_SHELLS = Pattern(r"(?:/(?:usr/)?bin/)?(?:ba|da|a|z|k)?sh$")


class Command:
    """`words` is what the kernel starts; `script` is the text that a shell interprets."""

    def __init__(self, entry_point: Node, command: Node) -> None:
        self.entry_point = entry_point
        self.command = command

    @cached_property
    def words(self) -> list[str]:
        """Entry point and command, known words only."""
        return _words(self.entry_point) + _words(self.command)

    @cached_property
    def is_shell(self) -> bool:
        """The first process is a shell that is given a script."""
        if isinstance(self.command.raw(), str) and not self.entry_point.data:
            return True
        return bool(self.words) and self._flag_index is not None

    @cached_property
    def _flag_index(self) -> int | None:
        words = self.words
        start = 0
        while start < len(words) and words[start].rsplit("/", 1)[-1] in (
            "env",
            "tini",
            "dumb-init",
        ):
            start += 1
            if start < len(words) and words[start] == "--":
                start += 1
        if start >= len(words) or not _SHELLS.match(words[start]):
            return None
        for n in range(start + 1, len(words)):
            if re.fullmatch(r"-[a-z]*c[a-z]*", words[n]):
                return n + 1 if words[n + 1 : n + 2] == ["--"] else n
            if not words[n].startswith("-") and words[n] != "pipefail":
                return None
        return None

    @cached_property
    def script(self) -> str | None:
        """The text after `sh -c`; None without a shell."""
        raw = self.command.raw()
        if isinstance(raw, str) and not self.entry_point.data:
            return raw
        index = self._flag_index
        if index is None or index + 1 >= len(self.words):
            return None
        return self.words[index + 1]

    @cached_property
    def script_node(self) -> Node | None:
        """The element that holds the script."""
        index = self._flag_index
        if index is None:
            return self.command if self.script is not None else None
        index += 1
        entry = len(_words(self.entry_point))
        if index < entry:
            return self.entry_point.node(f"[{index}]")
        return self.command.node(f"[{index - entry}]")

    @cached_property
    def arguments(self) -> list[Node]:
        """Every word with its place, entry point first."""
        return self.entry_point.items() + self.command.items()

    @cached_property
    def text(self) -> str:
        """All words in one line, for looking up names of programs."""
        return " ".join(self.words)

    @cached_property
    def node(self) -> Node:
        """Where to report something about the whole: the command, else the entry point."""
        return self.command if self.command.data is not None else self.entry_point


def _words(node: Node) -> list[str]:
    raw = node.raw()
    if isinstance(raw, str):
        return [raw]
    return [item.text() or "" for item in node.items()]
