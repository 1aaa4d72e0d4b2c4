"""`phalanx rules` and `phalanx rules show ID`."""

from __future__ import annotations

import json
from typing import Any

import click

from phalanx.errors import InputError
from phalanx.lint.discover import all_rules, find_rule
from phalanx.lint.rule import Rule


@click.group("rules", invoke_without_command=True)
@click.option("--area", help="Only rules of this area (efa, spot, security, ...).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@click.pass_context
def command(ctx: click.Context, area: str | None, as_json: bool) -> int | None:
    """The rules of lint: `phalanx rules`, `phalanx rules show EFA001`."""
    if ctx.invoked_subcommand is not None:
        return None
    found = [r for r in all_rules() if area is None or area in r.areas]
    if not found:
        areas = sorted({a for r in all_rules() for a in r.areas})
        raise InputError(f"no rules in area {area}", hint=f"areas: {', '.join(areas)}")
    if as_json:
        print(json.dumps({"schema": "phalanx.rules/1", "rules": [_plain(r) for r in found]}))
        return 0
    width = max(len(r.slug) for r in found)
    for rule in found:
        print(f"{rule.id}  {rule.severity.value:7}  {rule.slug:{width}}  {rule.message}")
    return 0


@command.command("show")
@click.argument("rule")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def show(rule: str, as_json: bool) -> int:
    """One rule, by id or slug: what it says, why, the fix and the sources."""
    found = find_rule(rule)
    if found is None:
        raise InputError(f"there is no rule {rule}", hint="phalanx rules lists them")
    if as_json:
        print(json.dumps({"schema": "phalanx.rules/1", "rules": [_plain(found)]}))
        return 0
    print(f"{found.id} {found.slug} ({found.severity.value}; {', '.join(found.areas)})")
    print(f"\n{found.message}\n\nwhy: {found.why}\nfix: {found.fix}\n")
    for source in found.sources:
        print(f"see: {source.url} ({source.verified})")
    if found.guards:
        print(f"guards: {', '.join(found.guards)}")
    if found.facts:
        print(f"facts: {', '.join(found.facts)}")
    return 0


def _plain(rule: Rule[Any]) -> dict[str, object]:
    return {
        "id": rule.id,
        "slug": rule.slug,
        "severity": rule.severity.value,
        "areas": list(rule.areas),
        "on": rule.on.kind,
        "message": rule.message,
        "why": rule.why,
        "fix": rule.fix,
        "sources": [{"url": s.url, "verified": s.verified} for s in rule.sources],
        "since": rule.since,
        "guards": list(rule.guards),
        "facts": list(rule.facts),
    }
