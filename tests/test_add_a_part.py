"""docs/how-to/add-a-part.md, applied to a copy of the code: what it says is enough, and the part works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.applied_page import add_files, apply_changes, code_page, copy_code, run_in

PAGE = code_page("add-a-part")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy whose libraries have still to be compiled."""
    return copy_code(tmp_path, "*.so")


def test_five_files_and_a_line_in_each_switchboard() -> None:
    assert len(PAGE.files) == 5
    changes = PAGE.changes.split("--- a/")[1:]
    assert len(changes) == 5
    for change in changes:
        lines = [line for line in change.splitlines() if line.startswith("+") and not line.startswith("+++")]
        assert len([line for line in lines if "import" not in line and "#include" not in line]) <= 3, change


@pytest.mark.slow
def test_the_part_works_as_the_page_adds_it(checkout: Path) -> None:
    """Its own test passes in the copy; before the switchboards know it, it doesn't."""
    add_files(PAGE, checkout)
    test = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/simulator/test_tape.py")
    assert "cannot import name 'TapeDevice'" in run_in(checkout, *test).stdout
    apply_changes(PAGE, checkout)
    compiled = run_in(checkout, sys.executable, ".ci/libraries.py")
    assert compiled.returncode == 0, compiled.stderr
    passed = run_in(checkout, *test)
    assert passed.returncode == 0, passed.stdout
    assert "3 passed" in passed.stdout
