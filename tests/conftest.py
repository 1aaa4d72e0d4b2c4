"""Rules for the whole suite: with CI=1, a skip that nobody has allowed is a failure."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

_ALLOWED = Path(__file__).with_name("allowed_skips.txt")
_skipped: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped[report.nodeid] = _because(report.longrepr)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped[report.nodeid] = _because(report.longrepr)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if _in_ci() and not _is_xdist_node(session) and exitstatus == 0 and _unexpected():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _in_ci():
        for nodeid, because in _unexpected().items():
            terminalreporter.write_line(f"not allowed to skip: {nodeid} ({because})", red=True)


def _unexpected() -> dict[str, str]:
    lines = (line.split("#")[0].strip() for line in _ALLOWED.read_text().splitlines())
    allowed = [line for line in lines if line]
    return {
        nodeid: because
        for nodeid, because in sorted(_skipped.items())
        if not any(fnmatchcase(nodeid, pattern) for pattern in allowed)
    }


def _because(said: object) -> str:
    text = str(said[2]) if isinstance(said, tuple) else str(said)
    return text.removeprefix("Skipped: ")


def _in_ci() -> bool:
    return os.environ.get("CI", "") not in ("", "0", "false")


def _is_xdist_node(session: pytest.Session) -> bool:
    return hasattr(session.config, "workerinput")
