"""`phalanx facts show WORD` and `phalanx facts refresh`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from phalanx.errors import BackendError, InputError
from phalanx.facts.refresh import table
from phalanx.facts.rows import rows
from phalanx.facts.words import show_instance, show_row


@click.group("facts")
def command() -> None:
    """What phalanx knows of accelerators, limits and rules of AWS, with sources.

    `phalanx facts show p5.48xlarge --json` prints a row with its sources, `phalanx facts list
    --json` all that are not instance types.
    """


@command.command("show")
@click.argument("word")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def show(word: str, as_json: bool) -> int:
    """One row: an instance type (p5.48xlarge), a family (p5), or a fact (spot.notice-s)."""
    found = [*show_instance(word), *show_row(word)]
    if not found:
        raise InputError(
            f"nothing is known of {word}", hint="phalanx facts list; a type, a family, or a fact"
        )
    if as_json:
        print(json.dumps({"schema": "phalanx.facts/1", "rows": [view for view, _ in found]}))
    else:
        print("\n\n".join(text for _, text in found))
    return 0


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def list_(as_json: bool) -> int:
    """Every fact that is not an instance type."""
    if as_json:
        views = [view for row in rows() for view, _ in show_row(row)]
        print(json.dumps({"schema": "phalanx.facts/1", "rows": views}))
        return 0
    for row in rows().values():
        mark = f"  [{row.mark}]" if row.mark else ""
        print(f"{row.id:40} {row.says}{mark}")
    return 0


@command.command("refresh")
@click.argument("answer", required=False, type=click.Path(path_type=Path))
@click.option("--region", help="Region to ask when no file is given.")
@click.option("--to", type=click.Path(path_type=Path), help="Where to write the table.")
def refresh(answer: Path | None, region: str | None, to: Path | None) -> int:
    """Make the instance table from a DescribeInstanceTypes answer, or from the account.

    ANSWER is the JSON that `aws ec2 describe-instance-types` prints. Without it the account is
    asked, which needs boto3 and ec2:DescribeInstanceTypes.
    """
    raw = _from_file(answer) if answer else _from_account(region)
    source = f"DescribeInstanceTypes, {answer.name if answer else region or 'this account'}"
    made = table(raw, source=source, verified="undated")
    text = json.dumps(made)
    if to is None:
        print(text)
        return 0
    try:
        to.write_text(text + "\n", "utf-8")
    except OSError as error:
        from phalanx.store.refusals import unwritable

        raise unwritable(error, str(to)) from error
    click.echo(f"{len(made['rows'])} types written to {to}", err=True)
    return 0


def _from_file(answer: Path) -> object:
    try:
        made: object = json.loads(answer.read_bytes())
    except OSError as error:
        raise InputError(f"{answer}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{answer}: is not JSON: {error}") from error
    return made


def _from_account(region: str | None) -> object:
    try:
        import boto3  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise InputError(
            "boto3 is not installed", hint="give a file made by aws ec2 describe-instance-types"
        ) from error
    try:
        client: Any = boto3.client("ec2", region_name=region)
        pages = client.get_paginator("describe_instance_types").paginate()
        return [entry for page in pages for entry in page["InstanceTypes"]]
    except Exception as error:  # whatever the SDK raises means that the account refused
        raise BackendError(f"EC2 refused: {error}", hint="check credentials and region") from error
