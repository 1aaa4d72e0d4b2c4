"""Types of single fields: each parses one value and says in plain words what is wrong with it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, Strict, WithJsonSchema

from phalanx.names import JOB_NAME, JOB_NAME_MAX, RESERVED
from phalanx.spec.units import DURATION, SIZE, duration_s, size_mib
from phalanx.spec.wrong import Wrong, flow_list, kind_of, shown

T = TypeVar("T")

COUNT_MAX = 4096
"""Largest number of nodes or of ranks on one."""
_ACCELERATOR = re.compile(r"([A-Za-z][A-Za-z0-9.-]{0,39})(?::([0-9]{1,6}))?")
_EVERY_STEPS = re.compile(r"(-?[0-9]{1,12})\s*steps?")
_EVERY_HINT = 'write auto, "100 steps" or 10m'
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_SHELL = re.compile(r"&&|\|\||[|;<>$`*]")
_OURS = frozenset(
    [
        *("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"),
        *("GROUP_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT"),
    ]
)


class Part(BaseModel):
    """Base of everything in a job file: frozen, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


@dataclass(frozen=True)
class Accelerator:
    """Kind and number on each node; `cpu` has 0."""

    kind: str
    count: int


@dataclass(frozen=True)
class Every:
    """How often to save; both None means `auto`."""

    steps: int | None = None
    seconds: float | None = None


def text(value: object) -> str:
    """Text that an operating system can carry. Raises `Wrong`."""
    if not isinstance(value, str):
        raise Wrong(f"{{path}} must be text, not {kind_of(value)}", "put it in quotes")
    if "\0" in value:
        raise Wrong("{path} holds a NUL character")
    return value


def filled(value: object) -> str:
    """Text that is not empty. Raises `Wrong`."""
    word = text(value)
    if not word.strip():
        raise Wrong("{path} must not be empty")
    return word


def word(value: object) -> str:
    """Text, or a whole number as text; other values would not come out as they were written."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)


def job_name(value: object) -> str:
    """A name that can be part of every key and token. Raises `Wrong`."""
    name = filled(value)
    if name in RESERVED:
        said = f"the name {shown(name)} is a word of `phalanx checkpoints`"
        raise Wrong(said, "choose another name")
    if len(name) > JOB_NAME_MAX:
        raise Wrong(f"{{path}} has {len(name)} characters, at most {JOB_NAME_MAX} are allowed")
    if not re.fullmatch(JOB_NAME, name):
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").lstrip("0123456789-")
        said = f"{{path}} must be lower-case letters, digits and single hyphens: {shown(name)}"
        fits = re.fullmatch(JOB_NAME, better) and better not in RESERVED
        raise Wrong(said, f"for example {better}" if fits else "for example my-job")
    return name


def command_words(value: object) -> object:
    """Refuses a command line in one text, showing the list form. Raises `Wrong`."""
    if not isinstance(value, str):
        return value
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    if _SHELL.search(value):
        words = ["bash", "-c", value]
    listed = flow_list(words)
    hint = f"write {listed}" if words and len(listed) <= 200 else "write [python, train.py]"
    raise Wrong("{path} must be a list of words, not one text", hint)


def as_list(value: object) -> object:
    """Refuses a single text where a list belongs, showing the list. Raises `Wrong`."""
    if isinstance(value, str):
        hint = f"write {flow_list([value])}" if len(value) <= 80 else ""
        raise Wrong("{path} must be a list", hint)
    return value


def not_empty(items: tuple[T, ...]) -> tuple[T, ...]:
    """Refuses a list without items. Raises `Wrong`."""
    if not items:
        raise Wrong("{path} must not be empty")
    return items


def accelerator(value: object) -> Accelerator:
    """`H100:8`, `gpu:2`, `gpu` or `cpu`. Raises `Wrong`."""
    if isinstance(value, int) and not isinstance(value, bool):
        fits = 1 <= value <= COUNT_MAX
        hint = f"write gpu:{value}" if fits else "write H100:8, gpu:2 or cpu"
        raise Wrong("{path} needs a kind", hint)
    match = _ACCELERATOR.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Wrong(f"{{path}} is not an accelerator: {shown(value)}", "write H100:8, gpu:2 or cpu")
    kind, number = match[1], match[2]
    if kind.lower() == "cpu":
        if number is not None:
            raise Wrong("{path} takes no number with cpu", "the field resources.cpus does")
        return Accelerator("cpu", 0)
    count = int(number) if number is not None else 1
    if not 1 <= count <= COUNT_MAX:
        raise Wrong(f"{{path}} must ask for 1 to {COUNT_MAX} of them on each node, or write cpu")
    return Accelerator("gpu" if kind.lower() == "gpu" else kind, count)


def every(value: object) -> Every:
    """`auto`, a number of steps, `100 steps` or a duration. Raises `Wrong`."""
    if value == "auto":
        return Every()
    steps = _EVERY_STEPS.fullmatch(value.strip()) if isinstance(value, str) else None
    if steps or (isinstance(value, int) and not isinstance(value, bool)):
        number = int(steps[1]) if steps else int(str(value))
        if number < 1:
            raise Wrong("{path} must be at least 1 step", _EVERY_HINT)
        if number > 10**12:
            raise Wrong(f"{{path}} must be at most {10**12} steps", _EVERY_HINT)
        return Every(steps=number)
    try:
        return Every(seconds=duration_s(value))
    except Wrong as wrong:
        said = f"{{path}} is neither auto, steps nor a duration: {shown(value)}"
        limit = " longer than " in wrong.message
        raise Wrong(wrong.message if limit else said, _EVERY_HINT) from None


def after(value: object) -> float | None:
    """`auto` (None) or a duration in seconds. Raises `Wrong`."""
    return None if value in ("auto", None) else duration_s(value)


def ranks(value: object) -> int | None:
    """`auto` (None) or a whole number. Raises `Wrong`."""
    if value in ("auto", None):
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise Wrong(f"{{path}} must be auto or a whole number, not {shown(value)}")
    if not 1 <= value <= COUNT_MAX:
        raise Wrong(f"{{path}} must be between 1 and {COUNT_MAX}")
    return value


def truth(value: object) -> object:
    """`yes`, `no`, `on` and `off` count as truth values where a field is one."""
    known = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
    return known.get(value.lower(), value) if isinstance(value, str) else value


def inside(value: object) -> str:
    """A folder that does not climb out with `..`. Raises `Wrong`."""
    folder = filled(value)
    depth = 0
    for step in PurePosixPath(folder).parts:
        depth += -1 if step == ".." else 1
        if depth < 0:
            raise Wrong("{path} must not lead out of the source folder")
    return folder


def module(value: object) -> str:
    """A dotted module name. Raises `Wrong`."""
    name = filled(value)
    if not _MODULE.fullmatch(name):
        raise Wrong(f"{{path}} is not a module name: {shown(name)}", "write torch or my.module")
    return name


def variables(value: object) -> object:
    """Checks the names of environment variables. Raises `Wrong`; never shows a value."""
    if not isinstance(value, dict):
        raise Wrong(
            f"{{path}} must be a mapping of names, not {kind_of(value)}", "write NAME: text"
        )
    for name in value:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise Wrong(f"{shown(name)} is no name of an environment variable", below=(name,))
        if name in _OURS or name.startswith(("PHALANX_", "TORCHELASTIC_")):
            raise Wrong(f"phalanx sets {name} itself", "remove it", (name,))
    return value


def _schema(**schema: Any) -> WithJsonSchema:
    return WithJsonSchema(schema)


_DURATION_SCHEMA = {"type": "string", "pattern": DURATION}
_AUTO = {"const": "auto"}
_NULL = {"type": "null"}

Text = Annotated[str, PlainValidator(filled), _schema(type="string", minLength=1)]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Truth = Annotated[bool, BeforeValidator(truth), Strict()]
Word = Annotated[str, PlainValidator(word), _schema(type=["string", "integer"])]
Name = Annotated[
    str,
    PlainValidator(job_name),
    _schema(type="string", pattern=f"^{JOB_NAME}$", maxLength=JOB_NAME_MAX),
]
Folder = Annotated[str, PlainValidator(inside), _schema(type="string", minLength=1)]
Module = Annotated[str, PlainValidator(module), _schema(type="string")]
Duration = Annotated[float, PlainValidator(duration_s), WithJsonSchema(_DURATION_SCHEMA)]
Size = Annotated[int, PlainValidator(size_mib), _schema(type="string", pattern=SIZE)]
AutoDuration = Annotated[
    float | None, PlainValidator(after), _schema(anyOf=[_AUTO, _DURATION_SCHEMA, _NULL])
]
AutoRanks = Annotated[
    int | None,
    PlainValidator(ranks),
    _schema(anyOf=[_AUTO, {"type": "integer", "minimum": 1, "maximum": COUNT_MAX}, _NULL]),
]
Often = Annotated[
    Every,
    PlainValidator(every),
    _schema(
        anyOf=[
            _AUTO,
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": r"^[0-9]+\s*steps?$"},
            _DURATION_SCHEMA,
        ]
    ),
]
Devices = Annotated[
    Accelerator,
    PlainValidator(accelerator),
    _schema(type="string", examples=["cpu", "gpu:2", "H100:8"]),
]
