"""docs/how-to/write-an-importer.md, applied to a copy of the code: what it says is enough, and the importer works."""

import re
import sys
from pathlib import Path

import pytest

from tests.applied_page import add_files, apply_changes, code_page, copy_code, run_in

PAGE = code_page("write-an-importer")
TEST = "tests/calibration/importers/test_orderbench.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy with the compiled libraries."""
    return copy_code(tmp_path)


def test_three_files_and_a_line_in_the_table() -> None:
    assert len(PAGE.files) == 3
    assert re.findall(r"^--- a/(\S+)$", PAGE.changes, re.MULTILINE) == ["calibration/importers/registry.py"]


@pytest.mark.slow
def test_the_importer_works_as_the_page_adds_it(checkout: Path) -> None:
    """Its own test passes in the copy; before the table knows it, it doesn't. Then `import` knows the sample."""
    add_files(PAGE, checkout)
    test = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TEST)
    before = run_in(checkout, *test)
    assert before.returncode == 1, before.stdout
    assert "failed" in before.stdout
    apply_changes(PAGE, checkout)
    passed = run_in(checkout, *test)
    assert passed.returncode == 0, passed.stdout
    assert "4 passed" in passed.stdout
    start = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    imported = run_in(checkout, sys.executable, "-c", start, "import", "tests/samples/orderbench")
    assert imported.returncode == 0, imported.stdout + imported.stderr
    assert "orderbench summary" in imported.stdout
    assert "10,800 new orders/min" in imported.stdout
    assert "Little" in imported.stdout
