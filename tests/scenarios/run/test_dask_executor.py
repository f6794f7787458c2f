"""Sweeps on executors of other libraries: a Dask cluster on loopback, its loss, and what is said without Dask."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.sweep_kills import SHORT, START, TINY, kept, words
from benchmarks.sweeps import dask, worker_lost
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import scenario_loader
from oltpsim.scenarios.questions.sweep import Axis, ReplicationRule, SweepRunner, sweep_json, sweep_points
from oltpsim.scenarios.run import FuturesExecutor, Silent, Store
from oltpsim.simulator.errors import InputError

Output = pytest.CaptureFixture[str]
AXIS = Axis("database.pool.buffers", ("500", "600", "700"))


def swept(executor: Executor | None) -> str:
    with Store() as store:
        runner = SweepRunner(sweep_points(scenario_loader(str(TINY), SHORT), [AXIS]), store, 1, ReplicationRule(2))
        if executor is None:
            runner.run(1, Silent())
        else:
            runner.run_at(FuturesExecutor(executor, 2), Silent())
        return sweep_json(runner.sweep("tiny", [AXIS]))


def test_any_executor_gives_the_same_bytes() -> None:
    with ThreadPoolExecutor(2) as threads:
        assert swept(threads) == swept(None)


def test_an_executor_that_fails_is_not_taken_for_one_that_answers() -> None:
    def break_down() -> None:
        raise OSError

    with ThreadPoolExecutor(1, initializer=break_down) as threads, pytest.raises(BrokenExecutor):
        swept(threads)


@pytest.mark.parametrize(
    ("missing", "option", "said"),
    [("distributed", ["--cluster", "tcp://127.0.0.1:1"], "oltpsim[dask]"),
     ("pyarrow", ["--export", "rows.parquet"], "oltpsim[parquet]"),
     ("pyarrow", ["--series", "series.parquet"], "oltpsim[parquet]")],
)  # fmt: skip
def test_a_missing_extra_is_named(
    missing: str, option: list[str], said: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert main([*words(1), *option]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("error: ") == 1


def test_a_cluster_has_its_own_workers(capsys: Output) -> None:
    assert main([*words(2), "--cluster", "tcp://127.0.0.1:1", "--workers", "2"]) == 2
    assert "give one of them" in capsys.readouterr().err


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("distributed")
    with dask(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


def in_a_process(*more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", START, *words(40), "--output", "json", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes_and_takes_what_is_kept(address: str, tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    here = in_a_process("--workers", "1")
    there = in_a_process("--cluster", address, "--save", str(store))
    assert there.stderr == ""
    assert there.stdout == here.stdout
    before = kept(store)
    assert len(before) == 40
    again = in_a_process("--cluster", address, "--save", str(store))
    assert again.stdout == here.stdout
    assert kept(store) == before


@pytest.mark.slow
def test_an_address_where_nobody_answers_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("oltpsim.scenarios.run.dask_executor.CONNECT_S", 0.5)
    assert main([*words(2), "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler answers there" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_that_end_several_workers_are_said(address: str) -> None:
    pytest.importorskip("distributed")
    from distributed.scheduler import KilledWorker

    from oltpsim.scenarios.run.dask_executor import dask_cluster

    with pytest.raises(InputError, match="ended several workers"), dask_cluster(address, Silent()):
        raise KilledWorker("batch", SimpleNamespace(address="tcp://127.0.0.1:9"), 3)


@pytest.mark.slow
def test_a_worker_that_is_lost_takes_nothing_with_it(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    lost = worker_lost(60, tmp_path)
    assert lost.same_bytes
    assert 20 <= lost.kept_before < 60, "the worker was to be killed half way"
    assert lost.twice == 0
    assert lost.started >= 60
