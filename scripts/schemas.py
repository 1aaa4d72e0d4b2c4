"""Writes the JSON Schemas that ship with the package: `python scripts/schemas.py`."""

import json
from pathlib import Path

import phalanx
from phalanx.spec.schema import SCHEMA_FILE, job_schema


def main() -> None:
    folder = Path(phalanx.__file__).parent / "schemas"
    text = json.dumps(job_schema(), indent=2, ensure_ascii=False) + "\n"
    (folder / SCHEMA_FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
