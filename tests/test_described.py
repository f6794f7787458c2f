"""Public measurements of described machines: every line has its answer, and the page is made of the answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from docs.build_described import (
    DESCRIBED,
    PAGE,
    REFUSED,
    Errors,
    Spelling,
    errors_of,
    measurements,
    read_refusals,
    sources,
    tables,
)
from oltpsim.calibration.atlas import AtlasKernel, AtlasRun, read_atlas_runs
from oltpsim.models.reading import read_description
from oltpsim.simulator.errors import InputError

REBUILD = "run docs/build_described.py"


@pytest.fixture(scope="module")
def runs() -> tuple[AtlasRun, ...]:
    return read_atlas_runs()


def test_each_measured_line_has_a_run_or_a_refusal(runs: tuple[AtlasRun, ...]) -> None:
    measured = {(each.file, len(each.rates_per_min), f"{each.rate_per_min:.5g}") for each in measurements()}
    answered = {(run.source, run.repeats, f"{run.measured_per_min:.5g}") for run in runs}
    assert answered <= measured, REBUILD
    refused = [each for each in read_refusals() if not each.answered]
    assert len(runs) + len(refused) == len(measurements()), REBUILD


def test_the_page_has_the_errors_of_the_runs(runs: tuple[AtlasRun, ...]) -> None:
    assert tables(runs, read_refusals(), AtlasKernel.read()) in PAGE.read_text(encoding="utf-8"), REBUILD


@pytest.mark.parametrize("file", sources())
def test_a_line_of_each_file_is_understood(file: str, runs: tuple[AtlasRun, ...]) -> None:
    first = next(run for run in runs if run.source == file)
    line, *settings = first.line.split("; ")
    assert read_description(line, settings).scenario


def test_a_refused_piece_is_spelt_otherwise_and_said() -> None:
    spelling = Spelling([("8 cores",), ("SDDD", "SSD"), ("redoes", "--set database.log.flush_overhead_us=5")])
    assert spelling.described().scenario.database.log.flush_overhead_us == 5
    assert (spelling.line, list(spelling.refused)) == ("8 cores, SSD", ["SDDD", "redoes"])


def test_a_line_without_another_spelling_is_refused() -> None:
    with pytest.raises(InputError, match="'HamerDB': not understood"):
        Spelling([("8 cores",), ("HamerDB",), ("SSD", "NVMe")]).described()


def test_errors_count_medians_and_what_lies_inside() -> None:
    errors = Errors(np.log([0.5, 2.0, 1.1]), np.array([0.1, 1.0, 0.1]))
    assert errors.median == pytest.approx(0.5)
    assert errors.inside == pytest.approx(2 / 3)
    assert errors.half_width == pytest.approx(math.exp(0.1 * 1.645), rel=1e-3)
    assert errors[np.array([False, True, False])].median == pytest.approx(1.0)


def test_the_atlas_beats_the_formulas_without_a_run_s_source(runs: tuple[AtlasRun, ...]) -> None:
    formulas, fifth, source = errors_of(runs, AtlasKernel.read())
    assert fifth.median < source.median < formulas.median


def test_measurements_are_data_of_the_folder() -> None:
    assert {path.name for path in DESCRIBED.glob("*.csv")} == {*sources(), REFUSED.name}
