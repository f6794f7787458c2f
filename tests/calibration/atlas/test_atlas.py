"""The atlas: runs of one setup teach each other, strangers don't, and left-out runs lie where it says."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.calibration.atlas import (
    AtlasKernel,
    AtlasRun,
    assumed_facts,
    left_out,
    place_of,
    read_atlas_runs,
    shipped_atlas,
    write_atlas_runs,
)
from oltpsim.calibration.atlas.atlas import Atlas
from oltpsim.calibration.atlas.runs import NUMBERS, Place
from oltpsim.models.reading import read_description
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic

KERNEL = AtlasKernel()
SHARES = st.floats(0, 1)
PLACES = st.builds(
    Place,
    kinds=st.tuples(*[st.sampled_from("ab")] * 4),
    numbers=st.tuples(*[st.floats(-5, 5)] * (len(NUMBERS) - 2), SHARES, SHARES),
    storage_share=SHARES,
)


def place(kinds: str = "aaaa", clients: float = 0.0, storage_share: float = 0.0) -> Place:
    numbers = [clients, *[0.0] * (len(NUMBERS) - 3), 1.0 - storage_share, 0.0]
    return Place(tuple(kinds), tuple(numbers), storage_share)


def run(at: Place, missed: float, source: str = "s", assumed: frozenset[str] = frozenset()) -> AtlasRun:
    return AtlasRun(source, "a line", 1, 100.0 * math.exp(missed), 100.0, 0.05, assumed, at)


@given(st.lists(PLACES, min_size=2, max_size=8))
def test_covariances_are_those_of_something(places: list[Place]) -> None:
    between = KERNEL.between(places, places)
    assert np.allclose(between, between.T)
    assert np.linalg.eigvalsh(between)[0] >= -1e-9
    assert KERNEL.variance(places[0]) == pytest.approx(between[0, 0] + KERNEL.single**2)


def test_a_run_of_the_setup_moves_the_rate_and_narrows_it() -> None:
    found = Atlas((run(place(), -0.5),), KERNEL).adjustment(place())
    assert -0.5 < found.log < -0.3
    assert found.sd < 0.7 * found.prior_sd
    assert 0.5 < found.learned < 1
    assert found.nearest[0].correlation == pytest.approx(1)


def test_a_stranger_says_nothing() -> None:
    found = Atlas((run(place("bbbb"), -0.5),), KERNEL).adjustment(place())
    assert (found.log, found.learned, found.nearest) == (0.0, 0.0, ())
    assert found.sd == found.prior_sd


def test_runs_of_another_workload_teach_but_are_not_named() -> None:
    found = Atlas((run(place("abaa", storage_share=1.0), -0.5),), KERNEL).adjustment(place(storage_share=1.0))
    assert found.log < -0.1
    assert found.nearest == ()


def test_a_far_run_says_less_than_a_near_one() -> None:
    near, far = (Atlas((run(place(clients=at), -0.5),), KERNEL).adjustment(place()) for at in (0.3, 3.0))
    assert near.log < far.log < 0
    assert near.sd < far.sd


def test_storage_counts_as_far_as_it_takes_time() -> None:
    of_disk = run(place("bbba", storage_share=1.0), -0.5)
    idle, busy = (Atlas((of_disk,), KERNEL).adjustment(place(storage_share=share)) for share in (0.0, 1.0))
    assert (idle.log, busy.log < -0.2) == (0.0, True)


def test_the_kernel_s_difference_counts_as_far_as_runs_are_far() -> None:
    near = Atlas((run(place(), -0.5),), KERNEL).adjustment(place())
    stranger = Atlas((run(place("bbbb"), -0.5),), KERNEL).adjustment(place())
    assert stranger.log_rate(100.0, 120.0) == pytest.approx(math.log(120.0))
    assert near.log_rate(100.0, 120.0) - near.log_rate(100.0) == pytest.approx((1 - near.learned) * math.log(1.2))
    assert near.log_rate(100.0) == pytest.approx(math.log(100.0) + near.log)


def test_a_guess_counts_as_far_as_lines_of_machines_alike_said_the_fact() -> None:
    strangers = [run(place("bbbb"), 0.0)] * 5
    near, far = run(place(), 0.0, assumed=frozenset({"clients"})), run(place(clients=9), 0.0)
    found = Atlas((near, far, *strangers), KERNEL).assumption_sds(place(), {"clients": 0.5, "memory": 0.5, "pool": 0.0})
    assert found["memory"] == pytest.approx(0.5)
    assert 0.1 < found["clients"] < 0.5 / math.sqrt(2), "the near run counts more"
    assert "pool" not in found
    assert Atlas(tuple(strangers), KERNEL).assumption_sds(place(), {"clients": 0.5}) == {"clients": 0.5}


def test_left_out_runs_are_predicted_as_by_an_atlas_without_them() -> None:
    runs = shipped_atlas().runs[::9]
    kernel = shipped_atlas().kernel
    mean, sd = left_out(kernel, runs, [each.source for each in runs])
    one = runs[20]
    found = Atlas(tuple(each for each in runs if each.source != one.source), kernel).adjustment(one.place)
    assert mean[20] == pytest.approx(found.log, abs=1e-6)
    assert sd[20] ** 2 == pytest.approx(found.sd**2 + one.noise_sd**2, rel=1e-5)


def test_runs_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    write_atlas_runs(read_atlas_runs(), path)
    assert read_atlas_runs(path) == read_atlas_runs()


def errors(runs: list[AtlasRun], groups: list[str]) -> tuple[float, float, float]:
    """Median error of the formulas and of the atlas without a run's group, and its share inside 90 %."""
    mean, sd = left_out(shipped_atlas().kernel, runs, groups)
    missed = np.array([each.missed for each in runs])
    rest = np.abs(missed - mean)
    return float(np.median(np.abs(missed))), float(np.median(rest)), float(np.mean(rest < 1.645 * sd))


def test_shipped_runs_predict_each_other() -> None:
    runs = list(shipped_atlas().runs)
    lot = np.random.default_rng(5).integers(0, 5, len(runs)).astype(str).tolist()
    formulas, atlas, inside = errors(runs, lot)
    assert atlas < 0.6 * formulas
    assert 0.85 < inside < 0.97


def test_shuffled_errors_predict_nothing() -> None:
    runs = list(shipped_atlas().runs)
    order = np.random.default_rng(5).permutation(len(runs))
    shuffled = [
        replace(each, measured_per_min=each.calculated_per_min * math.exp(runs[k].missed))
        for each, k in zip(runs, order, strict=True)
    ]
    formulas, atlas, _ = errors(shuffled, [str(k % 5) for k in range(len(runs))])
    assert atlas > 0.8 * formulas


def test_a_line_s_place_and_facts() -> None:
    description = read_description("8 cores, 32 GB, NVMe, PostgreSQL 17, pgbench select only, scale 100, 16 clients")
    found = place_of(description.scenario, analytic.simulate(build(description.scenario), 1))
    assert found.kinds[:2] == ("clock", "pgbench, select only")
    assert found.numbers[0] == pytest.approx(math.log(16 / 8))
    assert found.processor_share > 0.5 > found.storage_share
    facts = assumed_facts(description)
    assert facts["machine.cpu.relative_speed"].startswith("processor's speed x")
    assert "workload.arrivals.clients" not in facts
