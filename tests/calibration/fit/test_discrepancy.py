"""What a model misses, on residuals written by hand."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from oltpsim.calibration.fit import FigureKind, assumed_sd, engine_errors
from oltpsim.calibration.fit.discrepancy import (
    Scatter,
    assumed_discrepancy,
    estimated_discrepancy,
    student_rises,
    with_discrepancy,
)
from oltpsim.calibration.fit.objective import FitData
from oltpsim.calibration.fit.profile import WORSE
from oltpsim.simulator.form import FloatArray


def data_of(count: int, sd: float) -> FitData:
    nothing = np.zeros(count)
    no, run = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    return with_discrepancy(
        FitData(nothing, nothing + sd, no, (FigureKind.RATE,) * count, run, nothing, nothing),
        assumed_discrepancy(),
        nothing.tolist(),
        1.0,
    )


def test_scatter_beyond_noise_is_what_has_to_be_added_to_it() -> None:
    """Equal noise and many runs: sum of squares / degrees of freedom = noise^2 + discrepancy^2."""
    residuals = np.random.default_rng(1).normal(0.0, 0.1, 400)
    found = estimated_discrepancy(data_of(400, 0.03), residuals, np.zeros((400, 1))).scatter_of(FigureKind.RATE)
    share = 1.0 / (1.0 + (0.03 / (found.scale * FigureKind.RATE.missed_sd)) ** 2)
    assert found.from_runs == pytest.approx(400 * share**2, rel=1e-3)
    assert (found.scale * FigureKind.RATE.missed_sd) ** 2 + 0.03**2 == pytest.approx(
        float((residuals**2).mean()), rel=0.01
    )


def test_parameters_take_degrees_of_freedom_as_far_as_the_data_tell_them() -> None:
    """One is told by its figure alone, the other by half: of these figures none and a quarter are left."""
    slopes = np.zeros((40, 2))
    slopes[0, 0], slopes[1, 1] = 1000.0, 1.0
    data = data_of(40, 1e-4)
    found = estimated_discrepancy(data, data.total_sd * np.where(np.arange(40) % 2, 1.0, -1.0), slopes)
    assert found.scatter_of(FigureKind.RATE).from_runs == pytest.approx(38.25, abs=0.02)


def test_noise_alone_leaves_next_to_nothing_of_the_assumption() -> None:
    few, many = (
        estimated_discrepancy(data_of(count, 0.1), np.full(count, 0.05), np.zeros((count, 1))).scatter_of(
            FigureKind.RATE
        )
        for count in (4, 200)
    )
    assert many.scale < few.scale < 1.0
    assert many.scale < 0.4


def test_a_kind_without_runs_is_missed_as_the_others_are_and_known_no_better() -> None:
    data = data_of(12, 0.03)
    usual, wide = (estimated_discrepancy(data, factor * data.total_sd, np.zeros((12, 1))) for factor in (1.0, 3.0))
    assert usual.scatter_of(FigureKind.CPU).scale == pytest.approx(1.0, abs=0.01)
    assert (
        usual.scatter_of(FigureKind.RATE).scale
        < wide.scatter_of(FigureKind.CPU).scale
        < wide.scatter_of(FigureKind.RATE).scale
    )
    assert {each.scatter_of(FigureKind.CPU).freedom for each in (usual, wide)} == {Scatter().freedom}


def test_one_kind_that_is_missed_does_not_blur_the_others() -> None:
    data = with_discrepancy(
        replace(data_of(20, 0.03), kinds=(FigureKind.RATE,) * 10 + (FigureKind.WRITES,) * 10),
        assumed_discrepancy(),
        [0.0] * 20,
        1.0,
    )
    residuals = np.array([0.02] * 10 + [1.5] * 10)
    found = estimated_discrepancy(data, residuals, np.zeros((20, 1)))
    assert found.scatter_of(FigureKind.RATE).scale < 1.0
    assert found.scatter_of(FigureKind.WRITES).scale * FigureKind.WRITES.missed_sd > 1.0


def test_where_no_kernel_corrects_it_the_engines_error_is_missed_too() -> None:
    """And nothing is missed of runs that the model itself has made."""
    assert assumed_sd(FigureKind.RATE, 0.12, 1.0) == pytest.approx(np.hypot(FigureKind.RATE.missed_sd, 0.12))
    assert assumed_sd(FigureKind.CPU, 0.0, 1.0) == FigureKind.CPU.missed_sd
    assert engine_errors()[FigureKind.CPU] > 0.0
    assert with_discrepancy(data_of(3, 0.03), assumed_discrepancy(), [0.0] * 3, 0.0).discrepancy.tolist() == [0.0] * 3


def test_degrees_of_freedom_are_left_where_no_parameter_takes_them() -> None:
    """Two parameters take up two kinds' only figures; shared evenly, ten rates would lose 1.7 of theirs."""
    kinds = (FigureKind.RATE,) * 10 + (FigureKind.READS, FigureKind.WRITES)
    data = with_discrepancy(replace(data_of(12, 1e-4), kinds=kinds), assumed_discrepancy(), [0.0] * 12, 1.0)
    slopes = np.zeros((12, 2))
    slopes[10, 0] = slopes[11, 1] = 1000.0
    found = estimated_discrepancy(data, data.total_sd, slopes)
    assert found.scatter_of(FigureKind.RATE).from_runs == pytest.approx(10.0, abs=0.01)
    assert found.scatter_of(FigureKind.READS).from_runs < 0.01


def even_share(squares: float, slopes: FloatArray, count: int) -> float:
    """The twin: a kind's scale by its sum of squares, every kind losing parameters in proportion to its figures."""
    return float(np.sqrt(squares / (count * (1.0 - slopes.shape[1] / len(slopes)))))


def test_by_leverage_a_scale_is_right_whose_figures_tell_the_parameters() -> None:
    """By even shares it was 0.83 to 0.89 of the true one, and less where few figures tell all."""
    kinds = (FigureKind.RATE,) * 8 + (FigureKind.READS,) * 16
    data = with_discrepancy(replace(data_of(24, 1e-4), kinds=kinds), assumed_discrepancy(), [0.0] * 24, 1.0)
    rng = np.random.default_rng(1)
    ours, evenly = [], []
    for _ in range(60):
        slopes = np.where(np.arange(24)[:, None] < 8, rng.normal(0.0, 30.0, (24, 4)), 0.0)
        figures = slopes @ rng.normal(size=4) + rng.normal(size=24)
        place = np.linalg.solve(slopes.T @ slopes + np.eye(4), slopes.T @ figures)
        found = estimated_discrepancy(data, data.total_sd * (slopes @ place - figures), slopes, place)
        ours.append(found.scatter_of(FigureKind.RATE).scale ** 2)
        evenly.append(even_share(float(((slopes @ place - figures)[:8] ** 2).sum()), slopes, 8) ** 2)
    assert np.sqrt(np.mean(ours)) == pytest.approx(1.0, abs=0.07)
    assert np.sqrt(np.mean(evenly)) < 0.85


def test_ends_are_students_where_the_discrepancys_size_is_told_by_few_runs() -> None:
    """A chi square takes it for known: 2.71 whatever the number of runs. So it is of noise alone, whose size is."""
    rises = {}
    for count in (2, 200):
        data, slopes = data_of(count, 0.03), np.full((count, 1), 3.0)
        found = estimated_discrepancy(data, data.total_sd * np.where(np.arange(count) % 2, 1.0, -1.0), slopes)
        freedom = found.scatter_of(FigureKind.RATE).freedom
        [rises[count]] = student_rises(data, slopes, found, 0.9)
        assert WORSE < rises[count] < scipy.special.stdtrit(freedom, 0.95) ** 2 * 1.02
    assert rises[2] > 1.2 * WORSE
    assert rises[200] < 1.02 * WORSE
    exact = with_discrepancy(data_of(2, 0.03), assumed_discrepancy(), [0.0] * 2, 0.0)
    assert student_rises(exact, np.full((2, 1), 3.0), assumed_discrepancy(), 0.9) == pytest.approx([WORSE], rel=1e-3)


def test_what_one_regime_misses_does_not_blur_another() -> None:
    data = replace(data_of(40, 0.03), regimes=("disk",) * 20 + ("cpu",) * 20)
    residuals = np.where(np.arange(40) < 20, 0.3, 0.03) * np.where(np.arange(40) % 2, 1.0, -1.0)
    found = estimated_discrepancy(data, residuals, np.zeros((40, 1)))
    disk, cpu = (found.scatter_of(FigureKind.RATE, regime).scale for regime in ("disk", "cpu"))
    assert disk > 2.0 > found.scatter_of(FigureKind.RATE).scale > 1.5 * cpu
    assert found.scatter_of(FigureKind.RATE, "locks") == found.scatter_of(FigureKind.RATE)


def test_where_all_runs_are_of_one_regime_it_is_the_kinds() -> None:
    data = replace(data_of(6, 0.03), regimes=("disk",) * 6)
    found = estimated_discrepancy(data, np.full(6, 0.2), np.zeros((6, 1)))
    assert found.scatter_of(FigureKind.RATE, "disk") == found.scatter_of(FigureKind.RATE)


def test_what_is_shared_counts_as_the_fewer_figures_that_it_is() -> None:
    """Ten figures that are missed alike say as much of the discrepancy's size as one."""
    alone = data_of(10, 0.01)
    shared = replace(alone, shared=np.full((10, 10), 1.0 - 1e-6) + 1e-6 * np.eye(10))
    residuals, no = np.full(10, 0.2), np.zeros((10, 1))
    assert estimated_discrepancy(alone, residuals, no).scatter_of(FigureKind.RATE).freedom == pytest.approx(
        13.0, abs=0.3
    )
    assert estimated_discrepancy(shared, residuals, no).scatter_of(FigureKind.RATE).freedom == pytest.approx(
        4.0, abs=0.1
    )
