"""Prints the measured sizes at the end of a run of the house tests."""

from __future__ import annotations

import pytest

from tests.house.test_sizes import summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(summary())
