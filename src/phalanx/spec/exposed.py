"""Secrets that are written down in a job file: the record would keep them. Never shows a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from phalanx.redaction.names import could_be_secret, is_secret_name
from phalanx.redaction.redactor import Redactor

_ELSEWHERE = frozenset({"secrets", "notify"})
"""`secrets` holds names of places; where a message goes is for `notify` to say."""


class Exposed(NamedTuple):
    """A value that is a secret, or holds one."""

    path: tuple[str | int, ...]
    what: str
    """`a Hugging Face token`, or `a secret, by its name`."""
    name: str
    """A fitting name under `secrets`."""


def exposed(value: object) -> Exposed | None:
    """The first secret in a job file's plain values, or None."""
    if not isinstance(value, Mapping):
        return None
    rest = {name: part for name, part in value.items() if name not in _ELSEWHERE}
    return next(_by_shape((), rest), None) or next(_by_name(value), None)


def _by_shape(path: tuple[str | int, ...], value: object) -> Iterator[Exposed]:
    if isinstance(value, str):
        spans = Redactor().spans(value.encode("utf-8", "replace"))
        if spans:
            what = f"a {spans[0].what}" if spans[0].what else "a secret"
            yield Exposed(path, _with_article(what), _name_of(path))
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _by_shape((*path, str(name)), part)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _by_shape((*path, index), part)


def _by_name(value: Mapping[object, object]) -> Iterator[Exposed]:
    env, command = value.get("env"), value.get("command")
    for name, text in env.items() if isinstance(env, Mapping) else ():
        if _is_secret(str(name), text):
            yield Exposed(("env", str(name)), "a secret, by its name", str(name))
    words = command if isinstance(command, list) else []
    for index, (option, text) in enumerate(pairwise(words), 1):
        if isinstance(option, str) and option.startswith("-") and "=" not in option:
            name = option.lstrip("-")
            if _is_secret(name, text):
                secret = name.upper().replace("-", "_")
                yield Exposed(("command", index), f"a secret after {option}", secret)


def _is_secret(name: str, value: object) -> bool:
    if not isinstance(value, str) or value.startswith(("$", "<", "-")):
        return False
    return is_secret_name(name) and could_be_secret(name, value)


def _name_of(path: tuple[str | int, ...]) -> str:
    return str(path[1]) if path[0] == "env" and len(path) > 1 else "MY_SECRET"


def _with_article(what: str) -> str:
    return what.replace("a A", "an A").replace("a a", "an a")
