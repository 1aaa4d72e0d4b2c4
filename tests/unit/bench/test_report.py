from __future__ import annotations

import json
from pathlib import Path

from bench import report, stats
from bench.stats import Goal


def write(folder: Path, part: str, seconds: float) -> None:
    row = stats.value_row(f"{part}.median", [seconds] * 3, "s", Goal("ours", 0.3))
    report.write({part: ([row], [f"how {part} was run"])}, folder, is_quick=False)


def test_a_part_replaces_its_own_rows_only(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"above\n{report.BEGIN}\nold\n{report.END}\nbelow\n")
    write(tmp_path, "recovery", 0.2)
    write(tmp_path, "saves", 0.1)
    write(tmp_path, "recovery", 0.4)
    rows = json.loads((tmp_path / "results.json").read_text())
    assert [(row["name"], row["ours"], row["met"]) for row in rows] == [
        ("recovery.median", 0.4, False),
        ("saves.median", 0.1, True),
    ]
    assert set(rows[0]) == {
        *("name", "ours", "peer", "ratio", "unit", "trials", "low", "high", "goal", "met")
    }
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert "old" not in text
    assert "how saves was run" in text
