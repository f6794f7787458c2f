"""docs/how-to/write-an-importer.md, applied to a copy of the code: what it says is enough, and the importer works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "how-to" / "write-an-importer.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```(?:python|text) file=(\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
CHANGES = "".join(re.findall(r"^```diff\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
TEST = "tests/calibration/importers/test_orderbench.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the packages and of the tests, with the compiled libraries."""
    for folder in ("simulator", "models", "calibration", "scenarios", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a copy, which finds the copy's packages before those that are installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST_"))}
    environment["PYTHONPATH"] = str(checkout)
    return subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def test_three_files_and_a_line_in_the_table() -> None:
    assert len(FILES) == 3
    assert re.findall(r"^--- a/(\S+)$", CHANGES, re.MULTILINE) == ["calibration/importers/registry.py"]


@pytest.mark.slow
def test_the_importer_works_as_the_page_adds_it(checkout: Path) -> None:
    """Its own test passes in the copy; before the table knows it, it doesn't. Then `import` knows the sample."""
    for name, text in FILES.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text, encoding="utf-8")
    test = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TEST)
    before = run(checkout, *test)
    assert before.returncode == 1, before.stdout
    assert "failed" in before.stdout
    (checkout / "changes.diff").write_text(CHANGES, encoding="utf-8")
    applied = run(checkout, "git", "apply", "-C1", "changes.diff")
    assert applied.returncode == 0, applied.stderr
    passed = run(checkout, *test)
    assert passed.returncode == 0, passed.stdout
    assert "4 passed" in passed.stdout
    start = "import sys; from scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    imported = run(checkout, sys.executable, "-c", start, "import", "tests/samples/orderbench")
    assert imported.returncode == 0, imported.stdout + imported.stderr
    assert "orderbench summary" in imported.stdout
    assert "10,800 new orders/min" in imported.stdout
    assert "Little" in imported.stdout
