"""YAML by its events: plain values and places in one pass, without constructing objects.

The words of YAML 1.2 hold: only `true` and `false` are truth values, so that `on:` is a key and
`yes` is text; `012` and `1:30` are text, dates are text. Aliases and `<<` merges work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from phalanx.errors import SpecError
from phalanx.spec.json_text import given_twice
from phalanx.spec.places import DEPTH_MAX, Place, Spot, Tags

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(
    {"!", *(_STANDARD + n for n in ["str", "int", "float", "bool", "null", "map", "seq"])}
)
_BAD = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROPERTY = re.compile(r"(?:^|[\s\[{,])[&!]\S* +\Z")
"""An anchor or a tag right before a place."""
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_QUOTES_OF_TAG = "put text with ! in quotes"
_PROBLEMS = (
    ("tab", "a tab stands where YAML wants spaces", "indent with spaces"),
    ("mapping values are not allowed", "a colon stands where no name can", "quote text with ': '"),
    ("cannot start any token", "no value can begin with this character", "put it in quotes"),
    ("could not find expected ':'", "a colon is missing after a name", "write name: value"),
    ("expected ',' or '}'", "a { is not closed with }", ""),
    ("expected ',' or ']'", "a [ is not closed with ]", ""),
    ("end of stream", "a quoted text has no closing quote", ""),
    (
        "expected '-' indicator",
        "this line does not continue the list above it",
        "check indentation",
    ),
    ("expected key", "this line does not continue the mapping above it", "check indentation"),
    ("block end", "this line does not fit the lines above it", "check the indentation"),
    ("expected node content", "a value is missing or a bracket is out of place", ""),
    ("tag handle", "a tag (!a!b) whose handle is declared nowhere", _QUOTES_OF_TAG),
    ("a tag", "a ! stands before what is no name of a tag", _QUOTES_OF_TAG),
    (
        "an alias takes",
        "an alias (*name) takes no anchor and no tag of its own",
        "write *name alone",
    ),
    ("a value takes", "a value takes one anchor (&name) and one tag (!name)", "remove one"),
    ("an alias", "a * stands before what is no name of an anchor", "put text with * in quotes"),
    ("an anchor", "a & stands before what is no name of an anchor", "put text with & in quotes"),
    ("Unicode character escape", "an escape that stands for no character", ""),
    ("escape character", "an escape that YAML does not know", "use single quotes around it"),
    ("nesting depth", "brackets are nested too deeply", ""),
)


def read_yaml(text: str, file: str, tags: Tags | None = None) -> tuple[object, Spot]:
    """The plain value and its places. Raises `SpecError`."""
    bad = _BAD.search(text)
    if bad:
        at = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
        said = f"holds the control character U+{ord(bad[0]):04X}, so it is not YAML"
        raise SpecError(said, file=file, at=at)
    build = _Build(file, tags)
    try:
        for event in _events(text):
            build.take(event)
    except yaml.MarkedYAMLError as error:
        raise _refusal(error, text, file) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise SpecError("is not YAML", file=file) from None
    if build.root is None:
        raise SpecError("is empty", file=file)
    return build.root


def _events(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _refusal(error: yaml.MarkedYAMLError, text: str, file: str) -> SpecError:
    mark = error.problem_mark or error.context_mark
    at = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    problem = " ".join(str(error.problem or "").split())
    here = text[mark.index : mark.index + 1] if mark else ""
    if "start any token" in problem and here == "\t":
        problem = "tab"
    elif str(error.context).endswith(("an alias", "an anchor", "a tag")):
        problem = str(error.context)
        start = error.context_mark
        at = (start.line + 1, start.column + 1) if start else at
    elif (
        mark
        and here in ("*", "&", "!")
        and _PROPERTY.search(text[max(0, mark.index - 200) : mark.index])
    ):
        problem = "an alias takes" if here == "*" else "a value takes"
    for part, said, hint in _PROBLEMS:
        if part in problem:
            return SpecError(f"is not YAML: {said}", file=file, at=at, hint=hint)
    return SpecError(f"is not YAML: {problem[:100]}", file=file, at=at)


def plain_scalar(text: str) -> object:
    """What an unquoted word means: nothing, a truth value, a number, or text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "-+.0123456789":
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
    return text


class _Frame:
    """A list or mapping whose end has not been met."""

    __slots__ = ("anchor", "depth", "key", "merges", "size", "spot", "tag", "value")

    def __init__(self, value: dict[str, object] | list[object], spot: Spot, event: Any) -> None:
        self.value = value
        self.spot = spot
        self.anchor: str | None = event.anchor
        self.tag: str | None = event.tag
        self.key: tuple[str, Place, bool] | None = None
        self.merges: list[tuple[object, Spot, Place]] = []
        self.size = 1
        self.depth = 1


class _Build:
    """Turns events into values, with every limit checked on the way."""

    def __init__(self, file: str, tags: Tags | None) -> None:
        self.file = file
        self.tags = tags
        self.root: tuple[object, Spot] | None = None
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[object, Spot, int, int] | None] = {}
        self.nodes = 0
        self.documents = 0

    def take(self, event: Any) -> None:
        """One event of the parser."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._wrong("holds more than one document", event, "keep one file for each")

    def _wrong(self, said: str, event: Any, hint: str = "") -> SpecError:
        mark = event.start_mark
        return SpecError(said, file=self.file, at=(mark.line + 1, mark.column + 1), hint=hint)

    def _is_key(self) -> bool:
        return bool(self.stack) and type(self.stack[-1].value) is dict and not self.stack[-1].key

    def _scalar(self, event: Any) -> None:
        mark = event.start_mark
        if self._is_key():
            self._key(event)
            return
        spot = Spot(mark.line + 1, mark.column + 1)
        tag = event.tag
        if tag is None:
            value = plain_scalar(event.value) if event.implicit[0] else event.value
        elif tag in _PLAIN_TAGS:
            value = self._tagged(event)
        else:
            value = event.value
        self._finish(value, spot, event.anchor, tag)

    def _tagged(self, event: Any) -> object:
        name = event.tag.removeprefix(_STANDARD)
        if name in ("!", "str"):
            return event.value
        value = plain_scalar(event.value)
        if name == "float" and type(value) is int:
            return float(value)
        kinds = {"int": int, "float": float, "bool": bool, "null": type(None)}
        if name not in kinds or type(value) is not kinds[name]:
            raise self._misfit(event)
        return value

    def _misfit(self, event: Any) -> SpecError:
        name = event.tag.removeprefix(_STANDARD)
        return self._wrong(f"the tag !!{name} does not fit this value", event, "remove it")

    def _key(self, event: Any) -> None:
        frame = self.stack[-1]
        place = event.start_mark.line + 1, event.start_mark.column + 1
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            raise self._wrong("a name cannot have a tag", event, "remove it")
        merge = event.value == "<<" and event.implicit[0]
        members = frame.spot.members
        if not merge and isinstance(members, dict) and event.value in members:
            raise given_twice(event.value, members[event.value][0], place, self.file)
        if merge and frame.merges:
            raise given_twice("<<", frame.merges[0][2], place, self.file)
        if event.anchor is not None:
            self.anchors[event.anchor] = event.value, Spot(*place), 1, 0
        frame.key = event.value, place, merge

    def _open(self, event: Any) -> None:
        if self._is_key():
            raise self._wrong("a name must be text, not a list or mapping", event)
        if len(self.stack) >= DEPTH_MAX:
            raise self._wrong(f"is nested more than {DEPTH_MAX} deep", event)
        spot = Spot(event.start_mark.line + 1, event.start_mark.column + 1)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag in _PLAIN_TAGS - {"!", _STANDARD + ("map" if is_mapping else "seq")}:
            raise self._misfit(event)
        value: dict[str, object] | list[object] = {} if is_mapping else []
        spot.members = {} if is_mapping else []
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(_Frame(value, spot, event))

    def _close(self) -> None:
        frame = self.stack.pop()
        for value, spot, place in frame.merges:
            self._merge(frame, value, spot, place)
        self._finish(frame.value, frame.spot, frame.anchor, frame.tag, (frame.size, frame.depth))

    def _alias(self, event: Any) -> None:
        if self._is_key():
            raise self._wrong("a name cannot be an alias", event, "write it out")
        name = event.anchor[:60]
        if event.anchor not in self.anchors:
            hint = f"mark a value above with &{name}, or put text with * in quotes"
            raise self._wrong(f"the alias *{name} names no anchor above it", event, hint)
        target = self.anchors[event.anchor]
        if target is None:
            said = f"the alias *{name} stands inside the value that it names"
            raise self._wrong(said, event, "write it out")
        value, named, size, depth = target
        spot = Spot(event.start_mark.line + 1, event.start_mark.column + 1)
        spot.members = named.members
        if len(self.stack) + depth > DEPTH_MAX:
            raise self._wrong(f"is nested more than {DEPTH_MAX} deep", event)
        if self.stack[-1].size + size > 10 * self.nodes + 10_000:
            raise self._wrong("aliases of aliases grow without measure", event, "write it out")
        self._finish(value, spot, None, None, (size, depth))

    def _finish(
        self,
        value: object,
        spot: Spot,
        anchor: str | None,
        tag: str | None,
        extent: tuple[int, int] = (1, 0),
    ) -> None:
        size, depth = extent
        self.nodes += 1
        if tag is not None and tag not in _PLAIN_TAGS:
            value, spot = self._meaning(tag, value, spot)
        if anchor is not None:
            self.anchors[anchor] = value, spot, size, depth
        if not self.stack:
            self.root = value, spot
            return
        frame = self.stack[-1]
        frame.size += size
        frame.depth = max(frame.depth, depth + 1)
        if isinstance(frame.value, list):
            frame.value.append(value)
            if isinstance(frame.spot.members, list):
                frame.spot.members.append(spot)
        elif frame.key is not None:
            name, place, merge = frame.key
            frame.key = None
            if merge:
                frame.merges.append((value, spot, place))
                return
            frame.value[name] = value
            if isinstance(frame.spot.members, dict):
                frame.spot.members[name] = place, spot

    def _meaning(self, tag: str, value: object, spot: Spot) -> tuple[object, Spot]:
        made = self.tags(tag, value) if self.tags else None
        if made is None:
            shown = tag.replace(_STANDARD, "!!")[:60]
            shown = shown if shown.isprintable() else ascii(shown)
            is_text = isinstance(value, str)
            hint = "remove it, or put text with ! in quotes" if is_text else "remove it"
            said = f"the tag {shown} is not allowed here"
            raise SpecError(said, file=self.file, at=spot.place, hint=hint)
        name, inner = made
        outer = Spot(*spot.place)
        outer.members = {name: (spot.place, spot)}
        return {name: inner}, outer

    def _merge(self, frame: _Frame, value: object, spot: Spot, place: Place) -> None:
        sources = value if isinstance(value, list) else [value]
        spots = spot.members if isinstance(spot.members, list) else [spot]
        for source, where in zip(sources, spots, strict=False):
            if not isinstance(source, dict) or not isinstance(where.members, dict):
                said = "<< merges mappings only"
                hint = "write <<: *name, where &name marks a mapping"
                raise SpecError(said, file=self.file, at=place, hint=hint)
            for name, member in source.items():
                if isinstance(frame.value, dict) and name not in frame.value:
                    frame.value[name] = member
                    if isinstance(frame.spot.members, dict) and name in where.members:
                        # The name comes in here, its value stands where it was written.
                        frame.spot.members[name] = place, where.members[name][1]
