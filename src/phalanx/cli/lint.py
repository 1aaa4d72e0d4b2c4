"""`phalanx lint PATH...`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from phalanx.lint.collect import collect, config
from phalanx.lint.engine import Report, lint
from phalanx.lint.rule import Severity

FORMATS = ("text", "json", "sarif", "github")


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option(
    "--fail-on",
    type=click.Choice([s.value for s in Severity]),
    default="error",
    show_default=True,
    help="Exit 1 when something is at or above this severity.",
)
@click.option("--fix", is_flag=True, help="Show safe repairs as a diff, then write them.")
@click.option("--yes", is_flag=True, help="With --fix: write without asking.")
@click.option("--short", is_flag=True, help="Without why, fix and sources.")
@click.option("--config", "folder", default=".", help="Folder of phalanx.toml.", metavar="FOLDER")
def command(
    paths: tuple[str, ...],
    form: str,
    as_json: bool,
    fail_on: str,
    fix: bool,
    yes: bool,
    short: bool,
    folder: str,
) -> int:
    """Mistakes of ML workloads on ECS, in the files that say what should run.

    PATH is a file or a folder: task definitions, Batch job definitions, RunTask and CreateService
    inputs, CloudFormation, Terraform files and plans, compose files, job files. All files of one
    call are one world. A comment `# phalanx: ignore EFA001 reason` waives a finding.
    """
    waivers, name = config(folder)
    report = lint(collect(paths), waivers=waivers, config=name)
    if fix:
        return _fix(report, yes)
    _print(report, "json" if as_json else form, short)
    for skipped in report.skipped:
        if short is False and form == "text" and not as_json and _could_be_meant(skipped.file):
            print(f"skipped {skipped.because}", file=sys.stderr)
    return 1 if report.fails(Severity(fail_on)) else 0


def _could_be_meant(name: str) -> bool:
    return name.endswith((".tf", ".template", ".cfn.yaml"))


def _print(report: Report, form: str, short: bool) -> None:
    if form == "json":
        from phalanx.lint.output.json_text import to_json

        print(json.dumps(to_json(report)))
    elif form == "sarif":
        from phalanx import __version__
        from phalanx.lint.discover import all_rules
        from phalanx.lint.output.sarif import to_sarif

        print(json.dumps(to_sarif(report, all_rules(), __version__), indent=1))
    elif form == "github":
        from phalanx.lint.output.github import to_github
        from phalanx.lint.output.text import summary

        text = to_github(report)
        print(text + "\n" + summary(report) if text else summary(report))
    else:
        from phalanx.lint.output.text import to_text

        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(to_text(report, colour=colour, explain=not short))


def _fix(report: Report, yes: bool) -> int:
    from phalanx.lint.fixes import difference, repaired

    changed = repaired(report)
    if not changed:
        print("nothing here has a safe repair", file=sys.stderr)
        return 0
    print(difference(report, changed), end="")
    if not yes:
        if not sys.stdin.isatty():
            print("nothing was written; add --yes to write it", file=sys.stderr)
            return 0
        click.confirm(f"Write {_counted(len(changed))}?", abort=True, err=True)
    for file, text in changed.items():
        Path(file).write_text(text, "utf-8")
    print(f"{_counted(len(changed))} written", file=sys.stderr)
    return 0


def _counted(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"
