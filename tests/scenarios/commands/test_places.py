"""calibrate, validate, next-run and plan at any place: the same bytes, what is done kept, nothing done twice."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sweep_kills import START
from benchmarks.sweeps import dask
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.run import LostWorkers
from oltpsim.scenarios.run.dask_executor import SameProgram
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import TINY
from tests.scenarios.commands.test_calibrate import ROWS, SETTINGS, save_runs

Output = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
CLIENTS = "workload.arrivals.clients=1,2,4,16,32,64"


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """A command line of each question, without the place."""
    records = save_runs(tmp_path_factory.mktemp("records"))
    model = records.parent / "model.json"
    sets = [word for setting in SETTINGS for word in ("--set", setting)]
    vary = ["--vary", f"{ROWS}=10..160", "--vary", "database.path.transaction_us=50..800"]
    calibrate = ["calibrate", str(records), "--base", str(TINY), *sets, *vary, "--quiet"]
    assert main([*calibrate, "--confirm", "0", "--save", str(model), "--workers", "1", "--output", "json"]) == 0
    plan = ["plan", "postgresql-15", "--prices", "us-2024", "--candidates", "epyc-server-1u", "--data-size", "8 GiB",
            "--target", "300", "--confirm", "2", "--quiet"]  # fmt: skip
    return {
        "calibrate": [*calibrate, "--confirm", "1", "--output", "json"],
        "validate": ["validate", str(model), str(records), "--quiet", "--output", "json"],
        "next-run": ["next-run", str(model), "--could", CLIENTS, "--set", "machine.cpu.cores=4", "--quiet"],
        "plan": [*plan, "--output", "json"],
    }


WORK = {
    "calibrate": ("oltpsim.calibration.fit.fitting.engine_correction", ".json", ".{}.state"),
    "validate": ("oltpsim.calibration.judge.left_out.predicted_without", ".json", ".{}.validation.state"),
    "next-run": ("oltpsim.calibration.predict.next_run._derivatives", ".state", "{}"),
    "plan": ("oltpsim.scenarios.questions.sweep.runner.perform_run", ".sqlite", "{}"),
}
"""of each question: the work that is counted, its file's ending, and where what is done is kept"""


class Counted:
    """Work that notes its calls, and is stopped before the one of a number."""

    def __init__(self, work: Callable[..., Any], stop: Callable[[], object] | None, at: int) -> None:
        self.work, self.stop, self.at = work, stop, at
        self.calls = 0

    def __call__(self, *arguments: Any) -> Any:
        if self.stop is not None and self.calls == self.at:
            self.stop()
        self.calls += 1
        return self.work(*arguments)


def counted(name: str, monkeypatch: Patch, stop: Callable[[], object] | None = None, at: int = 0) -> Counted:
    module, _, attribute = name.rpartition(".")
    __import__(module)
    work = Counted(getattr(sys.modules[module], attribute), stop, at)
    monkeypatch.setattr(name, work)
    return work


def interrupt() -> None:
    raise KeyboardInterrupt


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("question", list(WORK))
def test_two_workers_give_the_same_bytes(
    question: str, questions: dict[str, list[str]], capsys: Output, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("oltpsim.scenarios.commands.next_run.WORTH_A_PROCESS", 1)
    answers = []
    for workers in ("1", "2"):
        assert main([*questions[question], "--workers", workers]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0]
    assert answers[0] == answers[1]


@pytest.mark.slow
@pytest.mark.parametrize(("question", "stop"), [*((each, interrupt) for each in WORK), ("validate", terminate)])
def test_what_was_stopped_says_what_is_kept_and_goes_on_with_the_rest(
    question: str,
    stop: Callable[[], object],
    questions: dict[str, list[str]],
    capsys: Output,
    monkeypatch: Patch,
    tmp_path: Path,
) -> None:
    name, ending, kept_in = WORK[question]
    words = [*questions[question], "--workers", "1"]
    handler = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        whole = counted(name, patch)
        assert main(words) == 0
    wanted = capsys.readouterr().out
    assert whole.calls > 1
    save = tmp_path / f"file{ending}"
    kept = tmp_path / kept_in.format(save.name)
    with monkeypatch.context() as patch:
        first = counted(name, patch, stop, at=1)
        assert main([*words, "--save", str(save)]) == 130
    stopped = capsys.readouterr()
    assert f"done and kept in {kept}; the same command goes on from there" in stopped.err
    assert "interrupted" in stopped.err
    assert signal.getsignal(signal.SIGTERM) == handler
    with monkeypatch.context() as patch:
        rest = counted(name, patch)
        assert main([*words, "--save", str(save)]) == 0
    assert (first.calls, rest.calls) == (1, whole.calls - 1)
    assert capsys.readouterr().out == wanted


@pytest.mark.parametrize("question", list(WORK))
def test_without_a_file_it_is_said_that_nothing_is_kept(
    question: str, questions: dict[str, list[str]], capsys: Output, monkeypatch: Patch
) -> None:
    counted(WORK[question][0], monkeypatch, interrupt, at=1)
    assert main([*questions[question], "--workers", "1"]) == 130
    assert "are done; --save would have kept them" in capsys.readouterr().err


def test_a_place_that_is_lost_takes_nothing_with_it(
    questions: dict[str, list[str]], capsys: Output, monkeypatch: Patch, tmp_path: Path
) -> None:
    def lose() -> None:
        raise InputError("--cluster: the scheduler is gone")

    save = tmp_path / "runs.state"
    counted(WORK["next-run"][0], monkeypatch, lose, at=2)
    assert main([*questions["next-run"], "--workers", "1", "--save", str(save)]) == 2
    err = capsys.readouterr().err
    assert "the scheduler is gone" in err
    assert f"3 predictions and runs are done and kept in {save}; the same command goes on from there" in err


@pytest.mark.parametrize(
    ("error", "status"),
    [(LostWorkers("the scheduler is gone"), 0), (InputError("no scheduler answers there"), 2)],
)
def test_lost_workers_leave_a_plan_without_simulations_and_bad_input_leaves_none(
    error: InputError, status: int, questions: dict[str, list[str]], capsys: Output, monkeypatch: Patch
) -> None:
    def fail() -> None:
        raise error

    counted(WORK["plan"][0], monkeypatch, fail)
    assert main([*questions["plan"], "--workers", "1"]) == status
    told = capsys.readouterr()
    simulated = [each["confirmed"] for each in json.loads(told.out)["listed"]] if not status else []
    assert [each["fault"] for each in simulated if each] == [str(error)] * (0 if status else 2)
    assert (str(error) in told.err) == bool(status)


def test_other_input_takes_nothing_that_is_kept(
    questions: dict[str, list[str]], capsys: Output, monkeypatch: Patch, tmp_path: Path
) -> None:
    name, save = WORK["next-run"][0], tmp_path / "runs.state"
    words = [*questions["next-run"], "--workers", "1", "--save", str(save)]
    assert main(words) == 0
    with monkeypatch.context() as patch:
        again = counted(name, patch)
        assert main(words) == 0
        assert again.calls == 0
        words[words.index("machine.cpu.cores=4")] = "machine.cpu.cores=6"
        assert main(words) == 0
        assert again.calls > 6
    assert "were in" not in capsys.readouterr().err


def test_kept_simulations_are_those_of_a_sweep(questions: dict[str, list[str]], tmp_path: Path) -> None:
    save = tmp_path / "runs.sqlite"
    assert main([*questions["plan"], "--workers", "1", "--save", str(save)]) == 0
    with sqlite3.connect(save) as store:
        rates = [rate for (rate,) in store.execute("SELECT rate_per_min FROM answers WHERE engine = 'kernel'")]
    assert len(rates) == 2
    assert rates == pytest.approx([300.0, 300.0], rel=0.1)


@pytest.mark.parametrize("question", list(WORK))
def test_a_cluster_has_its_own_workers(question: str, questions: dict[str, list[str]], capsys: Output) -> None:
    assert main([*questions[question], "--cluster", "tcp://127.0.0.1:1", "--workers", "2"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_another_program_is_refused(monkeypatch: Patch) -> None:
    with ThreadPoolExecutor(1) as threads:
        assert SameProgram(threads).submit(pow, 2, 3).result() == 8
        assert list(SameProgram(threads).map(pow, [2, 3], [2, 2])) == [4, 9]
        programs = iter(["this one", "another", "another"])
        monkeypatch.setattr("oltpsim.scenarios.run.dask_executor.fit_program", lambda: next(programs))
        with pytest.raises(InputError, match=r"another.* differ from those that began this"):
            SameProgram(threads).submit(pow, 2, 3).result()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("distributed")
    with dask(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("question", list(WORK))
def test_a_cluster_gives_the_same_bytes(
    question: str, questions: dict[str, list[str]], address: str, capsys: Output
) -> None:
    assert main([*questions[question], "--workers", "1"]) == 0
    here = capsys.readouterr().out
    command = [sys.executable, "-c", START, *questions[question], "--cluster", address]
    there = subprocess.run(command, capture_output=True, text=True, check=False)
    assert there.returncode == 0, there.stderr  # Dask itself may complain of a busy machine
    assert there.stdout == here
