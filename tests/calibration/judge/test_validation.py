"""Validation of models whose truth is known: what is left out is predicted, and a planted error is seen."""

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.fit import (
    Calibration,
    Certificate,
    Coverage,
    FigureKind,
    FitTask,
    MappingFile,
    RunMapping,
    StepJournal,
    calibration_hash,
    calibration_json,
    calibration_of,
    error_summary,
    judged_rate,
    measured_runs,
    parse_vary,
    read_calibration,
    run_fit,
    setup_hash,
    write_calibration,
)
from oltpsim.calibration.judge import refits_digest, runs_to_judge, validate_calibration
from oltpsim.calibration.judge.left_out import Refits, folds_of, predicted_without, rates_without_machine
from oltpsim.calibration.judge.validation import coverage, exact_share
from oltpsim.calibration.predict import predict_scenario
from oltpsim.calibration.records import RunRecord
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.analytic import CPU_PART
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import base, record, said_by

CLIENTS = 8
SYSTEM = (
    "database.io=direct",
    "machine.cpu.cores=2",
    "workload.warehouses=2",
    f"workload.arrivals.clients={CLIENTS}",
)
ROWS = "database.path.row_operation_us"
TRUTH = 30.0
BUFFERS = (400, 1500, 5000)
CLIFF = 2.0
"""a planted run is so much faster than its machine"""
MEMORY = "machine.memory_gib"


def quietly(_: float, __: str) -> None:
    """Nobody watches."""


def records(buffers: Sequence[int] = BUFFERS, factor: dict[int, float] | None = None) -> list[RunRecord]:
    """Runs of the true machine; the rate of some times a factor."""
    found = []
    for each in buffers:
        machine = with_values(base(*SYSTEM), {ROWS: TRUTH, "database.pool.buffers": each})
        figures = {
            kind: value
            for kind, value in said_by(machine).items()
            if kind in {FigureKind.RATE, FigureKind.CPU, FigureKind.READS}
        }
        figures[FigureKind.RATE] *= (factor or {}).get(each, 1.0)
        found.append(record(f"{each} buffers", figures, machine, CLIENTS, each * 8 / (1 << 20)))
    return found


def calibrated(some: Sequence[RunRecord], file: MappingFile | None = None) -> Calibration:
    scenario = base(*SYSTEM)
    task = FitTask(tuple(measured_runs(some, scenario, {}, file)), (parse_vary(f"{ROWS}=10..160", scenario),), starts=1)
    return calibration_of(run_fit(task, StepJournal(None, ""), quietly), scenario)


@pytest.fixture(scope="module")
def model() -> Calibration:
    return calibrated(records())


def bases(model: Calibration) -> dict[str, ScenarioSpec]:
    return {each.name: model.base for each in records()}


def certificate(model: Calibration, some: Sequence[RunRecord], **more: Any) -> Certificate:
    return validate_calibration(model, some, bases(model), None, StepJournal(None, ""), quietly, **more)


@pytest.fixture(scope="module")
def sound(model: Calibration) -> Certificate:
    return certificate(model, records(), explain_all=True)


@pytest.fixture(scope="module")
def planted(model: Calibration) -> Certificate:
    """One of the runs says twice the rate, and isn't one that the model was fitted to any more."""
    return certificate(model, records(factor={1500: CLIFF}))


def test_runs_of_one_machine_predict_each_other(sound: Certificate) -> None:
    left = sound.left_out_by("run")
    assert left.errors is not None
    assert left.errors.count == 3
    assert abs(left.errors.worst) < 0.03
    assert sound.coverage is not None
    assert sound.coverage.inside == 3
    assert all(row.inside and row.role == "fitted" for row in sound.runs)


def test_a_planted_run_is_outside_and_predicted(planted: Certificate) -> None:
    row = next(row for row in planted.runs if row.name == "1500 buffers")
    assert row.error == pytest.approx(1 / CLIFF - 1, abs=0.02)
    assert not row.inside
    assert row.role == "predicted"
    left = next(row for row in planted.left_out_by("run").rows if row.name == "1500 buffers")
    assert not left.inside
    assert left.error < -0.4


def test_only_the_planted_gap_is_explained_unless_all_are_asked_for(planted: Certificate, sound: Certificate) -> None:
    outside = {row.name for row in (*planted.runs, *planted.left_out_by("run").rows) if not row.inside}
    assert {gap.name for gap in planted.gaps} == outside >= {"1500 buffers"}
    assert all(row.inside for row in sound.runs)
    assert [gap.name for gap in sound.gaps] == [f"{each} buffers" for each in BUFFERS]
    assert {part.name for part in sound.gaps[0].parts} > {CPU_PART}


def test_errors_are_kept_apart_by_role_and_regime(planted: Certificate) -> None:
    roles = {(each.role, each.count) for each in planted.regimes}
    assert sum(count for role, count in roles if role == "predicted") == 1
    assert sum(each.count for each in planted.regimes if each.role == "fitted") == 2
    assert all(each.regime in {"cpu", "disk", "light", "locks", "swap"} for each in planted.regimes)


def test_a_left_out_run_is_predicted_by_the_others_alone(model: Calibration, sound: Certificate) -> None:
    """What is left out can't matter: its rate may be anything, and the fold says the same."""
    lying = Refits(model, tuple(runs_to_judge(model, records(factor={5000: CLIFF}), bases(model), None)))
    first, _, last = ([row.model, row.low, row.high] for row in sound.left_out_by("run").rows)
    assert predicted_without(lying, (2,)) == [last]
    assert predicted_without(lying, (0,)) != [first]


def test_an_unseen_run_is_predicted_without_what_is_known_of_its_machine() -> None:
    """Of two known machines one is said to be twice as fast: its own rows don't know, and a third machine's do."""
    file = MappingFile(runs={"5000 buffers": RunMapping(settings={MEMORY: 4.0})})
    model = calibrated(records(), file)
    runs = measured_runs(records(factor={5000: CLIFF}), model.base, {}, file)
    refits = Refits(model, tuple(runs))
    [own] = rates_without_machine(refits, runs[2:])
    assert [[own.model, own.low, own.high]] == predicted_without(refits, (2,))
    assert own.error == pytest.approx(1 / CLIFF - 1, abs=0.02)
    other = MappingFile(runs={each.name: RunMapping(settings={MEMORY: 6.0}) for each in records()})
    [third, *_] = rates_without_machine(refits, measured_runs(records(), model.base, {}, other))
    found = predict_scenario(model, measured_runs(records(), model.base, {}, other)[0].scenario)
    assert (third.model, third.low, third.high) == (found.rate.value, *found.rate.interval)
    unrated = MappingFile(runs={"5000 buffers": RunMapping(settings={MEMORY: 4.0}, censored=(FigureKind.RATE,))})
    with pytest.raises(InputError, match="runs of one machine are expected; got 2"):
        rates_without_machine(refits, runs)
    with pytest.raises(InputError, match="5000 buffers: no rate that a prediction can be held against"):
        rates_without_machine(refits, measured_runs(records(), model.base, {}, unrated)[2:])


def test_one_machine_or_device_is_said_in_words(sound: Certificate) -> None:
    for kind in ("machine", "device"):
        one = sound.left_out_by(kind)
        assert one.errors is None
        assert one.rows == ()
        assert one.not_done[0].startswith(f"all runs are of one {kind} (")


def test_machines_and_devices_are_left_out_whole(model: Calibration) -> None:
    settings = {"5000 buffers": {MEMORY: 4.0}, "400 buffers": {"machine.disks.disk.read_latency_us": 200.0}}
    file = MappingFile(runs={name: RunMapping(settings=dict(one)) for name, one in settings.items()})
    runs = measured_runs(records(), model.base, {}, file)
    folds, why = folds_of(runs)
    assert not why
    out = {(fold.kind, fold.out) for fold in folds}
    assert {("machine", (0, 1)), ("machine", (2,)), ("device", (0,)), ("device", (1, 2)), ("run", (1,))} < out
    assert len({fold.key for fold in folds}) == 5


def test_repeats_are_left_out_together(model: Calibration) -> None:
    """One scenario measured twice told itself what it measured: each stayed in when the other was left out."""
    [again, *_] = records()
    some = [*records(), again.model_copy(update={"name": "400 buffers again"})]
    runs = measured_runs(some, model.base, {})
    folds, _ = folds_of(runs)
    assert [fold.out for fold in folds] == [(0, 3), (1,), (2,)]
    assert folds[0].what == "400 buffers, 400 buffers again"
    twice, why = folds_of([runs[0], runs[3]])
    assert not twice
    assert why["run"].startswith("there is one scenario, measured again")


def test_the_published_measurement_that_was_printed_twice_is_one_scenario() -> None:
    """A table of machines and one of pools have the same row, with 8,137 or 8,138 new orders a minute."""
    names = ("box-v20z", "buf-120000", "buf-100000")
    box, pool, other = (setup_hash(load_scenario_file(library_files()[f"published/{name}"])) for name in names)
    assert box == pool
    assert box != other


def test_another_load_is_no_repeat(model: Calibration) -> None:
    folds, _ = folds_of(measured_runs(records(), model.base, {}))
    assert [fold.out for fold in folds] == [(0,), (1,), (2,)]


def test_rows_of_one_machine_say_less_of_a_share_than_as_many_machines() -> None:
    """Ten machines of four rows that hold or miss together are ten; rows that scatter by themselves are forty."""
    together = [judged_rate(f"{at}", 100.0, (100.0, 90.0, 99.0 if at < 4 else 110.0)) for at in range(40)]
    whole = {f"{at}": f"machine {at // 4}" for at in range(40)}
    mixed = {f"{at}": f"machine {at % 10}" for at in range(40)}
    few, many, alone = coverage(together, 0.9, whole), coverage(together, 0.9, mixed), coverage(together, 0.9)
    assert few is not None
    assert many is not None
    assert alone is not None
    assert (few.inside, few.count, few.groups) == (36, 40, 10)
    assert (few.low, few.high) == pytest.approx(exact_share(9, 10, 0.9))
    assert (many.low, many.high) == (alone.low, alone.high) == pytest.approx(exact_share(36, 40, 0.9))
    assert alone.groups is None
    assert alone.half_width == pytest.approx(math.log(110.0 / 90.0) / 2.0)


def test_a_single_run_leaves_nothing(model: Calibration) -> None:
    found = certificate(model, records()[:1])
    assert found.left_out_by("run").not_done == ("there is one run; leaving it out leaves nothing to fit to",)
    assert found.coverage is None
    assert found.baselines == ()
    assert "none of which could be left out" in found.line


def test_a_run_that_was_fitted_otherwise_is_refused() -> None:
    """It would pass for one that the model has never seen."""
    file = MappingFile(runs={"5000 buffers": RunMapping(settings={MEMORY: 4.0})})
    model = calibrated(records(), file)
    runs_to_judge(model, records(), bases(model), file)
    with pytest.raises(InputError, match=r"machine\.memory_gib: then 4.0, now not set\); give the --mapping"):
        runs_to_judge(model, records(), bases(model), None)


def test_a_rate_at_a_limit_is_in_the_refits_and_not_judged(model: Calibration) -> None:
    file = MappingFile(runs={"400 buffers": RunMapping(censored=(FigureKind.RATE,))})
    runs = measured_runs(records(), model.base, {}, file)
    kept = StepJournal(None, "")
    for number in range(len(runs)):
        kept.once(f"without {number}", lambda: [[1000.0, 900.0, 1100.0]])
    found = validate_calibration(model, records(), bases(model), file, kept, quietly)
    assert [row.name for row in found.left_out_by("run").rows] == ["1500 buffers", "5000 buffers"]
    assert [row.name for row in found.runs] == ["1500 buffers", "5000 buffers"]
    assert found.not_judged[0].startswith("400 buffers: its rate is unused, or at a limit")
    assert Refits(model, tuple(runs)).task().runs == tuple(runs)
    with pytest.raises(InputError, match="no run has a rate"):
        validate_calibration(model, records()[:1], bases(model), file, StepJournal(None, ""), quietly)


class Killed(Exception):
    """Stands for a kill."""


def test_a_killed_validation_goes_on_and_any_executor_gives_the_same(
    model: Calibration, sound: Certificate, tmp_path: Path
) -> None:
    some = records()
    name = refits_digest(model, runs_to_judge(model, some, bases(model), None))
    state = tmp_path / "state"

    def kill(_: float, what: str) -> None:
        if what.startswith("without 5000 buffers"):
            raise Killed

    with pytest.raises(Killed):
        validate_calibration(model, some, bases(model), None, StepJournal(state, name), kill)
    kept = StepJournal(state, name)
    with ThreadPoolExecutor(2) as executor:
        found = validate_calibration(model, some, bases(model), None, kept, quietly, executor, explain_all=True)
    assert kept.reused >= 2
    assert found == sound
    assert refits_digest(model, runs_to_judge(model, some[:2], bases(model), None)) != name


@pytest.mark.parametrize(
    ("inside", "count", "low", "high"),
    [(4, 5, 0.3426, 0.9898), (0, 10, 0.0, 0.2589), (10, 10, 0.7411, 1.0), (18, 20, 0.7174, 0.9819)],
)
def test_coverage_has_the_exact_interval(inside: int, count: int, low: float, high: float) -> None:
    """Tables of Clopper and Pearson, 5 % on each side; with none inside the upper end is 1 - 0.05^(1/n)."""
    rows = [judged_rate(str(n), 1.0, (1.0, 0.5 if n < inside else 1.5, 2.0)) for n in range(count)]
    found = coverage(rows, 0.9)
    assert found is not None
    assert (found.inside, found.count) == (inside, count)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.34, 0.99, "so few runs say little"),
        (0.86, 0.93, "compatible"),
        (0.2, 0.7, "too narrow"),
        (0.93, 1.0, "too wide"),
    ],
)
def test_coverage_is_judged_in_words(low: float, high: float, said: str) -> None:
    assert said in Coverage(inside=1, count=2, low=low, high=high, claimed=0.9).verdict


def test_errors_name_the_worst_of_either_sign() -> None:
    found = error_summary([("a", 0.1), ("b", -0.3), ("c", 0.2)])
    assert found is not None
    assert (found.median, found.worst, found.worst_name) == (0.2, -0.3, "b")
    assert error_summary([]) is None


@pytest.fixture
def certified(model: Calibration, sound: Certificate, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    write_calibration(path, model.model_copy(update={"certificate": sound}))
    return path


def test_a_certificate_travels_with_its_calibration(certified: Path, model: Calibration, sound: Certificate) -> None:
    again = read_calibration(certified)
    assert again.certificate == sound
    assert calibration_hash(again) == calibration_hash(model) == sound.calibration_hash
    assert calibration_json(again) == certified.read_text(encoding="utf-8")
    assert "date" not in Certificate.model_fields


def changed(path: Path, change: Any) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def another_task(data: dict[str, Any]) -> None:
    data["certificate"]["task_hash"] = "another"


def another_value(data: dict[str, Any]) -> None:
    data["seed"] += 1


def another_mode(data: dict[str, Any]) -> None:
    data["joint"]["mode"][0] += 0.01


def no_runs(data: dict[str, Any]) -> None:
    data["certificate"]["runs"] = []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (another_task, r"certificate\.task_hash: the certificate is that of fit another"),
        (another_value, r"the calibration was changed after it was validated; take the certificate out"),
        (another_mode, r"the calibration was changed after it was validated"),
        (no_runs, r"certificate\.runs"),
    ],
)
def test_a_certificate_of_something_else_is_refused(certified: Path, change: Any, said: str) -> None:
    changed(certified, change)
    with pytest.raises(InputError, match=said):
        read_calibration(certified)


def test_a_changed_calibration_without_a_certificate_is_read(certified: Path) -> None:
    changed(certified, lambda data: (another_value(data), data.pop("certificate")))
    assert read_calibration(certified).certificate is None
