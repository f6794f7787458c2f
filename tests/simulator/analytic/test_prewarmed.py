"""Formulas of a server that has read its files, with all data in the pool: nothing but the log goes to the drive."""

import pytest

from oltpsim.models.reading import read_description
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel

LINE = "2 cores, 8 GB, NVMe, MySQL 8.0, {}, 8 clients, 5 s, 2 s warm-up"


@pytest.mark.parametrize("workload", ["sysbench-tpcc, 10 warehouses", "YCSB A, 1 million records"])
def test_a_drive_with_nothing_but_the_log_holds_nobody_up(workload: str) -> None:
    """Its requests pass the interface too; without them each took as long as if it were one in seconds."""
    system = build(read_description(LINE.format(workload), ["interval.start=after_prewarm"]).scenario)
    found, simulated = analytic.simulate(system, 1), kernel.simulate(system, 1)
    assert found.transactions_per_s == pytest.approx(simulated.transactions_per_s, rel=0.15)
