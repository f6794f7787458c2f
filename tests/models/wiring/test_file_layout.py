"""Tables on partitions of their own against pages on all partitions in turn: what it does to the disks."""

import pytest

from oltpsim.models.reading import with_values
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.analytic import engine as analytic
from oltpsim.simulator.errors import Infeasible
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import Result
from tests.models.machine.test_partitions import ARRAY, tiny

SETTINGS = (
    *ARRAY, "machine.disks.count=20", "machine.disks.sets=10", "workload.warehouses=4",
    "workload.arrivals.clients=150", "machine.cpu.cores=16", "database.requests_per_file=150",
    "machine.disks.disk.parallel_requests=1", "interval.duration_s=8",
)  # fmt: skip


def result(layout: str) -> Result:
    return simulate(build(tiny(*SETTINGS, f"database.file_layout={layout}")), 1)


def test_by_table_a_few_partitions_have_most_of_the_work() -> None:
    """In turn all are about as busy; by table some are next to idle and the longest queue is ten times the median's."""
    even, uneven = result("round_robin"), result("by_table")
    assert not uneven.broken_laws

    def spread(of: Result) -> tuple[float, float, float]:
        occupied = sorted(device.occupied_fraction for device in of.devices[:10])
        queues = sorted(device.mean_queue for device in of.devices[:10])
        return occupied[0], occupied[-1], queues[-1] / queues[5]

    least, most, ratio = spread(even)
    assert least > 0.8 * most
    assert ratio < 2
    least, most, ratio = spread(uneven)
    assert least < 0.1
    assert most > 0.9
    assert ratio > 10
    assert uneven.rate_per_min.mean < 0.85 * even.rate_per_min.mean


def test_a_table_and_its_indexes_are_one_file() -> None:
    """What InnoDB flushes behind a batch, where flushes take time; none for a drive that Linux sends no flush."""
    files = library_files()
    with_flushes = build(load_scenario_file(files["innodb/tpcc-mysql-sm863"]))
    tables = ["warehouse", "district", "item", "stock", "customer", "orders", "new order", "order line", "history"]
    names, regions = with_flushes.program.region_names, with_flushes.program.regions
    begins = [min(row[0] for name, row in zip(names, regions.tolist(), strict=True) if name.startswith(table))
              for table in tables]  # fmt: skip
    assert with_flushes.writing.files == tuple(zip(begins, range(len(tables)), strict=True))
    assert build(load_scenario_file(files["innodb/tpcc-mysql-pm1725"])).writing.files == ()
    sysbench = build(load_scenario_file(files["sysbench/read-write-2-gib"]))
    assert [number for _, number in sysbench.writing.files] == [*range(20), *range(20)], (
        "twenty tables, then their indexes, which are of the tables' files"
    )


def test_the_default_is_as_before_and_the_analytic_engine_has_doubts() -> None:
    plain, named = tiny(*SETTINGS), tiny(*SETTINGS, "database.file_layout=round_robin")
    assert build(plain).digest() == build(named).digest()
    found = analytic.simulate(build(tiny(*SETTINGS, "database.file_layout=by_table")), 1)
    assert any("each table on disks of its own" in warning for warning in found.warnings)


def test_the_fullest_partition_must_have_room() -> None:
    """A device that has the end of one table and others behind it holds more than an even share."""
    room = (*SETTINGS, "machine.disks.disk.capacity_gib=0.522")
    tiny(*room)
    with pytest.raises(Infeasible, match="GiB of data with room to grow"):
        tiny(*room, "database.file_layout=by_table")


@pytest.mark.parametrize("disk", ["sata-ssd", "sas-10k"])
def test_pages_written_twice_to_raid_sets(disk: str) -> None:
    """Files where the set's disks need flushes, none on arms, whose writes are durable at once."""
    scenario = load_scenario_file(library_files()["innodb/tpcc-mysql-sm863"])
    disks = {"machine.disks.count": 6, "machine.disks.level": "raid10"}
    if disk == "sata-ssd":
        assert len(build(with_values(scenario, disks)).writing.files) == 9
        return
    assert build(with_values(scenario, disks | {"machine.disks.disk": disk})).writing.files == ()
