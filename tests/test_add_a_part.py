"""docs/how-to/add-a-part.md, applied to a copy of the code: what it says is enough, and the part works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "how-to" / "add-a-part.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```(?:python|cpp) file=(\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
CHANGES = "".join(re.findall(r"^```diff\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the packages and of the tests."""
    for folder in (".ci", "simulator", "models", "calibration", "scenarios", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a copy, which finds the copy's packages before those that are installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST_"))}
    environment["PYTHONPATH"] = str(checkout)
    return subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def test_five_files_and_a_line_in_each_switchboard() -> None:
    assert len(FILES) == 5
    changes = CHANGES.split("--- a/")[1:]
    assert len(changes) == 5
    for change in changes:
        lines = [line for line in change.splitlines() if line.startswith("+") and not line.startswith("+++")]
        assert len([line for line in lines if "import" not in line and "#include" not in line]) <= 3, change


@pytest.mark.slow
def test_the_part_works_as_the_page_adds_it(checkout: Path) -> None:
    """Its own test passes in the copy; before the switchboards know it, it doesn't."""
    for name, text in FILES.items():
        (checkout / name).write_text(text, encoding="utf-8")
    test = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/simulator/test_tape.py")
    assert "cannot import name 'TapeDevice'" in run(checkout, *test).stdout
    (checkout / "changes.diff").write_text(CHANGES, encoding="utf-8")
    applied = run(checkout, "git", "apply", "-C1", "changes.diff")
    assert applied.returncode == 0, applied.stderr
    compiled = run(checkout, sys.executable, ".ci/libraries.py")
    assert compiled.returncode == 0, compiled.stderr
    passed = run(checkout, *test)
    assert passed.returncode == 0, passed.stdout
    assert "3 passed" in passed.stdout
