"""The next run: linear algebra against brute force, planted doubts that one kind of run settles, and no run in vain."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oltpsim.calibration.fit import (
    DIFFERENCE_STEP,
    Calibration,
    Circumstances,
    FigureKind,
    FitTask,
    MeasuredRun,
    StepJournal,
    apply_calibration,
    calibration_of,
    run_fit,
    scenario_hash,
    shared_correlations,
)
from oltpsim.calibration.predict import (
    CALIBRATED,
    MISSED,
    CandidateSet,
    advise_next_run,
    candidates_around,
    candidates_named,
    predict_scenario,
    read_candidates,
    usual_run,
)
from oltpsim.calibration.predict.candidates import scenario_of
from oltpsim.calibration.predict.evidence import Evidence
from oltpsim.calibration.predict.next_run import _weighted, derivatives
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray
from tests.calibration.synthetic import READ, ROWS, SHARE, base, parameters, runs, said_by

ROWS_KEY, SHARE_KEY = (text.partition("=")[0] for text in (ROWS, SHARE))
SYSTEM = ("database.io=direct", "machine.cpu.cores=2", "workload.warehouses=2", "workload.arrivals.clients=8")
CONTENDED = (
    "database.io=direct", "machine.cpu.cores=8", "workload.warehouses=8", "workload.arrivals.clients=16",
    "database.pool.buffers=20000", "database.critical_section.share_of_path=0.5",
)  # fmt: skip
SECTION = "database.critical_section.share_of_path=0.25..0.9"
CLIENTS = "workload.arrivals.clients"


def calibrated(scenario: ScenarioSpec, some: list[MeasuredRun], *varied: str) -> Calibration:
    task = FitTask(tuple(some), parameters(scenario, *varied), starts=1)
    return calibration_of(run_fit(task, StepJournal(None, ""), lambda _, __: None), scenario)


def contended(*more_runs: int) -> tuple[ScenarioSpec, Calibration]:
    """Path length and share in a critical section by rates alone, of a machine that nothing but the section limits."""
    scenario = base(*CONTENDED)
    truth = {ROWS_KEY: 40.0, SHARE_KEY: 0.5}
    sizes = [(clients, 20000) for clients in (16, 24, *more_runs)]
    return scenario, calibrated(scenario, runs(scenario, truth, sizes, (FigureKind.RATE,)), ROWS, SECTION)


@pytest.fixture(scope="module")
def mixed_up() -> Calibration:
    return contended()[1]


@pytest.fixture(scope="module")
def usual() -> Calibration:
    scenario = base(*SYSTEM)
    some = runs(
        scenario,
        {ROWS_KEY: 30.0},
        ((8, 400), (8, 1500), (8, 5000)),
        (FigureKind.RATE, FigureKind.CPU, FigureKind.READS),
    )
    return calibrated(scenario, some, ROWS, READ)


def changed(calibration: Calibration, **settings: float) -> ScenarioSpec:
    keys = {"clients": CLIENTS, "buffers": "database.pool.buffers"}
    return with_values(calibration.base, {keys[name]: value for name, value in settings.items()})


def evidence(rows: FloatArray, setups: Sequence[str], machine: str = "one", missed: float = 1.0) -> Evidence:
    """Rates of runs of one machine with so much noise that it doesn't matter."""
    where = tuple(Circumstances(machine, each, "cpu", (0.0,)) for each in setups)
    shares = np.ones(len(rows), dtype=np.bool_)
    return Evidence(
        rows, np.full(len(rows), 0.3), np.full(len(rows), missed), (FigureKind.RATE,) * len(rows), where, shares
    )


def test_figures_that_share_nothing_add_their_information() -> None:
    rng = np.random.default_rng(3)
    root, more = rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    one, other = evidence(root, "abcde", missed=0.0), evidence(more, "fgh", missed=0.0)
    brute = np.linalg.inv((root.T @ root + more.T @ more) / 0.09 + np.eye(4))
    np.testing.assert_allclose(one.with_figures(other).covariance, brute, rtol=1e-9)


def test_repeats_share_what_is_missed_and_tell_next_to_nothing_new() -> None:
    """One figure of discrepancy 1 and noise 0.3: four repeats leave what noise they take out, four machines a half."""
    row = np.ones((1, 1))
    once = evidence(row, "a").covariance[0, 0]
    again = evidence(np.ones((4, 1)), "aaaa").covariance[0, 0]
    apart = evidence(np.ones((4, 1)), "abcd", missed=1.0)
    assert again == pytest.approx(1.0 / (1.0 + 1.0 / (1.0 + 0.09 / 4.0)))
    assert again > 0.95 * once
    others = apart
    for number in range(4):
        single = evidence(row, str(number), machine=str(number))
        others = single if number == 0 else others.with_figures(single)
    assert others.covariance[0, 0] == pytest.approx(1.0 / (1.0 + 4.0 / 1.09))
    assert again > apart.covariance[0, 0] > others.covariance[0, 0]


def test_a_prediction_is_nearer_beside_its_runs_than_far_away_or_of_another_machine() -> None:
    known = evidence(3.0 * np.ones((3, 1)), "abc")

    def sd(machine: str, setup: str, size: float) -> float:
        at = Circumstances(machine, setup, "cpu", (size,))
        return known.error(3.0 * np.ones(1), at, 1.0).variance ** 0.5

    near, far, other = sd("one", "d", 0.0), sd("one", "d", 3.0), sd("other", "d", 0.0)
    assert sd("one", "a", 0.0) < near < far < other
    parts = known.error(3.0 * np.ones(1), Circumstances("other", "d", "cpu", (0.0,)), 1.0)
    assert parts.discrepancy_sd == pytest.approx(1.0)
    assert parts.parameters_sd == pytest.approx(3.0 * known.covariance[0, 0] ** 0.5)


def test_what_a_prediction_is_wrong_by_is_that_of_drawn_systems() -> None:
    """Plain generalised least squares on drawn parameters, discrepancies and noise: the variance as said."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(6, 2)) * 2.0
    known = evidence(rows, "aabcde")
    at, wanted = Circumstances("one", "f", "disk", (0.7,)), np.array([1.0, -2.0])
    said = known.error(wanted, at, 1.0).variance
    places = [*known.where, at]
    root = np.linalg.cholesky(shared_correlations(places, places) + 1e-9 * np.eye(7))
    parameters, missed = rng.normal(size=(20_000, 2)), rng.normal(size=(20_000, 7)) @ root.T
    figures = parameters @ rows.T + missed[:, :6] + 0.3 * rng.normal(size=(20_000, 6))
    wrong = parameters @ wanted + missed[:, 6] - figures @ known.gain.T @ wanted
    assert float(np.mean(wrong**2)) == pytest.approx(said, rel=0.03)


def test_derivatives_are_those_of_single_machines(usual: Calibration) -> None:
    some = [changed(usual, clients=2), changed(usual, buffers=5000, clients=20)]
    said, slopes, reasons = derivatives(usual, some, usual.mode[None])
    assert not reasons
    for number, scenario in enumerate(some):
        for at in range(2):
            step = DIFFERENCE_STEP * np.eye(2)[at]
            up, down = (
                said_by(apply_calibration(usual, scenario, usual.mode + way * step))[FigureKind.RATE] for way in (1, -1)
            )
            assert slopes[number, 0, list(FigureKind).index(FigureKind.RATE), at] == pytest.approx(
                np.log(up / down) / (2 * DIFFERENCE_STEP), abs=1e-6
            )
        rate = said_by(apply_calibration(usual, scenario))[FigureKind.RATE]
        assert said[number, 0, list(FigureKind).index(FigureKind.RATE)] == pytest.approx(np.log(rate), abs=1e-6)


def test_what_is_open_now_is_what_the_prediction_says(usual: Calibration) -> None:
    asked = changed(usual, clients=32)
    advice = advise_next_run(usual, candidates_around(usual), asked, pairs=0)
    said = predict_scenario(usual, asked)
    assert advice.open_sd == pytest.approx(np.hypot(said.rate.sd_of(CALIBRATED), said.rate.sd_of(MISSED)), rel=0.02)
    assert all(run.left_sd < advice.open_sd for run in advice.runs)


def test_the_run_that_settles_a_doubt_is_suggested(mixed_up: Calibration) -> None:
    """Many clients queue for the section, whose time is the product of both; one client alone doesn't wait."""
    assert not any(each.identified for each in mixed_up.parameters)
    advice = advise_next_run(mixed_up, candidates_around(mixed_up), None)
    assert advice.best is not None
    assert advice.best.candidate.name == "1 client"
    assert advice.best.tells == ((ROWS_KEY, SHARE_KEY),)
    for run in advice.runs[1:]:
        assert run.tells == ()
        assert run.left_sd > 2.0 * advice.best.left_sd


def test_the_suggested_run_does_tell_once_it_is_made_and_another_does_not() -> None:
    for clients, told in ((1, True), (96, False)):
        _, calibration = contended(clients)
        assert all(each.identified for each in calibration.parameters) is told


def test_where_only_runs_of_one_kind_are_to_be_had_none_is_said_to_tell(mixed_up: Calibration) -> None:
    advice = advise_next_run(mixed_up, candidates_named(mixed_up, [(CLIENTS, ("32", "64", "128"))], grid=False), None)
    assert all(run.tells == () for run in advice.runs)


def test_nothing_is_suggested_where_the_rest_is_noise_and_discrepancy(usual: Calibration) -> None:
    scenario = base(*SYSTEM)
    sizes = [(clients, buffers) for clients in (4, 12) for buffers in (400, 1500, 5000)]
    some = runs(scenario, {ROWS_KEY: 30.0}, sizes, (FigureKind.RATE, FigureKind.CPU, FigureKind.READS))
    certain = calibrated(scenario, some, ROWS)
    assert all(each.identified for each in certain.parameters)
    asked = changed(usual, buffers=3000, clients=16)
    assert advise_next_run(certain, candidates_around(certain), asked, pairs=1).best is None
    assert advise_next_run(usual, candidates_around(usual), asked, pairs=1).best is not None


@pytest.mark.parametrize(("kind", "less"), [(FigureKind.CPU, True), (FigureKind.READS, False)])
def test_a_figure_at_its_end_of_scale_tells_less(kind: str, less: bool, usual: Calibration) -> None:
    """Of a processor's share that is half or full, changed as much by the parameters; reads have no end of scale."""
    said = np.log(np.array([0.5, 1.0]) + 0.01)
    seen = [_weighted(usual, FigureKind(kind), 0.1, float(log), np.ones(2))[0] for log in said]
    assert bool(seen[1] < 0.8 * seen[0]) is less
    assert seen[1] > 0.0


def test_runs_are_found_again_in_the_file(usual: Calibration) -> None:
    assert [scenario_hash(scenario_of(usual, run)) for run in usual.runs] == [run.scenario_hash for run in usual.runs]
    rates = sorted(run.figures[0].measured for run in usual.runs)
    assert usual_run(usual).figures[0].measured == rates[1]


def names(choice: CandidateSet) -> list[str]:
    return [each.name for each in choice.candidates]


def test_candidates_lie_around_the_usual_run(usual: Calibration) -> None:
    choice = candidates_around(usual)
    assert names(choice) == [
        "1 client", "2 clients", "4 clients", "16 clients", "32 clients", "a pool of 750 buffers",
        "a pool of 3,000 buffers", "1 warehouse", "4 warehouses",
    ]  # fmt: skip
    assert choice.candidates[3].scenario.database.pool.buffers == 1500


def test_what_does_not_fit_or_is_known_is_left_out_with_its_reason(usual: Calibration) -> None:
    choice = candidates_named(usual, [("database.pool.buffers", ("400", "3000", "99000000"))], grid=False)
    assert names(choice) == ["a pool of 3,000 buffers"]
    again, too_large = choice.impossible
    assert again.reason == "it is the run 8 clients, 400 buffers again"
    assert "GiB are free" in too_large.reason
    with pytest.raises(InputError, match="GiB are free"):
        candidates_named(usual, [("database.pool.buffers", ("99000000",))], grid=False)


def test_values_are_single_changes_or_a_grid(usual: Calibration) -> None:
    axes = [(CLIENTS, ("2", "4")), ("database.pool.buffers", ("800", "900"))]
    assert len(candidates_named(usual, axes, grid=False).candidates) == 4
    grid = candidates_named(usual, axes, grid=True)
    assert names(grid)[0] == "2 clients, a pool of 800 buffers"
    assert len(grid.candidates) == 4
    with pytest.raises(InputError, match="stands twice"):
        candidates_named(usual, [axes[0], axes[0]], grid=False)


def test_another_volume_says_nothing_of_the_old_one(usual: Calibration) -> None:
    other = with_values(changed(usual, buffers=700), {"machine.disks.disk.read_latency_us": 30.0})
    _, slopes, _ = derivatives(usual, [changed(usual, buffers=700), other], usual.mode[None])
    assert slopes[0, 0, list(FigureKind).index(FigureKind.RATE), 1] < -0.05
    assert slopes[1, 0, list(FigureKind).index(FigureKind.RATE), 1] == 0.0


COSTLY = """
cost_unit: hours
candidates:
  a weekend: {settings: {workload.arrivals.clients: 1}, cost: 60}
  an hour: {settings: {workload.arrivals.clients: 2}, cost: 1}
  useless: {settings: {workload.arrivals.clients: 128}, cost: 0.01}
"""


def test_costs_rank_what_is_worth_it_by_what_it_gives_for_them(mixed_up: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "could.yaml"
    path.write_text(COSTLY)
    choice = read_candidates(path, mixed_up)
    order = [run.candidate.name for run in advise_next_run(mixed_up, choice, None, pairs=1).runs]
    free = replace(choice, candidates=tuple(replace(each, cost=None) for each in choice.candidates), cost_unit=None)
    assert order.index("an hour") < order.index("a weekend") < order.index("useless")
    assert advise_next_run(mixed_up, free, None, pairs=1).runs[0].candidate.name == "a weekend"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("candidates: {}", "could.yaml: candidates"),
        ("candidates: {a: {settings: {x: 1}, cost: -1}}", "candidates.a.cost"),
        ("candidates: {a: {settings: {}}}", "candidates.a.settings"),
        ("candidates: {a: {settings: {x: 1}, price: 1}}", "price"),
        ("candidates: {a: {settings: {workload.clients: 1}}}", "a: workload"),
        (
            "candidates: {a: {settings: {workload.warehouses: 3}, cost: 1}, b: {settings: {workload.warehouses: 5}}}",
            "b: has no cost",
        ),
    ],
)
def test_a_bad_file_is_refused_by_name(text: str, said: str, usual: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "could.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_candidates(path, usual)
