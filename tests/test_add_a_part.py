"""docs/how-to/add-a-part.md, applied to a copy of the code: what it says is enough, and the part works."""

from pathlib import Path

import pytest

from tests.applied_page import code_page, copy_code, works_as_added

PAGE = code_page("add-a-part")


def test_five_files_and_a_line_in_each_switchboard() -> None:
    assert len(PAGE.files) == 5
    changes = PAGE.changes.split("--- a/")[1:]
    assert len(changes) == 5
    for change in changes:
        lines = [line for line in change.splitlines() if line.startswith("+") and not line.startswith("+++")]
        assert len([line for line in lines if "import" not in line and "#include" not in line]) <= 3, change


@pytest.mark.slow
def test_the_part_works_as_the_page_adds_it(tmp_path: Path) -> None:
    """Its own test passes in a copy whose libraries are compiled; before the switchboards know it, it doesn't."""
    works_as_added(PAGE, copy_code(tmp_path, "*.so"), "tests/simulator/test_tape.py", "TapeDevice", 3)
