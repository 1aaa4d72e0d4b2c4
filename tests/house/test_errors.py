"""Every error has an exit code of the contract, a place in the tree and a word for people."""

from __future__ import annotations

import inspect
import re

import pytest

from phalanx import errors
from tests.house.tree import ROOT

ERRORS = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]
CONTRACTS = (ROOT / "docs" / "contracts.md").read_text()


def documented_codes() -> dict[int, str]:
    """Exit code → the errors that the contract lists for it."""
    rows = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", CONTRACTS, flags=re.MULTILINE)
    return {int(code): names for code, names in rows}


def test_there_are_errors() -> None:
    assert errors.PhalanxError in ERRORS


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.__name__)
def test_it_is_in_the_tree_and_says_what_it_means(error: type[Exception]) -> None:
    assert issubclass(error, errors.PhalanxError)
    assert (error.__doc__ or "").strip()
    assert error.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.__name__)
def test_its_exit_code_is_in_the_contract(error: type[errors.PhalanxError]) -> None:
    names = documented_codes()[error.exit_code]
    assert f"`{error.__name__}`" in names


def test_no_other_module_makes_an_error_with_an_exit_code() -> None:
    from tests.house.tree import classes, modules

    found = [
        f"{module.name}:{node.name}"
        for module in modules()
        if module.name != "phalanx.errors"
        for node in classes(module)
        if any(base.id == "PhalanxError" for base in node.bases if hasattr(base, "id"))
    ]
    assert found == []
