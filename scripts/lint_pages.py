"""Writes `docs/rules/`, one page for every area of lint. With `--check`: fails if it is behind."""

from __future__ import annotations

import sys
from pathlib import Path

from phalanx.lint.discover import all_rules
from phalanx.lint.output.pages import pages

TARGET = Path(__file__).parent.parent / "docs" / "rules"


def main() -> int:
    made = pages(all_rules())
    there = {p.name: p.read_text() for p in TARGET.glob("*.md")} if TARGET.is_dir() else {}
    if "--check" in sys.argv[1:]:
        behind = sorted(n for n in {*made, *there} if made.get(n) != there.get(n))
        print("\n".join(f"docs/rules/{name} is behind" for name in behind))
        return 1 if behind else 0
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - made.keys():
        (TARGET / name).unlink()
    for name, text in made.items():
        (TARGET / name).write_text(text)
    print(f"{len(made)} pages of {len(all_rules())} rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
