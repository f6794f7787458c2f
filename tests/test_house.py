"""Rules of the house that no linter knows: what a committed file may hold."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("simulator", "models", "calibration", "scenarios")
MOST_LINES = 400

# In pieces, so that this file does not break its own rule.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "registry.npm" + "js",
    "crates" + ".io",
    "proxy.go" + "lang.org",
    "deb.deb" + "ian.org",
    "repo.maven.ap" + "ache.org",
]
LOCKS = ("requirements.lock", "requirements-dev.lock")
DEVELOPERS_FOLDERS = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/", "/Us" + "ers/"]
# A path that starts there, or an address of a file; not a longer path that only contains the word.
STARTS_THERE = r"(?:(?<![\w./~})-])|(?<=file://))"
IN_A_DEVELOPERS_FOLDER = re.compile(STARTS_THERE + "(?:" + "|".join(DEVELOPERS_FOLDERS) + ")")
FORBIDDEN_CALLS = re.compile(r"\byaml\.load\(|(?<![\w.])(?:eval|exec)\(|\bc?[pP]ickle\b|allow_pickle=True")


@cache
def committed_files() -> tuple[Path, ...]:
    """Files that git tracks, and those that `git add` would take, so a rule speaks before the commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return tuple(ROOT / name for name in sorted(set(listed.split("\0"))) if name and (ROOT / name).is_file())


def places(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    """`file:line: text` of every match."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def python_files(*folders: str) -> list[Path]:
    wanted = [path for path in committed_files() if path.suffix == ".py"]
    return [path for path in wanted if not folders or path.relative_to(ROOT).parts[0] in folders]


def test_no_file_names_a_package_registry() -> None:
    pattern = re.compile("|".join(map(re.escape, REGISTRY_HOSTS)))
    found = places(pattern, list(committed_files()))
    assert not found, "where packages come from is each machine's own setting:\n" + "\n".join(found)


def test_no_file_names_a_developers_folder() -> None:
    found = places(IN_A_DEVELOPERS_FOLDER, list(committed_files()))
    assert not found, "write paths from the root of the checkout:\n" + "\n".join(found)


@pytest.mark.parametrize("example", ["cd {}x", '"{}x"', "file://{}x", "-f={}x"])
@pytest.mark.parametrize("folder", DEVELOPERS_FOLDERS)
def test_a_developers_folder_is_recognised(folder: str, example: str) -> None:
    assert IN_A_DEVELOPERS_FOLDER.search(example.format(folder))


def test_python_files_fit_a_readers_head() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files()}
    too_long = [f"{path.relative_to(ROOT)}: {n}" for path, n in lengths.items() if n >= MOST_LINES]
    assert not too_long, f"split these, each file stays under {MOST_LINES} lines:\n" + "\n".join(too_long)


def test_packages_run_no_text_from_files() -> None:
    found = places(FORBIDDEN_CALLS, python_files(*PACKAGES))
    assert not found, "data files are read by yaml.safe_load, json or numpy:\n" + "\n".join(found)


@pytest.mark.parametrize("line", ["yaml.load(text)", "x = eval(text)", "import pickle", "exec(code)"])
def test_text_that_is_run_is_recognised(line: str) -> None:
    assert FORBIDDEN_CALLS.search(line)


@pytest.mark.parametrize("line", ["yaml.safe_load(text)", "model.eval(x)", "retrieval(x)", "Executor()"])
def test_harmless_lines_are_not(line: str) -> None:
    assert not FORBIDDEN_CALLS.search(line)


def test_data_files_parse() -> None:
    broken = []
    for path in committed_files():
        if path.suffix in {".yaml", ".yml"}:
            try:
                empty = yaml.safe_load(path.read_text(encoding="utf-8")) is None
                broken += [f"{path.relative_to(ROOT)}: empty"] if empty else []
            except yaml.YAMLError as error:
                broken.append(f"{path.relative_to(ROOT)}: {error}")
    assert not broken, "\n".join(broken)


def test_packages_are_typed_and_described() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file(), f"{package}/py.typed is missing"
        opening = (ROOT / package / "__init__.py").read_text()
        assert opening.startswith('"""'), f"{package}/__init__.py says nothing"


@pytest.mark.parametrize("lock", [*LOCKS, "benchmarks/requirements.lock"])
def test_locks_are_complete_and_name_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert " @ " not in text
    requirements = re.split(r"\n(?=[\w.-]+==)", text)[1:]
    assert requirements
    assert all("--hash=sha256:" in requirement for requirement in requirements)


def test_development_lock_agrees_with_the_run_time_lock() -> None:
    run_time, development = (set(re.findall(r"^[\w.-]+==\S+", (ROOT / lock).read_text(), re.M)) for lock in LOCKS)
    assert run_time <= development, "run `make lock`"


def test_changelog_has_a_place_for_the_next_change() -> None:
    assert re.search(r"^## \[Unreleased\]$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_readme_names_exactly_two_make_commands() -> None:
    named = set(re.findall(r"(?:^ {4}|`)(make [a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named == {"make demo", "make test"}
