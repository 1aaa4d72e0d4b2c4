"""Write the tables of docs/job-file.md anew, from the models that read job files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phalanx.spec.schema import job_schema

PAGE = Path(__file__).parents[1] / "docs" / "job-file.md"
START = "<!-- written by scripts/job_file_page.py -->\n"
END = "<!-- end -->\n"

REFUSED = {
    "notify.sns": "refused",
    "secrets.<name>.ssm": "refused",
    "secrets.<name>.secretsmanager": "refused",
    "target.cluster": "has no effect yet",
    "target.capacity": "has no effect yet",
    "image": "not used",
}
"""What the local target makes of fields that this release cannot serve."""


def tables() -> str:
    """One table for the top, one for each group of fields below it."""
    schema = job_schema()
    parts = [table("", schema, schema)]
    for name, field in schema["properties"].items():
        group, path = _group(field, schema["$defs"]), name
        if name == "secrets":
            path = "secrets.<name>"
        if group is not None:
            parts.append(f"## {name}\n\n{group['description']}\n\n{table(path, group, schema)}")
    return "\n".join(parts)


def table(path: str, group: dict[str, Any], schema: dict[str, Any]) -> str:
    rows = ["| field | what it is | value | |", "|---|---|---|---|"]
    for name, field in group["properties"].items():
        full = f"{path}.{name}" if path else name
        needed = "needed" if name in group.get("required", ()) else REFUSED.get(full, "")
        values = ", ".join(dict.fromkeys(_values(field, schema["$defs"])))
        words = (f"`{name}`", field.get("description", ""), values, needed)
        rows.append("| " + " | ".join(map(_cell, words)) + " |")
    return "\n".join(rows) + "\n"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;").strip()


def _group(field: dict[str, Any], groups: dict[str, Any]) -> dict[str, Any] | None:
    """The group of fields that a field holds, also inside a list or a mapping."""
    if "$ref" in field:
        group = groups[field["$ref"].rpartition("/")[2]]
        return group if "properties" in group else None
    inner = [*field.get("anyOf", ()), field.get("items"), field.get("additionalProperties")]
    found = (_group(part, groups) for part in inner if isinstance(part, dict))
    return next((group for group in found if group is not None), None)


def _values(field: dict[str, Any], groups: dict[str, Any]) -> Iterator[str]:
    if "anyOf" in field:
        for part in field["anyOf"]:
            yield from _values(part, groups)
    elif "const" in field or "enum" in field:
        yield from (f"`{value}`" for value in field.get("enum", [field.get("const")]))
    elif "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        yield "fields below" if "properties" in groups[name] else "a failure class"
    elif field.get("type") == "array":
        yield f"list: {' or '.join(_values(field['items'], groups))}"
    elif field.get("type") == "object":
        inner = field.get("additionalProperties")
        yield "names, each with fields below" if _group(field, groups) else "names with text"
        assert inner is not None
    elif field.get("type") != "null":
        yield _plain(field)


def _plain(field: dict[str, Any]) -> str:
    kind, pattern = field.get("type", "text"), field.get("pattern", "")
    if "steps" in pattern:
        return "`100 steps`"
    if "iB" in pattern:
        return "size"
    if "h|m|s" in pattern:
        return "duration"
    words = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`"}
    return "text" if isinstance(kind, list) else words.get(kind, "text")


def main() -> None:
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(f"{before}{START}\n{tables()}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
