"""Writes the JSON Schemas that ship with the package: `python scripts/schemas.py`."""

import json
from pathlib import Path

import phalanx
from phalanx.spec.schema import SCHEMA_FILE, WORKLOAD_SCHEMA_FILE, job_schema, workload_schema


def main() -> None:
    folder = Path(phalanx.__file__).parent / "schemas"
    for name, schema in ((SCHEMA_FILE, job_schema()), (WORKLOAD_SCHEMA_FILE, workload_schema())):
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
