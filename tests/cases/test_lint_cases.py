"""Every case of files that say what should run: the right findings, and none of the wrong ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from phalanx.lint.engine import Report
from tests.support.linting import report

FOLDER = Path(__file__).parent / "lint"
CASES: dict[str, dict[str, Any]] = {
    c["id"]: c for c in json.loads((FOLDER / "index.json").read_text())["cases"]
}
FORBIDDEN_SLUGS = {
    "C02": ("gpu-count-exceeds-instance", "cpu-too-large"),
    "C08": ("shell-swallows-sigterm",),
    "C15": ("efa-device-not-mapped", "efa-memlock"),
    "C16": ("gpu-requirement-missing",),
}
"""`must_not` lines about findings."""
FORBIDDEN_WORDS = {
    "C01": r"(larger|bigger|another) Fargate|Fargate (size|cpu|memory)",
    "C05": r"set NCCL_PROTO|only .*host network|switch to host",
    "C06": r"(add|fourth) (a )?(fourth )?zone",
    "C07": r"(use|pass|set) (rank )?0\b",
    "C09": r"3 ?h(ours)? (is|are) available|three hours to save",
    "C10": r"raise (the )?stopTimeout|initProcessEnabled (solves|is enough|fixes)",
    "C11": r"batch size",
    "C13": r"not allowed|forbidden",
    "C16": r"\bGPU\b",
    "C22": r"hf_EXAMPLE|0123456789abcdef",
    "C23": r"cannot use GPU",
    "C24": r"retry (on )?every|RETRY everything",
    "C26": r"set both|keep both",
}
"""`must_not` lines about words in messages and fixes."""


def answer(case: dict[str, Any]) -> Report:
    return report(*((name, (FOLDER / name).read_text()) for name in case["files"]))


@pytest.mark.parametrize("id", [id for id, c in CASES.items() if not c["clean"]])
def test_a_case_is_found(id: str) -> None:
    case = CASES[id]
    found = {(f.slug, f.severity.value, f.where) for f in answer(case).findings}
    wanted = {(e["slug"], e["level"], e["where"]) for e in case["expect"]}
    assert wanted <= found
    extra = {f for f in found - wanted if f[1] != "info"}
    assert {slug for slug, _, _ in extra} <= {slug for slug, _, _ in wanted}


@pytest.mark.parametrize("id", [id for id, c in CASES.items() if c["clean"]])
def test_a_clean_file_stays_clean(id: str) -> None:
    assert [f for f in answer(CASES[id]).findings if f.severity.value != "info"] == []


@pytest.mark.parametrize("id", sorted({*FORBIDDEN_SLUGS, *FORBIDDEN_WORDS}))
def test_nothing_wrong_is_said(id: str) -> None:
    findings = answer(CASES[id]).findings
    assert findings
    assert not {f.slug for f in findings} & set(FORBIDDEN_SLUGS.get(id, ()))
    words = " ".join(f"{f.message} {f.fix}" for f in findings)
    pattern = FORBIDDEN_WORDS.get(id)
    assert pattern is None or not re.search(pattern, words, re.IGNORECASE)


def test_only_the_secrets_are_flagged() -> None:
    where = [f.where for f in answer(CASES["C22"]).findings if f.slug == "secret-in-env"]
    assert where == [f"containerDefinitions[0].environment[{n}]" for n in (0, 1)]


@pytest.mark.parametrize("id", list(CASES))
def test_every_finding_has_a_line_a_fix_and_a_source(id: str) -> None:
    for finding in answer(CASES[id]).findings:
        assert finding.line > 0
        assert finding.column > 0
        assert finding.fix
        assert finding.why
        assert finding.sources
