"""docs/how-to/add-a-mechanism.md, applied to a copy of the code: what it says is enough, and the mechanism works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.applied_page import add_files, apply_changes, code_page, copy_code, run_in

PAGE = code_page("add-a-mechanism")


def test_a_mechanism_costs_few_files() -> None:
    """Six are changed, by 40 lines at most; none is added but its test."""
    assert list(PAGE.files) == ["tests/simulator/test_fifo.py"]
    changes = PAGE.changes.split("--- a/")[1:]
    assert len(changes) == 6
    added = [line for line in PAGE.changes.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert len(added) <= 40


@pytest.mark.slow
def test_the_mechanism_works_as_the_page_adds_it(tmp_path: Path) -> None:
    """Its own test passes in the copy; before the engines know it, it doesn't."""
    checkout = copy_code(tmp_path, "*.so")
    add_files(PAGE, checkout)
    test = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/simulator/test_fifo.py")
    assert "cannot import name 'fifo_missing'" in run_in(checkout, *test).stdout
    apply_changes(PAGE, checkout)
    compiled = run_in(checkout, sys.executable, ".ci/libraries.py")
    assert compiled.returncode == 0, compiled.stderr
    passed = run_in(checkout, *test)
    assert passed.returncode == 0, passed.stdout
    assert "5 passed" in passed.stdout
