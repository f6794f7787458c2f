"""Devices as iostat shows them: the share of time with a request there (%util), and that time per request (svctm)."""

import dataclasses
import math

import pytest

from oltpsim.simulator import analytic
from oltpsim.simulator.form import FlashDevice, Pool, System
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import DeviceResult, read_result, result_json
from tests.simulator.kernel.test_engine import TIED, with_writer
from tests.simulator.system_models import model_of_system
from tests.simulator.twins import differences, shortened

MS, SECOND = 1_000_000, 1_000_000_000


def reading(clients: int, parallel: int, per_s: float = 0.0, seconds: int = 20, write: int = 0) -> System:
    """Clients, or arrivals by chance, that read (or change) pages of 1 ms which no cache holds, one each."""
    how = "popular" if write else "row"
    system = dataclasses.replace(
        TIED, think=None if per_s else ("constant", 0, 0), arrivals_per_s=per_s, hot_pages=50_000, groups=1,
        fanout=20 if write else 0, classes=((1, (("cpu", 1, 0, 0), ("touch", how, write, 0))),), clients=clients,
        cores=16, pool=Pool(200, "lru", 200), daemons=with_writer(200), requests_per_device=500, direct_io=bool(write),
        devices=(FlashDevice("disk 1", MS, MS, parallel),),
    )  # fmt: skip
    return shortened(model_of_system(system), seconds * SECOND)


def disk(model: System) -> DeviceResult:
    return simulate(model, 1).devices[0]


@pytest.mark.parametrize("per_s", [300.0, 1500.0])
def test_requests_that_overlap_occupy_a_device_by_an_exponential_law(per_s: float) -> None:
    """Without queueing (M/G/infinity) the device is empty for exp(-a) of the time, a = rate x service."""
    found = disk(reading(100, 100, per_s))
    load = found.reads_per_s * 1e-3
    assert found.occupied_fraction == pytest.approx(1 - math.exp(-load), rel=0.01)
    assert found.occupied_per_request_s == pytest.approx(found.occupied_fraction / found.reads_per_s)
    assert found.utilisation == pytest.approx(load / 100, rel=1e-3), "which is not what iostat shows"
    assert found.mean_service_s == pytest.approx(1e-3)


def test_one_at_a_time_a_device_is_occupied_while_it_serves() -> None:
    """Its svctm is then its service time; the twin with room for two is not so."""
    one = disk(reading(100, 1, 700.0))
    assert one.occupied_fraction == pytest.approx(one.utilisation)
    assert one.occupied_per_request_s == pytest.approx(1e-3, rel=1e-3)
    two = disk(reading(100, 2, 700.0))
    assert two.occupied_per_request_s < 0.8e-3


def test_both_engines_count_alike_and_files_without_the_figures_are_read() -> None:
    assert differences(reading(5, 2, seconds=2), 1) == []
    result = simulate(reading(5, 2, seconds=2), 1)
    assert read_result(result_json(result)) == result
    old = result_json(
        dataclasses.replace(result, devices=[dataclasses.replace(result.devices[0], occupied_fraction=0.0)])
    )
    assert "occupied_fraction" not in old
    assert read_result(old).devices[0].occupied_fraction == 0.0


@pytest.mark.parametrize(("clients", "parallel", "per_s"), [(1, 4, 0.0), (100, 100, 700.0), (100, 1, 300.0)])
def test_the_analytic_engine_says_about_the_same(clients: int, parallel: int, per_s: float) -> None:
    model = reading(clients, parallel, per_s, write=1)
    found, counted = analytic.simulate(model, 1).devices[0], disk(model)
    assert found.occupied_fraction == pytest.approx(counted.occupied_fraction, rel=0.05)
    assert found.occupied_per_request_s == pytest.approx(counted.occupied_per_request_s, rel=0.05)
