"""docs/job-file.md names every field of a job file, as the models have it now."""

from __future__ import annotations

import sys

from tests.house.tree import ROOT


def test_the_page_is_what_the_script_writes(monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    import job_file_page

    page = job_file_page.PAGE.read_text()
    assert job_file_page.tables() in page, "run scripts/job_file_page.py"
