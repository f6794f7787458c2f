"""Fixed work without simulating it: against the kernel, and what follows from its parts."""

from __future__ import annotations

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.form import System
from tests.simulator.tpcc_systems import TINY

IN_MEMORY = (
    "machine.memory_gib=8", "workload.warehouses=20", "database.pool.buffers=200000", "machine.disks.count=4",
    "database.critical_section.share_of_path=0.01", "interval.warm_up_s=0", "interval.duration_s=null",
)  # fmt: skip


def model_of(new_orders: int, clients: int, *settings: str) -> System:
    work = (f"interval.new_orders_per_client={new_orders}", f"workload.arrivals.clients={clients}")
    return build(load_scenario(TINY, [*IN_MEMORY, *work, *settings]))


@pytest.mark.parametrize(
    ("new_orders", "clients", "settings"),
    [
        (1000, 1, ("machine.cpu.cores=4",)),
        (1000, 20, ("machine.cpu.cores=2",)),
        (1000, 20, ("machine.cpu.cores=8",)),
        (1000, 20, ("machine.cpu.cores=4", "workload.arrivals.think_time_s=0.01")),
        (500, 8, ("machine.cpu.cores=4", "machine.cpu.threads_per_core=2")),
        (500, 8, ("machine.cpu.cores=8", "machine.cpu.memory_bus_share=0.15")),
    ],
)
def test_it_lasts_as_long_as_in_the_kernel(new_orders: int, clients: int, settings: tuple[str, ...]) -> None:
    model = model_of(new_orders, clients, *settings)
    result = analytic.simulate(model, 1)
    assert result.duration_s == pytest.approx(kernel.simulate(model, 1).duration_s, rel=0.05)
    assert result.broken_laws == []
    assert result.classes[0].completed == new_orders * clients
    assert result.rate_per_min.mean == pytest.approx(new_orders * clients / result.duration_s * 60, rel=1e-6)


def test_the_last_client_takes_longer_than_the_mean_the_less_the_more_work_there_is() -> None:
    """A lone client has nobody to wait for; with think time nobody gets faster when others stop."""

    def beyond(new_orders: int, clients: int, *settings: str) -> float:
        result = analytic.simulate(model_of(new_orders, clients, "machine.cpu.cores=32", *settings), 1)
        return result.steady_rate_per_min.mean / result.rate_per_min.mean - 1.0

    assert beyond(100, 1) == pytest.approx(0.0, abs=2e-7)  # what the search for the rate leaves
    few, many = beyond(100, 20), beyond(10_000, 20)
    assert few / many == pytest.approx(10.0, rel=0.2)
    assert few > beyond(100, 4) > 0.0
    crowded = analytic.simulate(model_of(100, 20, "machine.cpu.cores=2"), 1)
    assert crowded.steady_rate_per_min.mean / crowded.rate_per_min.mean - 1.0 < few / 2


@pytest.mark.parametrize("start", ["cold", "after_load"])
def test_a_machine_that_gets_warm_takes_longer(start: str) -> None:
    warm = analytic.simulate(model_of(500, 8), 1)
    slower = analytic.simulate(model_of(500, 8, f"interval.start={start}"), 1)
    assert slower.duration_s > warm.duration_s
    assert slower.series.step_s * len(slower.series.values["transactions_per_s"]) == pytest.approx(slower.duration_s)
