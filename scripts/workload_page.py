"""Write the tables of docs/plan.md anew, from the models that read workload files."""

from __future__ import annotations

from pathlib import Path

from job_file_page import END, START, table
from phalanx.spec.schema import workload_schema

PAGE = Path(__file__).parents[1] / "docs" / "plan.md"
MARK = START.replace("job_file_page", "workload_page")


def tables() -> str:
    """One table for the top, one for each group of fields below it."""
    schema = workload_schema()
    parts = [table("", schema, schema)]
    for name, field in schema["properties"].items():
        refs = [part["$ref"] for part in (field, *field.get("anyOf", ())) if "$ref" in part]
        for ref in refs:
            group = schema["$defs"][ref.rpartition("/")[2]]
            parts.append(f"### {name}\n\n{group['description']}\n\n{table(name, group, schema)}")
    return "\n".join(parts)


def main() -> None:
    before, rest = PAGE.read_text().split(MARK)
    PAGE.write_text(f"{before}{MARK}\n{tables()}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
