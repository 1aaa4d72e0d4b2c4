"""results.json, machine.json and the tables of README.md, from the rows of all parts."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench import place
from bench.stats import Row

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def machine() -> dict[str, Any]:
    """What kind of machine this is, and what was measured on it."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "torch": _version("torch"),
        "code": place.code_digest(),
        "quick": place.QUICK,
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    names = [x.partition(":")[2].strip() for x in text.splitlines() if x.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def write(
    parts: dict[str, tuple[list[Row], list[str]]],
    folder: Path = place.HERE,
    *,
    is_quick: bool = place.QUICK,
) -> None:
    """Replace what these parts said before; what other parts said stays.

    A quick run writes below `raw` and leaves the committed results alone.
    """
    target = folder / "raw" if is_quick else folder
    target.mkdir(parents=True, exist_ok=True)
    old = _read(target / "results.json", [])
    kept = [row for row in old if row["name"].partition(".")[0] not in parts]
    new = [asdict(row) for rows, _ in parts.values() for row in rows]
    every = sorted(kept + [_rounded(row) for row in new], key=lambda row: str(row["name"]))
    about = _read(target / "machine.json", {})
    about = {**about, **{name: {**machine(), "notes": said} for name, (_, said) in parts.items()}}
    _put(target / "results.json", every)
    _put(target / "machine.json", about)
    if not is_quick:
        _fill(folder / "README.md", "\n".join(tables(every, about)))


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}


def _read(path: Path, default: Any) -> Any:
    return json.loads(path.read_text()) if path.exists() else default


def _put(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")


def _fill(path: Path, text: str) -> None:
    before, _, rest = path.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def tables(rows: list[dict[str, Any]], about: dict[str, Any]) -> list[str]:
    """Markdown: a section for each part."""
    found: list[str] = []
    for part in dict.fromkeys(str(row["name"]).partition(".")[0] for row in rows):
        found += [f"\n## {part}\n", *_where(about.get(part))]
        found += ["", "| name | ours | peer | ratio | interval | goal | met | trials |"]
        found += ["| --- | ---: | ---: | ---: | --- | --- | --- | ---: |"]
        mine = [row for row in rows if str(row["name"]).partition(".")[0] == part]
        found += [line(row) for row in mine]
        said = (about.get(part) or {}).get("notes", [])
        found += ["", *(note if note.startswith("|") or not note else f"{note}  " for note in said)]
    return found


def _where(about: dict[str, Any] | None) -> list[str]:
    if about is None:
        return []
    return [
        f"{about['date']}, {about['cores']} cores of {about['processor']}, "
        f"{about['memory_gib']} GiB, Linux {about['kernel']}, Python {about['python']}, "
        f"torch {about['torch']}, code {about['code']}."
    ]


def line(row: dict[str, Any]) -> str:
    """One row of a table."""
    low, high = _number(row["low"]), _number(row["high"])
    met = {True: "yes", False: "**no**", None: ""}[row["met"]]
    ours, peer = f"{_number(row['ours'])} {row['unit']}", _number(row["peer"])
    cells = [row["name"], ours, peer, _number(row["ratio"]), f"{low} .. {high}"]
    return f"| {' | '.join(map(str, [*cells, row['goal'] or '', met, row['trials']]))} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
