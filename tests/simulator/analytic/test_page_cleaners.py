"""Page cleaners in mean values: pages by age and at the list's end, a log that is full, and the kernel's figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.page_cleaner_systems import page_cleaner_system
from oltpsim.models.reading import load_scenario, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.run import SimulationTask, simulate
from oltpsim.simulator.analytic import Solution, parameters_of, rates, read_workload
from oltpsim.simulator.analytic.equations.solution import at_rate
from oltpsim.simulator.analytic.reading.page_writes import SHARES, cleaner_marks_of
from oltpsim.simulator.form import ENDLESS_PAGES, FloatArray
from oltpsim.simulator.results import Result
from tests.simulator.analytic.columns import with_columns
from tests.simulator.analytic.test_writes import NEVER, groups_of, one, usual
from tests.simulator.daemons import page_cleaner

PAGES, RATE, PER_S = 1000.0, 1e-3, 10.0
"""of pages that are all alike, references to each of them in a transaction, which all change it; transactions"""
REDO = 1e7
"""bytes of log since the first change that are a whole age"""
FILE = library_files()["innodb/hammerdb-80-users"]
SMALL = {"database.pool.buffers": 983_040, "machine.disks.disk.flush_us": 500.0}
AT_ONCE = 1e9
"""pages per second that nothing holds up"""


def log_bytes() -> float:
    workload, _ = usual()
    return float(workload.log_bytes @ workload.mix)


def cleaned(by_age: FloatArray, by_number: FloatArray | None = None, **changed: float) -> Solution:
    """A pool that holds all pages, by direct I/O, and a cleaner that writes what the tables ask for."""
    workload, p = usual()
    groups = groups_of(np.array([RATE]), np.array([PAGES]))
    figures = {
        "pool_buffers": 2.0 * PAGES,
        "writing_direct": 1.0,
        "cleaners_number": 1.0,
        "cleaners_tail_pages": 0.0,
        "cleaners_redo_bytes": REDO,
    }
    figures |= {"cleaners_round_s": 0.1, "cleaners_tail_round_s": 0.01, "cleaners_tail_evictions": 1e15}
    figures |= {
        "cleaners_redo_sync_bytes": 10.0 * REDO,
        "cleaners_redo_full_bytes": 20.0 * REDO,
        "cpu_page_write_s": 0.0,
    } | changed
    p = with_columns(p, **{name: one(value) for name, value in figures.items()})
    by_number = np.zeros(len(SHARES)) if by_number is None else by_number
    asked = {"cleaners_aged_per_s": by_age[None], "cleaners_dirty_per_s": by_number[None]}
    p = with_columns(p, pool_resident=p.pool.buffers, **asked)
    return at_rate(replace(workload, groups=groups), p, "lru", one(PER_S))


def from_share(share: float) -> FloatArray:
    """Nothing below a share, everything from there on."""
    return np.where(share <= SHARES, AT_ONCE, 0.0)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_page_is_written_so_long_after_its_first_change(share: float) -> None:
    """It is clean until the next change then: a renewal every 1 / RATE and that time."""
    stays = (share - SHARES[1]) * REDO / log_bytes()  # the table rises from the point before
    found = cleaned(from_share(share))
    assert found.writes.pages[0] == pytest.approx(PAGES * RATE / (1.0 + RATE * stays), rel=0.1)
    assert found.pool.dirty[0] == pytest.approx(PAGES * RATE * stays / (1.0 + RATE * stays), rel=0.1)
    assert cleaned(from_share(share), cleaners_redo_bytes=3.0 * REDO).writes.pages[0] < 0.6 * found.writes.pages[0]


def test_each_file_of_a_batch_costs_a_flush() -> None:
    """Of pages in equal parts of n files a batch finds nearly n; a drive that flushes alone is closed so often."""
    model = build(with_values(load_scenario_file(library_files()["innodb/tpcc-mysql-sm863"]), SMALL))
    workload = read_workload(model)
    assert workload.files[:, 1].max() == 1.0, "no table has more than one"
    all_regions = np.ones((len(workload.files), 1))

    def rate(files: FloatArray) -> float:
        return float(rates(replace(workload, files=files), parameters_of(model, workload), "lru")[0])

    one_file, nine_files = (rate(all_regions * [0.0, number]) for number in (1.0, 9.0))
    assert nine_files < 0.95 * one_file
    assert nine_files < rate(workload.files) < one_file, "of its nine tables' not each has a page in each batch"


def test_as_many_are_written_as_the_rules_ask_for() -> None:
    """A third of those that nothing would hold up, be it by age or by the number of dirty ones."""
    wanted = PAGES * RATE / 3.0
    asked = np.full(len(SHARES), wanted * PER_S)
    for found in (cleaned(asked), cleaned(np.zeros(len(SHARES)), asked)):
        assert found.writes.pages[0] == pytest.approx(wanted, rel=1e-3)
        assert found.pool.dirty[0] == pytest.approx(PAGES * 2.0 / 3.0, rel=1e-3)


def test_pages_at_the_end_of_the_list_are_written_too() -> None:
    """Nobody asks for any, and half the pages fit: each that leaves has been changed, and no client writes one."""
    found = cleaned(np.zeros(len(SHARES)), pool_buffers=PAGES / 2.0, cleaners_tail_pages=10.0)
    brought = PAGES * RATE / 2.0
    assert found.writes.pages[0] == pytest.approx(brought, rel=0.05)
    assert found.pool.dirty_victims[0] == 0.0
    alone = cleaned(np.zeros(len(SHARES)), pool_buffers=PAGES / 2.0, cleaners_tail_pages=10.0, cpu_page_write_s=1.0)
    assert alone.pool.dirty_victims[0] > 0.5 * brought


@pytest.mark.parametrize(("redo_bytes", "waits"), [(1e4, True), (1e8, False)])
def test_commits_wait_for_room_in_a_log_that_fills_within_a_round(redo_bytes: float, waits: bool) -> None:
    found = cleaned(
        np.zeros(len(SHARES)),
        cleaners_redo_bytes=redo_bytes,
        cleaners_redo_sync_bytes=1.1 * redo_bytes,
        cleaners_redo_full_bytes=1.15 * redo_bytes,
    )
    assert (found.log.full[0] > 1.0) == waits
    assert (found.population[0] > 1.0) == waits


def test_other_writers_know_no_age() -> None:
    found = cleaned(
        from_share(0.1), cleaners_number=0.0, pool_dirty_high=NEVER, pool_dirty_low=NEVER, checkpoints_interval_s=NEVER
    )
    assert found.writes.pages[0] < 1e-3
    assert found.log.full[0] == 0.0


def results(scenario: ScenarioSpec) -> tuple[Result, Result]:
    """By the kernel and by the formulas."""
    return tuple(  # type: ignore[return-value]
        simulate(SimulationTask(scenario.model_copy(update={"engine": engine}), 1)) for engine in ("kernel", "analytic")
    )


@pytest.mark.parametrize("number", [4, 12, 33])
def test_figures_are_the_kernels(number: int) -> None:
    kernel, analytic = results(page_cleaner_system(number)[1])
    assert analytic.rate_per_min.mean == pytest.approx(kernel.rate_per_min.mean, rel=0.1)
    ours, theirs = (each.devices[0].writes_per_s / each.transactions_per_s for each in (analytic, kernel))
    assert ours == pytest.approx(theirs, rel=0.25)


def test_marks_are_those_of_the_daemons() -> None:
    """MariaDB's, woken by half of its free pages, and a cleaner of ages and the list's end in one, by hand."""
    plain, mariadb = (
        cleaner_marks_of(build(load_scenario(FILE, [f"database={{base: {name}, pool: {{buffers: 100000}}}}"])))
        for name in ("mysql-8-4", "mariadb-10-11")
    )
    assert (plain.tail_round_ns, plain.round_ns, plain.tail_evictions) == (10_000_000, 100_000_000, ENDLESS_PAGES)
    assert (mariadb.tail_round_ns, mariadb.round_ns, mariadb.tail_evictions) == (10**9, 10**9, 768)
    system = build(load_scenario(FILE, []))
    both = replace(system, daemons=(page_cleaner(7, 5, 1000, evictions=3),))
    assert cleaner_marks_of(both) == (5, 1000, 7, 7, 3)


def test_what_the_fit_has_not_seen_is_said_and_the_rest_is_in_the_interval() -> None:
    """Neighbours that go along and long rounds; doublewrite on an SSD without power-loss protection."""
    _, scenario = page_cleaner_system(4)

    def solved(disk: str, **cleaner: object) -> Result:
        database = scenario.database.model_copy(
            update={"page_cleaner": scenario.database.page_cleaner.model_copy(update=cleaner)}  # type: ignore[union-attr]
        )
        changed = scenario.model_copy(update={"database": database, "engine": "analytic"})
        build(changed)
        return simulate(SimulationTask(with_disk(changed, disk), 1))

    def warned(disk: str, **cleaner: object) -> str:
        return " ".join(solved(disk, **cleaner).warnings)

    usual = solved("intel-dc-p4510-2000", doublewrite=True)
    assert not any("not fitted" in line for line in usual.warnings)
    assert "1 s between rounds of page cleaners (fitted: 0 to 0.1)" in warned("intel-dc-p4510-2000", round_s=1.0)
    assert "neighbours" in warned("intel-dc-p4510-2000", neighbour_pages=8)
    volatile = solved("samsung-860-pro", doublewrite=True)
    assert volatile.rate_per_min.log_half_width > usual.rate_per_min.log_half_width


def with_disk(scenario: ScenarioSpec, name: str) -> ScenarioSpec:
    """The scenario on one disk of the catalogue."""
    return with_values(scenario, {"machine.disks.disk": name})


@pytest.mark.parametrize("per_s", [1_000, 3_000, 10_000])
def test_at_a_step_of_the_population_all_clients_wait(per_s: int) -> None:
    """Page cleaners on a volume with a cap hold clients up all at once; before, a third to nine tenths were nowhere."""
    settings = (f"machine.disks.disk=io1 1000 GB {per_s} IOPS", "workload.warehouses=3000", "engine=analytic")
    scenario = load_scenario_file(library_files()["innodb/tpcc-mysql-sm863"], settings)
    result = simulate(SimulationTask(scenario, 1))
    ended = sum(one.completed for one in result.classes)
    mean_s = sum(one.mean_s * one.completed for one in result.classes) / ended
    assert result.transactions_per_s * mean_s == pytest.approx(56, rel=0.01)
    assert all(law.holds for law in result.laws)


@pytest.mark.parametrize("size", ["", "-pool-25", "-pool-70"])
@pytest.mark.parametrize("in_flight_pages", [8, 2048])
def test_by_buffered_io_rates_and_reads_are_the_kernels(size: str, in_flight_pages: int) -> None:
    """Within 20 %, as by direct I/O, and reads within a seventh of the pool's misses.

    The negative twin: by direct I/O each miss is a read.
    """
    room = {"operating_system.page_cache.in_flight_pages": in_flight_pages}
    scenario = with_values(load_scenario_file(library_files()[f"laboratory/mariadb-buffered{size}"]), room)
    kernel, formulas = (
        simulate(SimulationTask(scenario.model_copy(update={"engine": engine}), 1)) for engine in ("kernel", "analytic")
    )
    assert formulas.transactions_per_s == pytest.approx(kernel.transactions_per_s, rel=0.2)
    assert formulas.caches[1].hit_ratio == pytest.approx(kernel.caches[1].hit_ratio, abs=1.0 / 7.0)
    assert any("page cleaners with buffered I/O" in line for line in formulas.warnings)
    past_it = with_values(scenario, {"database.io": "direct", "engine": "analytic"})
    direct = simulate(SimulationTask(past_it, 1))
    assert direct.caches[1].hits == 0


def test_a_wait_for_a_free_page_is_no_pending_read() -> None:
    """Little's law of reads was broken by it, so that models with such a wait were not to be used."""
    settings = ("machine.memory_gib=40", "database.pool.buffers=655360")
    without, with_wait = (
        simulate(
            SimulationTask(
                load_scenario_file(
                    FILE, (*settings, f"database.page_cleaner.free_page_wait_us={us}", "engine=analytic")
                ),
                1,
            )
        )
        for us in (0, 5000)
    )
    assert all(law.holds is not False for result in (without, with_wait) for law in result.laws)
    reads_s = sum(each.completed * each.time_by_s["disk read"] for each in with_wait.classes)
    seconds = sum(each.completed for each in with_wait.classes) / with_wait.transactions_per_s
    assert reads_s / seconds > 1.5 * with_wait.reads_pending, "the class times have the wait"
