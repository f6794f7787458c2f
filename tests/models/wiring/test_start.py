"""The state that a run starts from: what a load leaves, and what a warm machine would have."""

from __future__ import annotations

from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import System
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.results import Result

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"


def model_with(*overrides: str) -> System:
    return build(load_scenario(TINY, overrides))


def started(model: System) -> KernelEngine:
    """An engine that has not run."""
    return KernelEngine(model, 1)


def held(engine: KernelEngine, tier: str) -> set[int]:
    """The pages in a tier."""
    return set(getattr(engine.kernel.state(), tier)[:, 0].tolist()) - {-1}


def dirty(engine: KernelEngine) -> list[int]:
    """Dirty pages of both tiers."""
    levels = engine.kernel.figures().levels
    return [levels.pool.dirty_pages, levels.page_cache.dirty_pages]


def test_a_load_leaves_every_page_in_the_page_cache_and_nothing_dirty() -> None:
    model = model_with("interval.start=after_load")
    engine = started(model)
    loaded = int(model.program.load_order[:, 3].sum())
    assert len(held(engine, "pool")) == model.pool.pages < loaded < model.page_cache.pages
    assert len(held(engine, "page_cache")) == loaded
    assert held(engine, "pool") < held(engine, "page_cache")
    assert dirty(engine) == [0, 0]


def test_a_load_by_direct_io_leaves_nothing_in_the_page_cache() -> None:
    engine = started(model_with("interval.start=after_load", "database.io=direct"))
    assert held(engine, "page_cache") == set()
    assert dirty(engine) == [0, 0]


@pytest.mark.parametrize("io", ["buffered", "direct"])
def test_warm_is_as_dirty_as_the_writer_leaves_it(io: str) -> None:
    model = model_with("interval.start=warm", f"database.io={io}")
    [(low_pages, _)] = next(daemon for daemon in model.daemons if "writer" in daemon.name).operands("write_dirty")
    assert dirty(started(model)) == [low_pages, 0]


def test_a_warm_start_needs_hardly_any_warm_up() -> None:
    """After three minutes, two have the reads and writes of two minutes later on; those of a cold start have not.

    Three, as the page cache starts without dirt: all that is written in the first half minute is written back at once.
    Writes rise by 4 % more in the next quarter of an hour (1.16 to 1.21 a transaction, seeds 1 to 3).
    """

    def per_transaction(result: Result) -> tuple[float, float]:
        device = result.devices[0]
        return device.reads_per_s / result.transactions_per_s, device.writes_per_s / result.transactions_per_s

    def run(start: str, warm_up_s: int) -> tuple[float, float]:
        size = ("database.pool.buffers=9000", "workload.warehouses=8", "workload.arrivals.clients=16")
        interval = (f"interval.start={start}", f"interval.warm_up_s={warm_up_s}", "interval.duration_s=120")
        disks = "machine.disks={disk: nvme, count: 1}"
        return per_transaction(kernel.simulate(model_with(*size, *interval, disks), 1))

    later = run("warm", 1200)
    assert run("warm", 180) == pytest.approx(later, rel=0.05, abs=0.01)
    assert run("cold", 180) != pytest.approx(later, rel=0.10, abs=0.01)


def test_lookups_in_the_page_cache_are_misses_of_the_pool_less_pages_that_are_new() -> None:
    result = kernel.simulate(model_with(), 1)
    pool, cache = result.caches
    created = sum(table.created for table in result.tables)
    assert created > 0
    assert cache.references == pool.references - pool.hits - created
    assert cache.references == sum(table.page_cache_hits + table.disk_reads for table in result.tables)


def pages_of(model: System, *tables: str) -> list[int]:
    """Loaded pages of tables, in the order in which a prewarm reads them."""
    program, names = model.program, model.program.region_names
    rows = [row for table in tables for row in program.load_order.tolist() if names[row[0]] == table]
    groups = [(int(program.regions[region, 0] + group * program.regions[region, 2]) + first, count)
              for region, group, first, count in rows]  # fmt: skip
    return [page for first, count in groups for page in range(first, first + count)]


def test_a_prewarm_leaves_what_it_read_last() -> None:
    """Of two tables, in the order in which they are named; as much as it reads, with what is above it in neither."""
    read = ("interval.start=after_prewarm", "interval.prewarm={tables: [stock, customer]}")
    model = model_with(*read)
    pages = pages_of(model, "stock", "customer")
    assert held(started(model), "page_cache") == set(pages)
    small = model_with(*read, "database.pool.buffers=500")
    assert held(started(small), "pool") == set(pages[-500:]) != set(pages_of(model, "customer", "stock")[-500:])
    first = model_with("interval.start=after_prewarm", "interval.prewarm={tables: [stock, customer], most_gib: 0.002}")
    assert held(started(first), "pool") == set(pages[:262])
    files = model_with("interval.start=after_prewarm", "interval.prewarm={tables: [stock], into: page_cache}")
    assert (held(started(files), "pool"), held(started(files), "page_cache")) == (set(), set(pages_of(files, "stock")))
    with pytest.raises(InputError, match="no table 'stok'; allowed: warehouse, district"):
        model_with("interval.start=after_prewarm", "interval.prewarm={tables: [stok]}")


def test_after_a_lead_in_the_most_recent_pages_are_there() -> None:
    """LRU by its definition: what N transactions refer to fills a pool that has room for it, beside the last loaded."""
    none, some, many = (
        started(model_with("interval.start=after_load", "database.pool.buffers=9000", *lead_in))
        for lead_in in ((), ("interval.lead_in={transactions: 20}",), ("interval.lead_in={transactions: 400}",))
    )
    left = [len(held(none, "pool") & held(each, "pool")) for each in (none, some, many)]
    assert left[0] == 9000 > left[1] > left[2]
    assert many.kernel.figures().counters.ended == 0
    assert many.counter("orders").sum() > none.counter("orders").sum()


def test_a_lead_in_leaves_dirt_as_old_as_it_lasted() -> None:
    """What it wrote longer ago than write-back's age is on disk; a lead-in of no transactions leaves nothing dirty."""
    words = ("interval.start=after_load", "database.pool.buffers=300", "operating_system.page_cache.dirty_expire_s=1 s")
    none, short, long, longer = (
        dirty(started(model_with(*words, *lead_in)))[1]
        for lead_in in ((), *((f"interval.lead_in={{duration_s: {length_s}}}",) for length_s in (0.5, 4, 8)))
    )
    assert none == 0 < short < 0.8 * long
    assert longer == pytest.approx(long, rel=0.1)


def test_a_lead_in_by_time_is_as_many_transactions_as_the_processors_do() -> None:
    """On a machine without waits both names of one lead-in are the same; with twice the cores it is twice as long."""
    by_time, by_time_on_two = (
        model_with("interval.lead_in={duration_s: 20}", f"machine.cpu.cores={cores}").interval for cores in (1, 2)
    )
    assert by_time_on_two.lead_in_transactions == pytest.approx(2 * by_time.lead_in_transactions, abs=1)
    by_number = model_with(f"interval.lead_in={{transactions: {by_time.lead_in_transactions}}}", "machine.cpu.cores=1")
    assert by_number.interval.lead_in_ns == pytest.approx(by_time.lead_in_ns, rel=0.001)
    clients = model_with("interval.lead_in={duration_s: 20, speed: clients}", "interval.warm_up_s=3").interval
    assert (clients.lead_in_transactions, clients.warm_up_ns) == (0, 23 * 10**9)


def test_a_lead_in_at_full_speed_does_what_transactions_do_that_are_not_counted() -> None:
    """Reads per transaction after it are those after as many simulated ones, and not those without."""
    size = ("workload.warehouses=8", "database.pool.buffers=9000", "machine.memory_gib=0.3", "machine.disks.disk=nvme")
    start, counted = "interval.start=after_load", "interval.duration_s=10"

    def reads(*interval: str) -> tuple[float, int]:
        engine = started(model_with(*size, start, counted, *interval))
        engine.run(None)
        result = engine.record.result()
        before = engine.kernel.figures().counters.ended - sum(each.completed for each in result.classes)
        return result.devices[0].reads_per_s / result.transactions_per_s, before

    slowly, done = reads("interval.warm_up_s=20")
    at_once, none = reads(f"interval.lead_in={{transactions: {done}}}", "interval.warm_up_s=0")
    assert none == 0
    assert done > 1000
    assert at_once == pytest.approx(slowly, rel=0.1)
    assert reads("interval.warm_up_s=0")[0] > 1.5 * slowly
