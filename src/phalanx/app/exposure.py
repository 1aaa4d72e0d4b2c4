"""What would put a known secret under the root: found before anything is written there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from phalanx.errors import InputError
from phalanx.plan.job import JobPlan
from phalanx.redaction.redactor import Redactor
from phalanx.redaction.values import SHORTEST_VALUE, declared_values, named_values
from phalanx.snapshot.secrets import Suspicion

_SHORTEST_DECLARED = 8
_SHORTEST_NAMED = 16
"""Shorter values may be plain words that stand in any file."""
_NAMED_FILES = 5


def known_secrets(plan: JobPlan, environ: Mapping[str, str]) -> Redactor:
    """The secrets of the shell that starts a job, long enough to be searched for in its files."""
    named = named_values(environ)
    found = {name: value for name, value in named.items() if len(value) >= _SHORTEST_NAMED}
    for secret in plan.secrets:
        value = environ.get(secret.reference, "") if secret.source == "env" else ""
        if len(value) >= _SHORTEST_DECLARED:
            found[secret.name] = value
    return Redactor(found)


def check_words(plan: JobPlan, known: Redactor) -> tuple[tuple[str | int, ...], InputError] | None:
    """(field, what is wrong) when a value of the plan holds a known secret, never showing it."""
    for field, where, text in _words(plan):
        name = known.holds_value(text.encode("utf-8", "surrogateescape"))
        if name:
            return field, InputError(
                f"{where} holds the value of {name}, and would stand in the job's record",
                hint=f"write secrets: {{{name}: {{env: {name}}}}} and read that variable",
            )
    return None


def _words(plan: JobPlan) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    for index, word in enumerate(plan.command):
        yield ("command", index), f"command[{index}]", word
    for name, value in plan.env:
        yield ("env", name), f"env.{name}", value
    yield ("source",), "source", plan.source or ""


def notes(plan: JobPlan, environ: Mapping[str, str], left_out: Sequence[Suspicion]) -> list[str]:
    """What a person should know: files that were not shipped, secrets that cannot be hidden."""
    found = []
    if left_out:
        files = ", ".join(f"{one.path} ({one.what})" for one in left_out[:_NAMED_FILES])
        more = len(left_out) - _NAMED_FILES
        files += f" and {more} more" if more > 0 else ""
        rule = f'exclude: ["!/{left_out[0].path}"]'
        found.append(f"not shipped, for they hold secrets: {files}; {rule} ships one")
    values = {s.name: environ.get(s.reference, "") for s in plan.secrets if s.source == "env"}
    short = sorted(values.keys() - declared_values(values, values).keys())
    found += [
        f"secret {name} has fewer than {SHORTEST_VALUE} characters: it cannot be hidden in logs"
        for name in short
    ]
    return found
