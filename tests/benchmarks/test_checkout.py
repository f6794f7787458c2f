"""Another checkout as a contestant: its process stays for all rounds, and computes with its own benchmarks/."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.checkout import ROOT, THIS, Checkout
from benchmarks.race import race
from benchmarks.start import seconds_of


def test_a_worker_stays_for_all_rounds() -> None:
    with ExitStack() as until:
        run = THIS.worker("{'process': __import__('os').getpid(), 'number': number}", until)
        first, second = run(3), run(4)
    assert (first["number"], second["number"]) == (3, 4)
    assert first["process"] == second["process"] != os.getpid()


def test_a_checkout_races_by_the_name_of_its_commit() -> None:
    with ExitStack() as until:
        theirs = THIS.contestant("{'seconds': 2.0, 'work': 10.0 * number}", until)
        (standing,) = race([theirs], rounds=2, warm_up=1)
    assert standing.name.startswith("commit ")
    assert [outcome.rate for outcome in standing.outcomes] == [5.0, 10.0]


def test_a_worker_that_fails_stops_the_benchmark(capfd: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as until, pytest.raises(SystemExit, match="could not compute 1 / number"):
        THIS.worker("1 / number", until)(0)
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_checkout_imports_its_own_packages(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    (tmp_path / "benchmarks" / "older.py").write_text("import json; print(json.dumps({'year': 1999}))")
    other = Checkout(tmp_path, THIS.programs)
    assert other.run_module("benchmarks.older") == {"year": 1999}
    assert THIS.folder == ROOT


def test_times_are_those_of_the_process_and_its_children(tmp_path: Path) -> None:
    inner = "import time; until = time.process_time() + 0.2\nwhile time.process_time() < until: pass"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    wall_s, cpu_s = seconds_of([sys.executable, "-c", outer], tmp_path, os.environ)
    assert wall_s >= 0.2
    assert cpu_s >= 0.2


def test_a_command_that_fails_stops_with_what_it_wrote(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no such thing"):
        seconds_of([sys.executable, "-c", "raise SystemExit('no such thing')"], tmp_path, os.environ)
