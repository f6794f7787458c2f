"""What a sweep keeps: resuming after a kill, two sweeps at a time, damaged rows, stores of other code."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.sweep_kills import START, kept, killed_and_resumed, words
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import load_scenario_file
from oltpsim.scenarios.run import RunKey, SimulationTask, Store, StoredRun, simulate
from oltpsim.scenarios.run import store as record
from oltpsim.scenarios.run.store import DONE, REFUSED, Claims
from oltpsim.simulator.errors import Infeasible, InputError
from oltpsim.simulator.results import Result

TINY = str(Path(__file__).parents[1] / "tiny.yaml")
Output = pytest.CaptureFixture[str]


def sweep(store: Path, *more: str) -> list[str]:
    vary = ["--vary", "database.pool.buffers=500,1000", "--set", "interval.duration_s=4"]
    return ["sweep", TINY, *vary, "--save", str(store), "--workers", "1", "--output", "json", *more]


def no_run(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("oltpsim.scenarios.run.store.simulate", lambda *_: pytest.fail("this run was there already"))


def change(store: Path, statement: str) -> None:
    database = sqlite3.connect(store)
    with database:
        database.execute(statement)
    database.close()


def test_a_second_sweep_runs_only_what_is_new(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "made" / "runs.sqlite"
    assert main(sweep(store)) == 0
    first = capsys.readouterr().out
    assert len(kept(store)) == 2
    no_run(monkeypatch)
    assert main(sweep(store)) == 0
    out, err = capsys.readouterr()
    assert out == first
    assert f"2 runs were in {store} already" in err
    assert main([*sweep(store), "--vary", "machine.cpu.cores=1"]) == 0, "another sweep, with runs of the same content"


@pytest.mark.parametrize("other", ["--seed=2", "--set=workload.arrivals.clients=3", "--vary=machine.cpu.cores=2,3"])
def test_runs_of_another_content_are_not_taken(other: str, tmp_path: Path, capsys: Output) -> None:
    store = tmp_path / "runs.sqlite"
    assert main(sweep(store)) == 0
    before = kept(store)
    assert main(sweep(store, other)) == 0
    assert "already" not in capsys.readouterr().err
    after = kept(store)
    assert len(after) in {4, 6}
    assert after | before == after


def test_runs_of_other_code_are_not_taken(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "runs.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(record, "program_hash", lambda: "another program")
        patch.setattr("oltpsim.scenarios.questions.sweep.runner.program_hash", lambda: "another program")
        assert main(sweep(store)) == 0
    assert main(sweep(store)) == 0
    assert "already" not in capsys.readouterr().err
    assert len(kept(store)) == 4


def test_a_worker_with_other_code_is_refused() -> None:
    task = SimulationTask(load_scenario_file(Path(TINY)), 1)
    assert record.perform_run(record.program_hash(), task, None, None).status == DONE
    with pytest.raises(InputError, match="differ from those that began"):
        record.perform_run("another program", task, None, None)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET result = zeroblob(length(result)) WHERE rowid = 1",
        "UPDATE runs SET result = 'text' WHERE rowid = 1",
        "UPDATE runs SET answer = replace(answer, '1', '2') WHERE rowid = 1",
        "UPDATE runs SET status = 'refused' WHERE rowid = 1",
        "UPDATE runs SET seed = 7 WHERE rowid = 1",
        "UPDATE runs SET digest = '' WHERE rowid = 1",
        "UPDATE scenarios SET spec = replace(spec, '\"buffers\": 500', '\"buffers\": 501')",
    ],
)
def test_a_damaged_row_is_run_again_and_said(damage: str, tmp_path: Path, capsys: Output) -> None:
    store = tmp_path / "runs.sqlite"
    assert main(sweep(store, "--quiet")) == 0
    out = capsys.readouterr().out
    [run] = [run for run, row in kept(store).items() if row == 1]
    whole = rows(store)
    change(store, damage)
    assert rows(store) != whole
    assert main(sweep(store, "--quiet")) == 0
    again = capsys.readouterr()
    assert again.out == out
    assert again.err == f"{store}: run {run} is damaged; it is run again\n"
    assert rows(store) == whole


def rows(store: Path) -> list[tuple[object, ...]]:
    database = sqlite3.connect(store)
    try:
        return database.execute("SELECT * FROM runs JOIN scenarios USING (scenario) ORDER BY run").fetchall()
    finally:
        database.close()


def test_a_lost_scenario_is_written_again(tmp_path: Path, capsys: Output) -> None:
    store = tmp_path / "runs.sqlite"
    assert main(sweep(store)) == 0
    whole = rows(store)
    change(store, "DELETE FROM scenarios")
    assert main(sweep(store)) == 0
    assert rows(store) == whole
    capsys.readouterr()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no database at all", "no store of runs, or damaged"), (None, "another program's"), (b"", "")],
)
def test_another_file_is_refused_and_left_alone(
    content: bytes | None, said: str, tmp_path: Path, capsys: Output
) -> None:
    file = tmp_path / "hammer.DB"
    if content is None:
        change(file, "CREATE TABLE jobs (id INTEGER)")
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    assert main(sweep(file)) == (2 if said else 0)
    assert said in capsys.readouterr().err
    assert (file.read_bytes() == before) == bool(said)


def test_a_store_of_another_layout_is_refused(tmp_path: Path, capsys: Output) -> None:
    store = tmp_path / "runs.sqlite"
    assert main(sweep(store)) == 0
    change(store, "PRAGMA user_version = 99")
    assert main(sweep(store)) == 2
    assert "version 99" in capsys.readouterr().err


def test_a_folder_is_no_store(tmp_path: Path, capsys: Output) -> None:
    assert main(sweep(tmp_path)) == 2
    assert "is a folder; give the name of a file" in capsys.readouterr().err


def test_refusals_are_kept_too(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    def infeasible(task: SimulationTask, *_: object) -> Result:
        if task.scenario.database.pool.buffers == 500:
            raise Infeasible("500 buffers are too few")
        return simulate(task)

    store = tmp_path / "runs.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr("oltpsim.scenarios.run.store.simulate", infeasible)
        assert main(sweep(store)) == 0
    first = capsys.readouterr().out
    assert '"reason": "500 buffers are too few"' in first
    database = sqlite3.connect(store)
    found = database.execute("SELECT reason, rate_per_min FROM answers WHERE status = 'refused'").fetchall()
    database.close()
    assert found == [("500 buffers are too few", None)]
    no_run(monkeypatch)
    assert main(sweep(store)) == 0
    assert capsys.readouterr().out == first


runs = st.builds(
    lambda name, seed: RunKey(record.run_hash(name, seed), f'{{"name": "{name}"}}', seed),
    st.sampled_from(["a", "b"]),
    st.integers(0, 3) | st.just(2**63 - 1),
)
records = st.builds(StoredRun, st.sampled_from([DONE, REFUSED]), st.just('{"reason": "x"}'), st.binary(max_size=20))


@given(st.lists(st.lists(st.tuples(runs, records), max_size=4), max_size=4))
def test_what_is_found_is_what_was_kept_last(commits: list[list[tuple[RunKey, StoredRun]]]) -> None:
    expected: dict[str, StoredRun] = {}
    with Store() as store:
        for some in commits:
            store.keep(some)
            expected |= {run.hash: record for run, record in some}
            for name in "ab":
                for seed in (0, 1, 2, 3, 2**63 - 1):
                    run = RunKey(record_hash(name, seed), f'{{"name": "{name}"}}', seed)
                    assert store.find(run) == expected.get(run.hash)
        assert store.damaged == []


def record_hash(name: str, seed: int) -> str:
    return record.run_hash(name, seed)


def test_a_commit_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    class Full(Exception):
        pass

    def some() -> object:
        yield run, StoredRun(DONE, "{}", b"")
        raise Full

    run = RunKey(record_hash("a", 1), "{}", 1)
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(Full):
            store.keep(some())  # type: ignore[arg-type]
        assert store.find(run) is None


CLAIM = """
import sys, time
from pathlib import Path
from oltpsim.scenarios.run.store import Claims
claims = Claims(Path(sys.argv[1]))
print(claims.take("0123456789abcdef0123"), flush=True)
time.sleep(60)
"""


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    file = tmp_path / "claims"
    other = subprocess.Popen([sys.executable, "-c", CLAIM, str(file)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "True\n"
    claims = Claims(file)
    assert not claims.take("0123456789abcdef0123")
    assert claims.take("1123456789abcdef0123")
    other.kill()
    other.communicate()
    assert claims.take("0123456789abcdef0123")
    claims.close()


def start(store: Path, *more: str) -> subprocess.Popen[str]:
    """A sweep of 40 short runs in a process of its own, running and with at least one run kept."""
    command = [sys.executable, "-c", START, *words(40), "--save", str(store), "--output", "json", *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not kept(store):
        time.sleep(0.01)
    return process


@pytest.mark.slow
def test_a_sweep_killed_three_times_gives_the_same_bytes_and_runs_nothing_twice(tmp_path: Path) -> None:
    killed = killed_and_resumed(40, 3, tmp_path, 1, "--workers", "2")
    assert killed.same_bytes
    assert killed.twice == 0
    assert killed.finished == 40 + killed.lost
    assert killed.lost <= 3 * 2 * 2, "at each kill not more than what two workers had on its way"
    assert all(0 < count < 40 for count in killed.kept_at_kills), "a kill was not half way"


@pytest.mark.slow
def test_a_store_that_is_not_kept_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = tmp_path / "sitecustomize.py"
    forgetful = "from oltpsim.scenarios.run import Store\nStore.find = lambda self, run: None\n"
    monkeypatch.setattr("benchmarks.sweep_kills.COUNTING", counting() + forgetful)
    killed = killed_and_resumed(40, 1, tmp_path, 1, "--workers", "2")
    assert lost.exists()
    assert killed.twice > 0
    assert killed.finished > 40


def counting() -> str:
    from benchmarks.sweep_kills import COUNTING

    return COUNTING


@pytest.mark.slow
def test_two_sweeps_on_one_store_share_the_runs(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    both = [start(store, "--workers", "1"), start(store, "--workers", "1")]
    answers = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0] == answers[1]
    assert len(kept(store)) == 40
    assert sorted(kept(store).values()) == list(range(1, 41)), "a run that was kept twice would have a later row"


ENDLESS_S = 8e5
"""simulated seconds, some hundred million transactions: not finished when the signal comes, whatever the machine"""


def uncounted_environment() -> dict[str, str]:
    """The environment without coverage in a process that a signal will interrupt.

    Where the signal comes while coverage holds its lock, the code that cleans up would wait for that lock for ever.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}


HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
"""A shell that starts the tests in the background has them ignore SIGINT, and their children inherit that."""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_sweep_keeps_and_shows_what_is_done(workers: str, tmp_path: Path) -> None:
    """The last of its runs can't be finished when the signal comes, on whatever machine."""
    store = tmp_path / "runs.sqlite"
    lengths = [*(4 + number / 100 for number in range(32)), *(ENDLESS_S + number for number in range(8))]
    vary = "interval.duration_s=" + ",".join(f"{length:.2f}" for length in lengths)
    command = [sys.executable, "-c", HEED + START, "sweep", TINY, "--vary", vary, "--quiet", "--save", str(store)]
    process = subprocess.Popen(
        [*command, "--workers", workers, "--output", "table"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=uncounted_environment(),
    )
    while process.poll() is None and len(kept(store)) < 10:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert 10 <= len(kept(store)) <= 32
    assert f"{len(kept(store))} of 40 runs are done and kept in {store}" in err
    assert "Traceback" not in err
    assert "new orders/min" in out
