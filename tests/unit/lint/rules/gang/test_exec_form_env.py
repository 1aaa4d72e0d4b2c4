"""Variables in commands without a shell."""

from __future__ import annotations

import pytest

from tests.support.linting import only, task

SLUG = "exec-form-env-not-expanded"


def command(*words: str) -> str:
    return task({"command": list(words)})


@pytest.mark.parametrize(
    "word",
    ["$NODE_RANK", "${NODE_RANK}", "--node-rank=$RANK", "$HOST:29400", "$(HOST)", "${A:-b}"],
)
def test_a_variable_is_text(word: str) -> None:
    found = only(SLUG, command("torchrun", "--x", word))
    assert found == [("error", "containerDefinitions[0].command[2]")]


@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-c", "exec torchrun --node-rank $RANK"),
        ("/bin/bash", "-lc", "--", "torchrun $RANK"),
        ("torchrun --node-rank $RANK",),
        ("torchrun", "Ref::rank"),
        ("awk", "{print $1}"),
        ("python", "-c", "print('$5 and more')"),
        ("python", "train.py", "--price", "$5"),
        ("python", "train.py", "--pattern", "^a.*$"),
    ],
)
def test_a_shell_or_plain_text_is_fine(words: tuple[str, ...]) -> None:
    assert only(SLUG, command(*words)) == []


def test_the_entry_point_may_be_the_shell() -> None:
    text = task({"entryPoint": ["sh", "-c"], "command": ["exec torchrun $RANK"]})
    assert only(SLUG, text) == []
    text = task({"entryPoint": ["torchrun"], "command": ["$RANK"]})
    assert only(SLUG, text) == [("error", "containerDefinitions[0].command[0]")]


def test_without_an_accelerator_it_is_a_warning() -> None:
    text = task({"resourceRequirements": [], "command": ["web", "$PORT"]})
    assert [severity for severity, _ in only(SLUG, text)] == ["warning"]
