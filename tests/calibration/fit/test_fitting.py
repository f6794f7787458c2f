"""Fits to runs whose truth is known: found within the intervals, refused where the runs can't tell, never pulled."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oltpsim.calibration.fit import (
    Calibration,
    FigureKind,
    FitTask,
    MappingFile,
    MeasuredRun,
    Parameter,
    RunMapping,
    StepJournal,
    calibration_json,
    calibration_of,
    engine_correction,
    measured_runs,
    run_fit,
)
from oltpsim.calibration.fit.correction import regime_correction
from oltpsim.calibration.fit.fitting import Fit, _spread_out
from oltpsim.calibration.fit.objective import data_of
from oltpsim.calibration.fit.search import Optimum
from oltpsim.calibration.predict import predict_scenario
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.kernel import simulate
from tests.calibration.synthetic import DURABLE, READ, ROWS, TRANSACTION, base, parameters, record, runs, said_by

SYSTEM = (
    "database.io=direct",
    "machine.cpu.cores=2",
    "workload.warehouses=2",
    "workload.arrivals.clients=8",
)
SIZES = ((8, 400), (8, 1500), (8, 5000))
SEEN = (FigureKind.RATE, FigureKind.CPU, FigureKind.READS)
SYSTEMS = 14


def quietly(_: float, __: str) -> None:
    """Nobody watches."""


def fitted(some: list[MeasuredRun], varied: tuple[Parameter, ...], seed: int = 1, starts: int = 1) -> Fit:
    return run_fit(FitTask(tuple(some), varied, seed=seed, starts=starts), StepJournal(None, ""), quietly)


def fitted_exactly(some: list[MeasuredRun], varied: tuple[Parameter, ...]) -> Fit:
    """By a model that is known to miss nothing, as the truth is the model's own."""
    corrections = ((0.0, 0.0),) * sum(len(run.observations) for run in some)
    return run_fit(
        FitTask(tuple(some), varied, starts=1, missing=0.0, corrections=corrections), StepJournal(None, ""), quietly
    )


def covers(found: Fit, truth: dict[str, float]) -> list[bool]:
    """Whether the interval of each identified parameter holds the truth."""
    places = [each.place(truth[each.key]) for each in found.task.parameters]
    told, ends = found.identified.identified, found.ends
    return [bool(ends.low[k] <= place <= ends.high[k]) for k, place in enumerate(places) if told[k]]


@pytest.mark.parametrize("half", [0, 1])
def test_known_truths_lie_in_their_intervals(half: int) -> None:
    """Of 90 % intervals fewer than 75 % hold the truth by chance once in a hundred times; drawn from the priors."""
    scenario = base(*SYSTEM)
    varied = parameters(scenario, ROWS, READ)
    held: list[bool] = []
    for number in range(half * SYSTEMS // 2, (half + 1) * SYSTEMS // 2):
        rng = np.random.default_rng(number)
        truth = {each.key: each.at(float(np.clip(rng.normal(), -1.6, 1.6))) for each in varied}
        held += covers(fitted(runs(scenario, truth, SIZES, SEEN, rng), varied, number), truth)
    assert len(held) >= SYSTEMS // 2
    assert np.mean(held) >= 0.75


def test_without_noise_the_truth_is_found() -> None:
    scenario = base(*SYSTEM)
    varied = parameters(scenario, ROWS, READ)
    truth = {varied[0].key: 26.0, varied[1].key: 240.0}
    found = fitted(runs(scenario, truth, SIZES, SEEN), varied, starts=2)
    assert [each.at(z) for each, z in zip(varied, found.best.place, strict=True)] == pytest.approx(
        [26.0, 240.0], rel=0.05
    )
    assert found.identified.identified.all()
    assert found.alike == 2


def two_path_lengths(*, apart: bool) -> tuple[Calibration, dict[str, float]]:
    """CPU of transactions and of rows, which one mix can't tell apart; a run of payments alone can."""
    scenario = base(*SYSTEM, "database.pool.buffers=5000")
    varied = parameters(scenario, ROWS, TRANSACTION)
    truth = {varied[0].key: 50.0, varied[1].key: 250.0}
    mix = {"new_order": 0.04, "payment": 0.93, "order_status": 0.01, "delivery": 0.01, "stock_level": 0.01}
    other = {f"workload.mix.{name}": share for name, share in mix.items()} if apart else {}
    records = []
    for name, changes in (("usual", {}), ("usual again", {}), ("other", other), ("other again", other)):
        machine = with_values(scenario, {**truth, **changes})
        figures = {kind: value for kind, value in said_by(machine).items() if kind in SEEN}
        records.append(record(name, figures, machine, 8, 5000 * 8 / (1 << 20)))
    file = MappingFile(runs={name: RunMapping(settings=dict(other)) for name in ("other", "other again")})
    some = measured_runs(records, scenario, {}, file)
    return calibration_of(fitted_exactly(some, varied), scenario), truth


def test_a_pair_that_cannot_be_told_apart_is_refused() -> None:
    calibration, _ = two_path_lengths(apart=False)
    for each in calibration.parameters:
        assert not each.identified
        assert (each.value, each.low, each.high) == (None, None, None)
    assert [each.not_told_from for each in calibration.parameters] == [
        ("database.path.transaction_us",),
        ("database.path.row_operation_us",),
    ]
    assert any(text.startswith("your runs can't tell database.path.") for text in calibration.said)


def test_a_run_of_another_mix_tells_the_pair_apart() -> None:
    calibration, truth = two_path_lengths(apart=True)
    for each in calibration.parameters:
        assert each.identified
        assert each.low is not None
        assert each.high is not None
        assert each.low < truth[each.key] < each.high
    assert not calibration.said


def test_what_no_figure_shows_stays_at_its_prior() -> None:
    scenario = base(*SYSTEM)
    varied = parameters(scenario, ROWS, "operating_system.reserved_memory_gib=0.05..0.2")
    found = fitted(runs(scenario, {varied[0].key: 30.0}, SIZES[:2], SEEN), varied)
    assert found.best.place[1] == 0.0
    assert found.identified.identified.tolist() == [True, False]
    answer = calibration_of(found, scenario)
    assert answer.parameters[1].value is None
    [said] = answer.said
    assert said.startswith(
        "your runs say nothing of operating_system.reserved_memory_gib: it stays at its prior (0.1, "
    )


def throttled(scenario: ScenarioSpec, *, censored: bool) -> tuple[list[MeasuredRun], dict[str, float]]:
    """Three sound runs and one that somebody's limit has held at half of what the machine could do."""
    truth = {"database.path.row_operation_us": 45.0}
    some = runs(scenario, truth, SIZES, (FigureKind.RATE,))
    last = some[-1]
    rate = replace(last.observations[0], value=last.observations[0].value / 2, at_least=censored)
    return [*some[:-1], replace(last, observations=(rate,))], truth


def test_a_censored_run_does_not_pull() -> None:
    scenario = base(*SYSTEM)
    varied = parameters(scenario, ROWS)
    limited, truth = throttled(scenario, censored=True)
    found = fitted(limited, varied)
    assert varied[0].at(found.best.place[0]) == pytest.approx(truth[varied[0].key], rel=0.05)
    assert found.identified.identified.all()


def test_the_same_run_taken_at_its_word_pulls() -> None:
    scenario = base(*SYSTEM)
    varied = parameters(scenario, ROWS)
    limited, truth = throttled(scenario, censored=False)
    found = fitted(limited, varied)
    assert varied[0].at(found.best.place[0]) > 1.1 * truth[varied[0].key]


def test_little_data_leaves_a_parameter_near_its_prior_and_much_data_does_not() -> None:
    """One run of wide noise against the same run of narrow noise: the prior's weight is that of its width."""
    scenario = base(*SYSTEM)
    varied = parameters(scenario, "database.path.row_operation_us=30..55")
    [run] = runs(scenario, {varied[0].key: 60.0}, SIZES[-1:], (FigureKind.RATE,))
    places = []
    for sd in (1.0, 0.005):
        noisy = replace(run, observations=(replace(run.observations[0], sd=sd),))
        places.append(float(fitted_exactly([noisy], varied).best.place[0]))
    assert abs(places[0]) < 0.2
    assert places[1] > 1.0


def test_a_parameter_at_the_end_of_its_prior_is_no_result() -> None:
    scenario = base(*SYSTEM)
    varied = parameters(scenario, "database.path.row_operation_us=30..50")
    answer = calibration_of(fitted(runs(scenario, {varied[0].key: 90.0}, SIZES, SEEN), varied), scenario)
    assert answer.parameters[0].value is None
    assert "was stopped at the end of what its prior allows" in answer.said[0]


class Killed(Exception):
    """Stands for a kill."""


def test_a_killed_fit_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    scenario = base(*SYSTEM, DURABLE)
    varied = parameters(scenario, ROWS, READ)
    some = runs(scenario, {varied[0].key: 30.0}, SIZES[:2], SEEN, np.random.default_rng(5))
    task = FitTask(tuple(some), varied, starts=2, bootstrap=20)
    whole = calibration_json(calibration_of(run_fit(task, StepJournal(None, task.digest), quietly), scenario))
    state = tmp_path / "state"
    for stop_at in ("search 2 of 2", "intervals"):

        def kill(_: float, what: str, at: str = stop_at) -> None:
            if what == at:
                raise Killed

        with pytest.raises(Killed):
            run_fit(task, StepJournal(state, task.digest), kill)
    kept = StepJournal(state, task.digest)
    resumed = run_fit(task, kept, quietly)
    assert kept.reused > 5
    assert calibration_json(calibration_of(resumed, scenario)) == whole
    assert '"bootstrap_low"' in whole
    kept.close()
    assert not state.exists()


def test_the_state_of_another_task_is_not_gone_on_with(tmp_path: Path) -> None:
    state = tmp_path / "state"
    StepJournal(state, "one").once("step", lambda: 1)
    assert StepJournal(state, "one").once("step", lambda: 2) == 1
    assert StepJournal(state, "other").once("step", lambda: 2) == 2
    assert StepJournal(state, "one").once("step", lambda: 3) == 3


def test_the_bootstrap_agrees_with_the_profile() -> None:
    scenario = base(*SYSTEM)
    varied = parameters(scenario, ROWS)
    some = runs(scenario, {varied[0].key: 30.0}, SIZES, SEEN)
    found = run_fit(FitTask(tuple(some), varied, starts=1, bootstrap=60), StepJournal(None, ""), quietly)
    assert found.samples is not None
    low, high = np.percentile(found.samples[:, 0], (5, 95))
    width = found.ends.high[0] - found.ends.low[0]
    assert high - low == pytest.approx(width, rel=0.35)
    assert (low + high) / 2 == pytest.approx((found.ends.low[0] + found.ends.high[0]) / 2, abs=0.35 * width)


@pytest.fixture(scope="module")
def confirmed() -> Fit:
    # a writer that is never behind its mark, so that no run is in doubt and simulated first
    writer = "database.writer={dirty_high_fraction: 0.95, dirty_low_fraction: 0.9}"
    scenario = base(*SYSTEM, writer, "interval.duration_s=20")
    varied = parameters(scenario, ROWS)
    task = FitTask(tuple(runs(scenario, {varied[0].key: 30.0}, SIZES, SEEN)), varied, starts=1, confirm=2)
    return run_fit(task, StepJournal(None, ""), quietly, simulate_model=simulate)


def test_the_kernel_corrects_the_runs_that_it_simulates_and_the_others_by_their_regimes(confirmed: Fit) -> None:
    assert confirmed.confirmed == (0, 2)
    offsets = confirmed.data.offset.reshape(3, len(SEEN))
    assert [each.regime for each in confirmed.circumstances] == ["cpu"] * 3
    assert offsets[1] == pytest.approx((offsets[0] + offsets[2]) / 3)
    assert (np.abs(offsets[[0, 2]]) < 0.6).all()
    assert (offsets[[0, 2]][:, [0, 2]] != 0.0).all(), "a processor that is full both ways needs no correction"


def test_the_table_has_what_is_predicted_of_each_run(confirmed: Fit) -> None:
    """By the kernel at the final place, of those too that didn't correct the fit: 41,091 beside 39,036 before."""
    answer = calibration_of(confirmed, confirmed.task.runs[0].scenario)
    assert answer.by_kernel == tuple(answer.runs[number].name for number in (0, 2))
    for run, measured in zip(answer.runs, confirmed.task.runs, strict=True):
        assert run.corrected_by.startswith("the kernel's run")
        said = predict_scenario(answer, measured.scenario, simulate)
        assert said.rate.value == pytest.approx(run.figures[0].model, rel=1e-9)
        assert said.model.role == "fitted"


def test_a_run_that_the_kernel_cannot_simulate_soon_has_one_number_too(
    confirmed: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = calibration_of(confirmed, confirmed.task.runs[0].scenario)
    monkeypatch.setattr("oltpsim.calibration.predict.prediction.kernel_can_simulate", lambda *_: False)
    middle = confirmed.task.runs[1]
    usual = answer.corrections["cpu"][FigureKind.RATE]
    assert usual.runs == 2
    said = predict_scenario(answer, middle.scenario, simulate)
    by_fit = np.exp(confirmed.best.logs + confirmed.data.offset)[confirmed.data.run == 1][0]
    assert said.rate.value == pytest.approx(by_fit, rel=1e-6)


def test_a_run_in_memory_takes_no_correction_of_runs_at_the_disk() -> None:
    """A machine's mean correction took it: an in-memory run that of five disk-bound ones."""
    slow = {"machine.disks.disk.parallel_requests": 1, "machine.disks.disk.read_latency_us": 3000.0}
    scenario = with_values(base(*SYSTEM, "interval.duration_s=10"), slow)
    varied = parameters(scenario, ROWS)
    some = tuple(runs(scenario, {varied[0].key: 30.0}, ((8, 300), (8, 350), (8, 20_000)), SEEN))
    task = FitTask(some, varied, starts=1, confirm=1, intervals=False)
    found = run_fit(task, StepJournal(None, ""), quietly, simulate_model=simulate)
    assert [each.regime for each in found.circumstances] == ["disk", "disk", "cpu"]
    assert found.confirmed == (0,)
    offsets = found.data.offset.reshape(3, len(SEEN))
    assert offsets[1] == pytest.approx(offsets[0] / 2)
    assert (offsets[0] != 0.0).any()
    assert offsets[2].tolist() == [0.0] * len(SEEN)


def test_a_regimes_correction_is_the_engines_error_until_runs_show_it() -> None:
    engine_sd = 0.3
    none, few, many = (regime_correction(engine_sd, [0.1] * count) for count in (0, 2, 40))
    assert (none.log, none.sd) == (0.0, pytest.approx(engine_sd))
    assert few.log == pytest.approx(0.1 * 2 / 3)
    assert many.log == pytest.approx(0.1, abs=0.003)
    assert many.sd < few.sd < none.sd
    scattered = regime_correction(engine_sd, [0.5, -0.3] * 20)
    assert scattered.sd == pytest.approx(0.4, rel=0.1)


def test_what_the_engine_doubts_is_simulated_first() -> None:
    """The slowest, the middle and the fastest of seven, unless one of them is in doubt."""
    scenario = base(*SYSTEM)
    some = runs(scenario, {}, [(8, 400 + number) for number in range(7)], (FigureKind.RATE,))
    task = FitTask(tuple(some), parameters(scenario, ROWS), confirm=3)
    logs = np.linspace(5.0, 8.0, 7)
    best = Optimum(np.zeros(1), 0.0, logs, np.zeros((7, 1)))
    sure = [False] * 7
    assert _spread_out(best, data_of(some), task, sure) == [0, 3, 6]
    assert 1 in _spread_out(best, data_of(some), task, [number == 1 for number in range(7)])
    assert _spread_out(best, data_of(some), task, [number in {1, 2, 4, 5} for number in range(7)]) == [1, 4, 5]


def test_only_a_run_that_gets_warm_is_corrected_by_the_analytic_engine() -> None:
    warm = base(*SYSTEM)
    cold = base(*SYSTEM, "interval={start: cold, warm_up_s: 0, duration_s: 2}", "database.pool.buffers=20000")
    assert engine_correction(warm, SEEN, 1).logs == [0.0] * 3
    rate, *others = engine_correction(cold, SEEN, 1).logs
    assert rate < -0.02
    assert others == [0.0, 0.0]
