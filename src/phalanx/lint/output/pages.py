"""The rule pages of the documentation, made from the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phalanx.lint.rule import Rule


def pages(rules: Sequence[Rule[Any]]) -> dict[str, str]:
    """File name → Markdown: one page for every area, and `README.md` with all rules."""
    out = {"README.md": _index(rules)}
    for area in sorted({rule.areas[0] for rule in rules}):
        mine = [rule for rule in rules if rule.areas[0] == area]
        out[f"{area}.md"] = f"# Lint rules: {area}\n\n" + "\n".join(_rule(r) for r in mine)
    return out


def _index(rules: Sequence[Rule[Any]]) -> str:
    lines = [
        "# Lint rules",
        "",
        f"{len(rules)} rules. `phalanx rules show ID` prints one of them; a comment "
        "`# phalanx: ignore ID reason` or a `[[waive]]` table in `phalanx.toml` waives one.",
        "",
        "| id | severity | slug | says |",
        "|---|---|---|---|",
    ]
    for rule in rules:
        link = f"[{rule.id}]({rule.areas[0]}.md#{rule.id.lower()}-{rule.slug})"
        lines.append(f"| {link} | {rule.severity.value} | `{rule.slug}` | {_cell(rule.message)} |")
    return "\n".join(lines) + "\n"


def _rule(rule: Rule[Any]) -> str:
    facts = [f"severity {rule.severity.value}", f"on every {rule.on.kind}", f"since {rule.since}"]
    facts += [", ".join(rule.areas), *rule.guards]
    lines = [
        f"## {rule.id} {rule.slug}",
        "",
        f"{rule.message}.",
        "",
        f"*{' · '.join(facts)}*",
        "",
        f"**Why.** {rule.why}",
        "",
        f"**Fix.** {rule.fix}",
        "",
        "Sources: " + "; ".join(f"<{s.url}> ({s.verified})" for s in rule.sources) + ".",
        "",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
