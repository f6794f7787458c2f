"""docs/how-to/add-a-mechanism.md, applied to a copy of the code: what it says is enough, and the mechanism works."""

from pathlib import Path

import pytest

from tests.applied_page import code_page, copy_code, works_as_added

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
    """Its own test passes in a copy whose libraries are compiled; before the engines know it, it doesn't."""
    works_as_added(PAGE, copy_code(tmp_path, "*.so"), "tests/simulator/test_fifo.py", "fifo_missing", 5)
