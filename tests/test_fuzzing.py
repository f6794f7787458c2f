"""Planted changes and damaged files: a small share of what `make fuzz` does, and whether its harnesses can find."""

from pathlib import Path

import pytest

from oltpsim.simulator.errors import InputError
from tests.fuzzing import FINDS, MOST_LETTERS, Find, Reader, fault_of, fuzz, is_a_refusal, keep, readers
from tests.planting import RESULTS, SAID_ONCE, SAMPLES, moved, record_of, silent_changes

CHANGES, CASES, IMPORTS = 40, 150, 2_000


@pytest.mark.parametrize("sample", RESULTS)
def test_no_change_is_silent_where_the_file_says_a_figure_twice(tmp_path: Path, sample: str) -> None:
    assert [(key, change.line, change.what) for key, change in silent_changes(sample, CHANGES, 1, tmp_path)] == []


def test_a_silent_change_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative twin: what a file says once is found if it isn't excepted."""
    sample = "pgbench/rate_limited.txt"
    monkeypatch.setitem(SAID_ONCE, sample, ())
    assert silent_changes(sample, CHANGES, 1, tmp_path)


def test_a_moved_figure_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    text = (SAMPLES / "pgbench/rate_limited.txt").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    original = record_of(path)
    assert original is not None
    for old, new, figures in (("clients: 2", "clients: 3", ["workload.clients"]), ("4.075", "4.076", [])):
        path.write_text(text.replace(old, new), encoding="utf-8")
        changed = record_of(path)
        assert changed is not None
        assert moved(changed, original) == figures


@pytest.mark.parametrize("name", sorted(readers()))
def test_a_damaged_file_is_read_or_refused_in_sentences(tmp_path: Path, name: str) -> None:
    cases = IMPORTS if name == "import" else CASES
    finds, counts = fuzz(name, cases, 20261129, tmp_path)
    assert [(find.name, find.fault) for find in finds] == []
    assert counts["refused"] > cases // 50  # changes that do nothing would test nothing


@pytest.mark.parametrize("path", sorted(FINDS.rglob("*.*")), ids=lambda path: path.name)
def test_a_find_stays_mended(path: Path) -> None:
    assert fault_of(readers()[path.parent.name], path) in (None, "")


def refuse(_: Path) -> None:
    raise InputError("x" * (MOST_LETTERS + 1))


def stumble(_: Path) -> None:
    raise KeyError("jobs")


@pytest.mark.parametrize(("read", "said"), [(refuse, "no sentence"), (stumble, "KeyError at test_fuzzing.py")])
def test_faults_are_found(tmp_path: Path, read: object, said: str) -> None:
    assert callable(read)
    fault = fault_of(Reader((), read), tmp_path / "x")
    assert fault is not None
    assert fault.startswith(said)


@pytest.mark.parametrize(
    ("message", "holds"), [("run.txt: got 1", True), ("a\nb", True), ("\x1b[31m", False), ("x\n" * 40, False)]
)
def test_a_refusal_is_made_of_short_printable_lines(message: str, holds: bool) -> None:
    assert is_a_refusal(message) is holds


def test_a_find_is_kept_by_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzzing.FINDS", tmp_path)
    path = keep(Find("import", "run.end.txt", b"content", "KeyError"))
    assert (path.parent, path.read_bytes()) == (tmp_path / "import", b"content")
    assert path.name.startswith("run-")
    assert path.name.endswith(".end.txt")
