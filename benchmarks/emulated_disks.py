"""PostgreSQL on emulated disks: four runs calibrate, eight are predicted, one is explained, against what was measured.

python -m benchmarks.emulated_disks

The rule by which the four were chosen stands in calibration/runs/mappings/emulated_disks.yaml.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from oltpsim.calibration.fit import (
    FitTask,
    MeasuredRun,
    StepJournal,
    calibration_of,
    measured_runs,
    parameters_to_fit,
    read_mapping_file,
    run_fit,
)
from oltpsim.calibration.predict import Predicted, predict_scenario
from oltpsim.calibration.records import RunRecord, fit_program, load_record, records_in
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.run import simulate_by_kernel
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import Result, main_class_of

RUNS = Path(__file__).resolve().parents[1] / "calibration" / "runs"
BASE = "postgresql-15-400-iops"
CALIBRATING = ("io-base-r2", "im-c16-k1-r2", "wal100-c16-r1", "thr-base-r1")
EXPLAINED = ("io-w10-r1",)
"""how it began was assumed with its rate known: no prediction"""
VARIED = (
    "database.path.row_operation_us=100..250",
    "operating_system.page_cache.other_files_fraction=0.01..0.6",
)


def main() -> None:
    """Fit, predict, and print a line for each run."""
    records = [load_record(path) for path in records_in(RUNS / "emulated_disks")]
    base = load_scenario_file(library_files()[BASE])
    mapping = read_mapping_file(RUNS / "mappings" / "emulated_disks.yaml", records)
    runs = {run.name: run for run in measured_runs(records, base, {}, mapping)}
    varied, _ = parameters_to_fit([base], None, VARIED)
    seen = tuple(runs[name] for name in CALIBRATING)
    task = FitTask(seen, varied, starts=1, confirm=len(seen), code=fit_program())
    with TemporaryDirectory() as folder, ProcessPoolExecutor(1) as executor:
        state = StepJournal(Path(folder) / "fit.state", task.digest)
        found = run_fit(task, state, lambda *_: None, executor, simulate_by_kernel)
    calibration = calibration_of(found, base)
    for each in calibration.parameters:
        told = f"{each.value:.4g}" if each.value is not None else f"not told by the runs, {each.prior_value:.4g}"
        print(f"{each.key}: {told}")
    errors = []
    for record in records:
        run = runs[record.name]
        predicted = predict_scenario(calibration, run.scenario, simulate_by_kernel)
        error = predicted.rate.value / _rate(record) - 1.0
        if run.name not in CALIBRATING + EXPLAINED:
            errors.append(abs(error))
        print(_line(record, run, predicted, simulate(build(predicted.scenario), calibration.seed)))
    print(f"mean error of the {len(errors)} predicted: {100 * sum(errors) / len(errors):.1f} %")


def _rate(record: RunRecord) -> float:
    assert record.outcome.new_orders_per_minute is not None
    return record.outcome.new_orders_per_minute.value


def _line(record: RunRecord, run: MeasuredRun, found: Predicted, result: Result) -> str:
    measured, per_s = _rate(record), record.outcome.transactions_per_s
    reads = record.resources.devices["data"].reads_per_s
    p95 = record.outcome.classes["new_order"].percentiles_ms["95"]
    assert per_s is not None
    assert reads is not None
    disks = result.devices[: run.scenario.machine.disks.count]
    simulated_p95 = main_class_of(result).p95_s or 0.0
    interval = f"[{found.rate.low:.0f} .. {found.rate.high:.0f}]"
    return (
        f"{run.name:14} {'explained' if run.name in EXPLAINED else found.model.role:9} "
        f"{found.rate.value:6.0f} {interval}, "
        f"measured {measured:6.0f} ({100 * (found.rate.value / measured - 1):+.0f} %, "
        f"{'inside' if found.rate.low <= measured <= found.rate.high else 'outside'}); reads per transaction "
        f"{sum(each.reads_per_s for each in disks) / result.transactions_per_s:.2f}, {reads.value / per_s.value:.2f}; "
        f"p95 {simulated_p95 * 1e3:.0f}, {p95.value:.0f} ms"
    )


if __name__ == "__main__":
    main()
