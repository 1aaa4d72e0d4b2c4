"""The `phalanx` command: a table of verbs, each imported only when it is asked for.

Whatever goes wrong ends as one line on standard error and an exit code of `docs/contracts.md`;
no traceback ever reaches the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from phalanx.errors import PhalanxError

if TYPE_CHECKING:
    from phalanx.app.revive import Ensure

VERBS: dict[str, tuple[str, str]] = {
    "init": ("init", "Write a job file and a small training script that runs as it is."),
    "run": ("run", "Start a job and follow it to its end."),
    "ps": ("ps", "List the jobs under the root."),
    "status": ("status", "Where one job is: phase, step, tasks, history."),
    "wait": ("wait", "Wait until a job has ended; exit 0 when it succeeded."),
    "logs": ("logs", "What the ranks of a job printed, in order of time."),
    "exec": ("exec", "A shell or a command in a running slot, or the stacks of its ranks."),
    "metrics": ("metrics", "What a rank reported, step by step; steps done again count once."),
    "stop": ("stop", "End a job; with --save after one more checkpoint."),
    "pause": ("pause", "Let a job save, release its tasks, and rest."),
    "resume": ("resume", "Let a paused job go on from its last committed checkpoint."),
    "why": ("why", "Why a job is where it is: cause, evidence, what is done about it."),
    "ledger": ("ledger", "Where the time of a job went, to the nanosecond."),
    "checkpoints": ("checkpoints", "List the checkpoints of a job; verify, prune or restore them."),
    "rm": ("rm", "Remove jobs that have ended, with all they hold."),
    "plan": ("plan", "What to run a workload on: five decisions, with reasons and sources."),
    "explain": ("explain", "What ended a job first, from events, listings, logs or a root."),
    "lint": ("lint", "Mistakes of ML workloads on ECS in the files that say what should run."),
    "rules": ("rules", "The rules of lint; `rules show ID` says why and what to do."),
    "facts": ("facts", "What is known of instance types and limits of AWS, with sources."),
    "completion": ("completion", "Print the completion script of a shell."),
}
"""Verb → (module under `phalanx.cli`, one line for the list). A verb is listed once it works."""


class ReaderGone(Exception):
    """Whoever read our output has closed it."""


class Verbs(click.Group):
    """A group that knows its verbs by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Verbs in the order of the table: the life of a job."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command; None when there is no such verb."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"phalanx.cli.{VERBS[cmd_name][0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; a word that is none gets the nearest verbs as a hint."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, 2)
            hint = f"did you mean {' or '.join(near)}?" if near else "see `phalanx --help`"
            raise click.UsageError(f"there is no verb '{args[0]}' ({hint})")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; a reader of our output that has gone is told apart from other errors."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Click would turn it into exit code 1.
            raise ReaderGone from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing one."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from phalanx import __version__

        click.echo(f"phalanx {__version__}")
        ctx.exit()


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Verbs take --json. The root is --root, $PHALANX_ROOT or ./.phalanx.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
def phalanx() -> None:
    """Train over many processes; lose one, and go on from the last committed checkpoint."""


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the `phalanx` command; leaves by `SystemExit`."""
    sys.exit(call(sys.argv[1:] if args is None else list(args)))


def call(args: Sequence[str], ensure: Ensure | None = None) -> int:
    """Run one command line and return its exit code.

    `ensure` starts controllers in the place of the real one.
    """
    try:
        words = list(args) or ["--help"]
        result = phalanx.main(words, prog_name="phalanx", standalone_mode=False, obj=ensure)
        sys.stdout.flush()
    except PhalanxError as error:
        return _say(error.line(), error.exit_code)
    except click.ClickException as error:
        return _say(_usage(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", 130)
    except (BrokenPipeError, ReaderGone):
        # Python must not complain again while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as error:
        return _say(_internal(error), INTERNAL)
    return result if isinstance(result, int) else 0


INTERNAL = 70
"""Exit code of a defect of phalanx itself (EX_SOFTWARE); none of the contract's meanings."""


def _say(line: str, code: int) -> int:
    print(f"phalanx: {_clean(line)}", file=sys.stderr)
    return code


def _clean(text: str) -> str:
    """Without what looks like a secret: a line may repeat a word of the command or of a file."""
    from phalanx.redaction.redactor import Redactor
    from phalanx.redaction.values import named_values

    return Redactor(named_values(os.environ)).text(text)


def _usage(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    if context is None or context.parent is None:
        return text
    return f"{text} (see `{context.command_path} --help`)"


def _internal(error: Exception) -> str:
    """Keep the trace in a file; say what happened and where the trace is."""
    import tempfile
    import traceback

    says = f"internal error: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="phalanx-trace-", suffix=".txt", delete=False
        ) as file:
            file.write(_clean("".join(traceback.format_exception(error))))
    except OSError:
        return says
    return f"{says} (the trace is in {file.name}; please report it)"
