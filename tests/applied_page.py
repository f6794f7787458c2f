"""A how-to that changes the code, applied to a copy of it."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (".ci", "src", "simulator", "models", "calibration", "scenarios", "tests")


@dataclass(frozen=True)
class CodePage:
    """Files that a page has whole, by their names, and its changes of others as one diff."""

    files: dict[str, str]
    changes: str


def code_page(name: str) -> CodePage:
    """What docs/how-to/NAME.md adds and changes."""
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    return CodePage(files, "".join(re.findall(r"^```diff\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)))


def copy_code(folder: Path, *left_out: str) -> Path:
    """A copy of the packages and of the tests, without files of these patterns; returns the folder."""
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", *left_out)
        )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def add_files(page: CodePage, folder: Path) -> None:
    """Write the page's files into a copy."""
    for name, text in page.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def apply_changes(page: CodePage, folder: Path) -> None:
    """Apply the page's diff to a copy."""
    (folder / "changes.diff").write_text(page.changes, encoding="utf-8")
    applied = run_in(folder, "git", "apply", "-C1", "changes.diff")
    assert applied.returncode == 0, applied.stderr


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a copy, which finds the copy's packages before those that are installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST_"))}
    environment["PYTHONPATH"] = str(folder / "src")
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def works_as_added(page: CodePage, folder: Path, test: str, unknown: str, passed: int) -> None:
    """Assert that a page's own test passes in a copy, so many times, and not before the rest knows `unknown`."""
    add_files(page, folder)
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    assert f"cannot import name '{unknown}'" in run_in(folder, *words).stdout
    apply_changes(page, folder)
    compiled = run_in(folder, sys.executable, ".ci/libraries.py")
    assert compiled.returncode == 0, compiled.stderr
    tested = run_in(folder, *words)
    assert tested.returncode == 0, tested.stdout
    assert f"{passed} passed" in tested.stdout
