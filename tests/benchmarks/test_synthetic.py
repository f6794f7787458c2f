"""Systems of known truth: one number, one system; their records are sound, and planted mistakes are found."""

import math

import pytest

from benchmarks.synthetic_plants import PLANTS, broken, caught
from benchmarks.synthetic_systems import FITTED, HELD_OUT, record, run, system
from oltpsim.calibration.fit import FigureKind, simulated_figures
from oltpsim.models.wiring import build
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import Result


@pytest.fixture(scope="module")
def result() -> Result:
    """One run of system 3, which is bound by two disks."""
    one = system(3)
    return simulate(build(one.scenario(one.sizes[1], true=True)), 1)


def test_a_system_is_drawn_once_and_for_all() -> None:
    assert system(5) == system(5)
    assert system(5).truth != system(6).truth
    assert len(system(5).sizes) == FITTED + HELD_OUT


def test_the_truth_is_drawn_from_the_priors() -> None:
    places = [each.place(one.truth[each.key]) for one in map(system, range(40)) for each in one.parameters]
    assert abs(sum(places) / len(places)) < 0.25
    assert math.sqrt(sum(place**2 for place in places) / len(places)) == pytest.approx(1.0, abs=0.15)


def test_what_its_owner_believes_differs_from_what_it_is() -> None:
    one = system(3)
    believed, real = (one.scenario(one.sizes[0], true=true) for true in (False, True))
    assert believed.database.pool == real.database.pool
    assert believed.database.path != real.database.path


def test_a_record_without_noise_has_the_simulations_figures(result: Result) -> None:
    one = system(3)
    true = simulated_figures(result)
    found = record(one, 1, result, noise=False)
    assert found.outcome.new_orders_per_minute is not None
    assert found.outcome.new_orders_per_minute.value == true[FigureKind.RATE] == result.rate_per_min.mean
    assert found.resources.cpu_user_fraction is not None
    assert found.resources.cpu_user_fraction.value == result.cpu.user
    assert true[FigureKind.READS] == pytest.approx(
        sum(each.reads_per_s for each in result.devices) / result.transactions_per_s
    )
    clients = one.scenario(one.sizes[1], true=True).workload.arrivals.clients  # type: ignore[union-attr]
    # direct: all that the pool lacks, but for what is on its way to a client at the interval's ends
    on_the_way = clients / (result.transactions_per_s * result.duration_s)
    assert true[FigureKind.READS] == pytest.approx(true[FigureKind.MISSES], abs=on_the_way)


def test_a_fit_compares_the_records_figures(result: Result) -> None:
    one = system(3)
    true = simulated_figures(result)
    observed = {each.kind: each.value for each in run(one, 1, result).observations}
    assert {FigureKind.RATE, FigureKind.CPU, FigureKind.READS, FigureKind.WRITES, FigureKind.MISSES} <= set(observed)
    for kind in (FigureKind.RATE, FigureKind.READS, FigureKind.MISSES):
        assert observed[kind] == pytest.approx(true[kind], rel=0.2)
        assert observed[kind] != true[kind]


def test_a_sound_record_breaks_no_law(result: Result) -> None:
    assert broken(record(system(3), 1, result)) == []


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_mistake_is_found(result: Result, name: str) -> None:
    assert caught(record(system(3), 1, result), PLANTS[name]) is True
