"""Secrets as plain environment variables."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Environment, Variable
from phalanx.lint.world import World

_NAME = Pattern(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|API_KEY|ACCESS_KEY|SECRET_KEY|"
    r"PRIVATE_KEY|AUTH_KEY|SIGNING_KEY|ENCRYPTION_KEY|CREDENTIALS?|SECRET_ACCESS_KEY|"
    r"ACCESS_KEY_ID|SESSION_TOKEN|LICENSE_KEY)$"
)
_VOCABULARY = Pattern(
    r"(?:^|_)(?:EOS|BOS|PAD|UNK|MASK|SEP|CLS|STOP|START|END|SPECIAL|NEXT|PER|MAX|MIN|TIME_PER)_TOKEN$"
)
_VALUE = Pattern(
    r"(?:hf_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|"
    r"sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY)"
)
_URL = Pattern(r"^[a-z][a-z0-9+.-]*://[^/\s:@]+:([^/\s@]+)@")
_HARMLESS = Pattern(
    r"^(?:$|true$|false$|none$|null$|0$|1$|arn:aws|/[\w/.-]+$|\$\{|<|changeme$|\d{1,6}$|x+$|\*+$)",
    re.I,
)


@rule(
    id="SEC001",
    slug="secret-in-env",
    severity="error",
    areas=("security",),
    on=Environment,
    message="A secret stands in the plain environment",
    why="Whoever may read task definitions can read it, and it stays in every old revision.",
    fix='Put it in Secrets Manager or SSM and hand it over by reference: "secrets": [{"name": '
    '..., "valueFrom": "<secret ARN>"}]; let the execution role read it, and rotate the value: '
    "old revisions keep it.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/specifying-sensitive-data.html",
            "2026-07-10",
        ),
    ),
    guards=("SB2",),
    facts=("SCY-09", "SCY-10"),
)
def secret_in_env(environment: Environment, world: World) -> Found:
    """By the name or the shape of the value; the value itself is never shown."""
    for variable in environment.variables:
        severity = _judge(variable)
        if severity and _is_local(environment) and not _VALUE.search(variable.content or ""):
            severity = "info"
        if severity:
            yield Hit(
                variable,
                message=f"{variable.key} is a secret in the plain environment",
                severity=severity,
            )


def _is_local(environment: Environment) -> bool:
    """A compose file: its passwords are often those of throw-away services."""
    container = environment.container
    return container is not None and container.workload.flavour == "compose"


def _judge(variable: Variable) -> str:
    text = variable.content
    named = bool(_NAME.search(variable.key.upper())) and not _VOCABULARY.search(
        variable.key.upper()
    )
    if text is None:
        return "warning" if named and variable.value.data is not None else ""
    if _VALUE.search(text) or ((url := _URL.match(text)) and HOLE not in url[1]):
        return "error"
    if not named or _HARMLESS.match(text):
        return ""
    return "warning" if HOLE in text else "error"
