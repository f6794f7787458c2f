"""The state that a run starts from: what a load leaves, and what a warm machine would have."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.build import build
from models.reading import load_scenario
from simulator import kernel
from simulator.form import System
from simulator.kernel import KernelEngine
from simulator.results import Result
from tests.simulator.twins import column_of

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"


def model_with(*overrides: str) -> System:
    return build(load_scenario(TINY, overrides))


def started(model: System) -> KernelEngine:
    """An engine that has not run."""
    return KernelEngine(model, 1)


def held(engine: KernelEngine, tier: str) -> set[int]:
    """The pages in a tier."""
    return set(column_of(engine, f"{tier}_slots", "page").tolist()) - {-1}


def dirty(engine: KernelEngine) -> list[int]:
    """Dirty pages of both tiers."""
    return column_of(engine, "caches", "dirty_pages").tolist()


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
    """The first two minutes have the reads and writes of two minutes an hour later; those of a cold start have not."""

    def per_transaction(result: Result) -> tuple[float, float]:
        device = result.devices[0]
        return device.reads_per_s / result.transactions_per_s, device.writes_per_s / result.transactions_per_s

    def run(start: str, warm_up_s: int) -> tuple[float, float]:
        size = ("database.pool.buffers=9000", "workload.warehouses=8", "workload.arrivals.clients=16")
        interval = (f"interval.start={start}", f"interval.warm_up_s={warm_up_s}", "interval.duration_s=120")
        disks = "machine.disks={disk: nvme, count: 1}"
        return per_transaction(kernel.simulate(model_with(*size, *interval, disks), 1))

    later = run("warm", 1200)
    assert run("warm", 60) == pytest.approx(later, rel=0.03, abs=0.01)
    assert run("cold", 60) != pytest.approx(later, rel=0.03, abs=0.01)


def test_lookups_in_the_page_cache_are_misses_of_the_pool_less_pages_that_are_new() -> None:
    result = kernel.simulate(model_with(), 1)
    pool, cache = result.caches
    created = sum(table.created for table in result.tables)
    assert created > 0
    assert cache.references == pool.references - pool.hits - created
    assert cache.references == sum(table.page_cache_hits + table.disk_reads for table in result.tables)
