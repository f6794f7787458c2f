"""The two shipped runs of PostgreSQL calibrate the profile of the catalogue; what the fit leaves open is said."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from oltpsim.calibration.fit import (
    AnalyticReader,
    Calibration,
    FigureKind,
    FitTask,
    MeasuredRun,
    StepJournal,
    calibration_of,
    measured_runs,
    parameters_to_fit,
    read_mapping_file,
    run_fit,
)
from oltpsim.calibration.fit.calibration import FittedFigure
from oltpsim.calibration.fit.evaluate import figures
from oltpsim.calibration.fit.search import STARTS
from oltpsim.calibration.predict import Predicted, predict_scenario
from oltpsim.calibration.records import load_record, shipped_records
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.kernel import simulate

IN_MEMORY, SLOW = "postgres15_go-tpc_in_memory", "postgres15_go-tpc_one_disk_400_iops"
MAPPING = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "mappings" / "postgresql.yaml"
BASE, SLOW_BASE = "postgresql-15", "postgresql-15-400-iops"
ROWS, FLUSH, MEMORY = (
    "database.path.row_operation_us", "database.log.flush_overhead_us", "operating_system.reserved_memory_gib",
)  # fmt: skip
VARIED = (f"{ROWS}=20..500", f"{FLUSH}=50..3000", f"{MEMORY}=0.03..0.5")
"""as docs/how-to/calibrate.md has them"""
REPEATS = (2585, 2097, 1940)
"""README of the run directories: new orders per minute of three runs of the slow configuration"""


@cache
def both_runs() -> tuple[MeasuredRun, ...]:
    records = [load_record(shipped_records()[name]) for name in (IN_MEMORY, SLOW)]
    return tuple(
        measured_runs(records, load_scenario_file(library_files()[BASE]), {}, read_mapping_file(MAPPING, records))
    )


def fitted(runs: tuple[MeasuredRun, ...], *vary: str, confirm: int = 0, starts: int = 1) -> Calibration:
    base = load_scenario_file(library_files()[BASE])
    varied, _ = parameters_to_fit([base], None, vary)
    task = FitTask(runs, varied, starts=starts, confirm=confirm)
    return calibration_of(run_fit(task, StepJournal(None, ""), lambda *_: None, simulate_model=simulate), base)


@cache
def calibrated() -> Calibration:
    """The documented fit, corrected by the kernel's runs of both."""
    return fitted(both_runs(), *VARIED, confirm=2, starts=STARTS)


def figure(calibration: Calibration, name: str, kind: str) -> FittedFigure:
    (run,) = [run for run in calibration.runs if run.name == name]
    (found,) = [each for each in run.figures if each.kind == kind]
    return found


def test_the_records_set_both_machines() -> None:
    memory, slow = (run.scenario for run in both_runs())
    assert (memory.database.pool.buffers, slow.database.pool.buffers) == (393_216, 49_152)
    assert (memory.machine.memory_gib, slow.machine.memory_gib) == (8.0, 1.5)
    assert (memory.machine.cpu.cores, slow.machine.cpu.cores) == (1, 1)
    assert memory.machine.disks.disk.parallel_requests == 8
    expected = load_scenario_file(library_files()[SLOW_BASE])
    assert slow.database == expected.database
    assert slow.workload == expected.workload
    assert slow.machine.memory_gib == expected.machine.memory_gib
    assert slow.interval.warm_up_s == expected.interval.warm_up_s
    told = {"name", "source", "capacity_gib"}
    assert slow.machine.disks.disk.model_dump(exclude=told) == expected.machine.disks.disk.model_dump(exclude=told)


def test_what_each_run_is_held_against_and_with_what_noise() -> None:
    memory, slow = ({each.kind: each for each in run.observations} for run in both_runs())
    assert set(memory) == {FigureKind.RATE, FigureKind.CPU, FigureKind.FLUSHES}
    assert memory[FigureKind.CPU].at_least
    assert set(slow) == {FigureKind.RATE, FigureKind.READS, FigureKind.MISSES, FigureKind.FLUSHES}
    assert slow[FigureKind.RATE].sd == 0.15
    assert "2,097" in slow[FigureKind.RATE].noise
    assert memory[FigureKind.RATE].sd < 0.05
    assert any(text.startswith(FigureKind.WRITES) for text in both_runs()[1].left_aside)


@pytest.mark.slow
def test_the_runs_calibrate_the_profile() -> None:
    """CPU's and log's numbers are told by the runs; every figure is met to 1.6 standard deviations of its noise.

    How much memory the kernel takes isn't told: the runs' misses are those of their start, not of the long run.
    """
    calibration = calibrated()
    assert [each.identified for each in calibration.parameters] == [True, True, False]
    assert figure(calibration, IN_MEMORY, FigureKind.RATE).model == pytest.approx(26_845, rel=0.03)
    assert figure(calibration, IN_MEMORY, FigureKind.FLUSHES).model == pytest.approx(0.576, rel=0.15)
    assert figure(calibration, SLOW, FigureKind.RATE).model == pytest.approx(2585, rel=0.15)
    assert figure(calibration, SLOW, FigureKind.READS).model == pytest.approx(3.17, rel=0.1)
    assert figure(calibration, SLOW, FigureKind.MISSES).model == pytest.approx(9.14, rel=0.16)
    assert all(abs(each.residual_sigmas) < 1.6 for run in calibration.runs for each in run.figures)


def test_without_the_keys_leaves_the_pool_would_lack_too_few_pages() -> None:
    """The negative twin: with rows in the leaves of their keys the misses are out of reach of any value."""
    _, slow = both_runs()
    layout = slow.scenario.workload.layout.model_copy(update={"heap": None})
    workload = slow.scenario.workload.model_copy(update={"layout": layout})
    other = replace(slow, scenario=slow.scenario.model_copy(update={"workload": workload}))
    said = figures([slow, other], [], np.zeros((1, 0)), AnalyticReader())[0]
    (here,) = [number for number, each in enumerate(slow.observations) if each.kind == FigureKind.MISSES]
    misses = [slow.observations[here].value_at(log) for log in (said[here], said[here + len(slow.observations)])]
    assert misses[0] > 0.84 * slow.observations[here].value
    assert misses[1] < 0.60 * slow.observations[here].value


@cache
def from_memory_alone() -> Predicted:
    """The slow machine as a fit to the other run alone has it: nothing of the slow run but its device."""
    return predict_scenario(
        fitted(both_runs()[:1], *VARIED[:2], confirm=1), load_scenario_file(library_files()[SLOW_BASE]), simulate
    )


@pytest.mark.slow
def test_the_slow_run_predicted_from_the_one_in_memory() -> None:
    """The rate is up to a third too high, and the interval reaches what was measured."""
    said = from_memory_alone()
    assert said.model.role == "predicted"
    assert said.rate.low < REPEATS[0] < said.rate.value < 1.35 * REPEATS[0]
    assert any("GiB of memory" in text for text in said.model.outside)


@pytest.mark.slow
def test_the_how_to_prints_what_the_fit_says() -> None:
    page = (MAPPING.parents[3] / "docs" / "how-to" / "calibrate.md").read_text(encoding="utf-8")
    for each in calibrated().parameters:
        if not each.identified:
            assert re.search(rf"^{re.escape(each.key)} +- .* no$", page, re.MULTILINE)
            continue
        (printed,) = re.findall(rf"^{re.escape(each.key)} +([0-9.]+) +([0-9.]+) \.\. ([0-9.]+) ", page, re.MULTILINE)
        assert [float(text) for text in printed] == pytest.approx([each.value, each.low, each.high], rel=0.02)
    for name in (IN_MEMORY, SLOW):
        assert f"{figure(calibrated(), name, FigureKind.RATE).model:,.0f}"[:-2] in page
    (printed,) = re.findall(r"predicts ([0-9,]+) new orders", page)
    assert float(printed.replace(",", "")) == pytest.approx(from_memory_alone().rate.value, rel=0.01)


def test_by_default_the_fit_says_what_two_runs_cannot_tell() -> None:
    calibration = fitted(both_runs())
    path = next(each for each in calibration.parameters if each.key == ROWS)
    assert not path.identified
    assert path.value is None
    names = ("database.path.transaction_us", "database.path.row_operation_us")
    assert any("can't tell" in text and all(name in text for name in names) for text in calibration.said)


def test_a_value_goes_where_the_run_has_no_device_of_its_own() -> None:
    memory, slow = both_runs()
    values = {"machine.disks.disk.read_latency_us": 77.0, ROWS: 99.0}
    assert memory.machine(values).machine.disks.disk.model_dump()["read_latency_us"] == 77.0
    assert slow.machine(values).machine.disks.disk.model_dump()["read_latency_us"] == 2560.0
    assert slow.machine(values).database.path.row_operation_us == 99.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{reads: {log_sd: 0.1, source: x}}", "noise.reads"),
        ("{reads per transaction: {log_sd: 0, source: x}}", "log_sd: got 0"),
        ("{reads per transaction: {log_sd: 0.1}}", "source: missing"),
        ("{reads per transaction: 0.1}", "noise.reads per transaction"),
    ],
)
def test_a_noise_without_size_or_source_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(f"all: {{noise: {text}}}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_mapping_file(path, [load_record(shipped_records()[SLOW])])
    assert str(caught.value).startswith("mapping.yaml: ")
    assert said in str(caught.value)
