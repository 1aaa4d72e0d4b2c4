"""Variables in a command that no shell expands."""

from __future__ import annotations

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import trains
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_VARIABLE = Pattern(r"\$(?:\{(\w+)[^}]*\}|\((\w+)\)|([A-Za-z_]\w*))")
_PLAIN = Pattern(r"[\w:/.=,@+-]*")
_OWN_DOLLAR = frozenset({"awk", "gawk", "jq", "sed", "perl", "envsubst", "grep", "psql"})


@rule(
    id="GNG001",
    slug="exec-form-env-not-expanded",
    severity="error",
    areas=("gang",),
    on=Container,
    message="A command in list form hands over the name of a variable, not its value",
    why="A command that is a list is started without a shell, so $NAME stays as it is written "
    "(only Ref::name is replaced, by Batch). The program gets the text, not the value.",
    fix='Wrap it in a shell that hands over: ["sh", "-c", "exec torchrun --node-rank $NAME ..."], '
    "or read the variable in the entry script.",
    sources=(
        ("https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html", "2026-05-20"),
        ("https://github.com/meta-pytorch/torchx/pull/759", "undated"),
    ),
    facts=("TRN-57",),
)
def exec_form_env_not_expanded(container: Container, world: World) -> Found:
    """Words that consist of variables and plain characters, where no shell comes first."""
    command = container.command
    if command.is_shell or container.workload.flavour == "job":
        return
    words = command.words
    if not words or words[0].rsplit("/", 1)[-1] in _OWN_DOLLAR:
        return
    if len(words) == 1 and " " in words[0]:
        return
    for argument in command.arguments:
        word = argument.text() or ""
        match = _VARIABLE.search(word)
        if match and _PLAIN.fullmatch(_VARIABLE.sub("", word)):
            message = f"{match[0]} is handed over as text: no shell expands it"
            yield Hit(argument, message=message, severity="" if _is_ml(container) else "warning")


def _is_ml(container: Container) -> bool:
    workload = container.workload
    return workload.is_accelerated or workload.is_multi_node or trains(container)
