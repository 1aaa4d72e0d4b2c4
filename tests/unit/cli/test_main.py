from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from phalanx.cli.main import VERBS
from phalanx.cli.main import phalanx as group

HEAVY = ("pydantic", "rich", "asyncio", "urllib", "boto3", "torch", "yaml", "logging", "subprocess")


def loaded_by(*words: str, env: dict[str, str] | None = None) -> set[str]:
    """Modules that a command line has imported when it is done, in a fresh interpreter."""
    code = (
        "import sys\n"
        "from phalanx.cli.main import call\n"
        "code = call(sys.argv[1:])\n"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(env or {})},
    )
    code_word, *modules = done.stderr.splitlines()[-1].split()
    assert code_word == "0", done.stderr
    return set(modules)


def test_help_imports_no_verb_and_nothing_heavy():
    modules = loaded_by("--help")
    assert not modules & set(HEAVY)
    assert {m for m in modules if m.startswith("phalanx.")} == {
        "phalanx.cli",
        "phalanx.cli.main",
        "phalanx.errors",
    }


@pytest.mark.parametrize("verb", ["status", "ps", "logs", "why", "ledger"])
def test_reading_verbs_import_nothing_heavy(made, verb):
    from tests.support.made_root import ended_job

    ended_job(made)
    words = [verb] if verb == "ps" else [verb, "gpt-1"]
    assert not loaded_by(*words) & set(HEAVY)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_of_the_table_works_and_has_help(phalanx, verb):
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    assert command.name == verb
    answer = phalanx(verb, "--help")
    assert answer.code == 0
    assert f"Usage: phalanx {verb}" in answer.out
    if verb not in ("completion", "facts"):  # facts has verbs of its own
        assert "--json" in answer.out


def test_no_words_at_all_show_the_help(phalanx):
    answer = phalanx()
    assert answer.code == 0
    assert answer.out == phalanx("--help").out


def test_help_lists_the_verbs_in_the_order_of_a_jobs_life(phalanx):
    out = phalanx("--help").out
    places = [out.index(f"\n  {verb} ") for verb in VERBS]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("rnu", "x"), "did you mean run"),
        (("frobnicate",), "see `phalanx --help`"),
        (("status",), "Missing argument 'JOB' (see `phalanx status --help`)"),
        (("status", "a", "--wat"), "No such option"),
        (("logs", "a", "--tail", "-1"), "--tail"),
        (("checkpoints", "verify"), "Missing argument 'PATH'"),
        (("checkpoints", "list", "a", "b"), "unexpected extra argument (b)"),
        (("completion", "tcsh"), "tcsh"),
    ],
)
def test_wrong_words_exit_2_with_one_line(phalanx, words, says):
    answer = phalanx(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("phalanx: ")
    assert answer.err.count("\n") == 1
    assert says in answer.err


def test_a_defect_of_ours_is_one_line_and_a_file_with_the_trace(made, phalanx, capfd):
    from phalanx.cli.main import INTERNAL, call
    from tests.support.made_root import record

    def broken(root: object, job: str) -> None:
        raise ZeroDivisionError("seven")

    made.put(record())
    code = call(["status", "gpt-1"], broken)
    err = capfd.readouterr().err
    assert code == INTERNAL
    assert err.count("\n") == 1
    assert "internal error: ZeroDivisionError: seven" in err
    path = err.split("the trace is in ")[1].split(";")[0]
    with open(path) as file:
        assert "Traceback" in file.read()
    os.unlink(path)


def test_a_reader_that_has_gone_is_no_error(made):
    from tests.support.made_root import ended_job

    ended_job(made)
    made.log("gpt-1", "0.0-0/0.out.0", b"line\n" * 200_000, (0, 1))
    words = [sys.executable, "-c", "from phalanx.cli.main import main; main()", "logs", "gpt-1"]
    shell = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert shell.stdout is not None
    assert shell.stderr is not None
    with shell.stdout, shell.stderr:
        shell.stdout.read(10)
        shell.stdout.close()
        assert shell.stderr.read() == b""
    assert shell.wait(30) == 0


def test_version(phalanx):
    from importlib.metadata import version as installed

    assert phalanx("--version").out == f"phalanx {installed('phalanx')}\n"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_scripts(phalanx, shell):
    answer = phalanx("completion", shell)
    assert answer.code == 0
    assert "_PHALANX_COMPLETE" in answer.out


def test_verbs_and_job_names_are_completed_from_the_root(made):
    from tests.support.made_root import ended_job

    ended_job(made, "gpt-1")
    ended_job(made, "llama-1")

    def complete(words: str, position: int) -> str:
        env = {"_PHALANX_COMPLETE": "bash_complete", "COMP_WORDS": words}
        return subprocess.run(
            [sys.executable, "-c", "from phalanx.cli.main import main; main()"],
            env={**os.environ, **env, "COMP_CWORD": str(position)},
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    assert complete("phalanx st", 1).split() == ["plain,status", "plain,stop"]
    assert complete("phalanx status gp", 2).split() == ["plain,gpt-1"]
