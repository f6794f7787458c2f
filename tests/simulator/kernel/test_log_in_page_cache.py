"""The log's files in the page cache: what is logged pushes data out, as far as the files go round."""

from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files
from oltpsim.simulator import analytic, kernel, reference
from oltpsim.simulator.form import Assembler, System, from_s
from oltpsim.simulator.results import Result, result_json
from tests.simulator.conftest import make_model

ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
PAGE_BYTES, TURNS, PAGES = 8192, 12, 3
SHORT = (
    "workload.warehouses=2", "database.pool.buffers=2000", "machine.memory_gib=0.2", "machine.disks.count=4",
    "interval={start: after_prewarm, lead_in: {transactions: 2000}, warm_up_s: 2, duration_s: 10}",
)  # fmt: skip


def reading_in_turn(cache_pages: int, log_pages: int, bytes_per_transaction: int) -> System:
    """A client that reads page 0, 1, 2 and 0 again, one a second, by a pool of two buffers, and logs each time."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", from_s(1.0)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("work")
    zero, row = asm.register("zero"), asm.register("row")
    region = asm.region("table", 1, PAGES, 1)
    asm.emit("take", row, asm.counter("turn", 1, 0), zero, 1)
    asm.emit("touch", asm.reference("page", "row", region, zero, row=row), 0, 1_000_000)
    asm.emit("log", bytes_per_transaction)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, pool_pages=2, cache_pages=cache_pages, durable=True, duration_s=TURNS + 0.9)
    cache = replace(model.page_cache, log_pages=log_pages, log_page_bytes=PAGE_BYTES)
    return replace(model, page_cache=cache)


def reads(result: Result) -> int:
    return sum(table.disk_reads for table in result.tables)


@ENGINES
@pytest.mark.parametrize(
    ("cache_pages", "log_pages", "bytes_per_transaction", "expected"),
    [
        (3, 0, PAGE_BYTES, PAGES),  # the log goes past the page cache
        (5, 100, PAGE_BYTES, TURNS),  # two other pages and three of the log since a page's last use: one too many
        (6, 100, PAGE_BYTES, PAGES),
        (5, 2, PAGE_BYTES, PAGES),  # files of two pages, used round and round
        (5, 100, PAGE_BYTES // 2, PAGES),  # two transactions to a page of the log
    ],
)
def test_a_page_is_read_again_if_the_log_has_pushed_it_out(
    engine: ModuleType, cache_pages: int, log_pages: int, bytes_per_transaction: int, expected: int
) -> None:
    result = engine.simulate(reading_in_turn(cache_pages, log_pages, bytes_per_transaction), 1)
    assert reads(result) == expected


def hit_ratio(result: Result) -> float:
    """Share of the pool's misses that the page cache answers."""
    hits = sum(table.page_cache_hits for table in result.tables)
    return hits / (hits + reads(result))


def laboratory(in_page_cache: bool, *others: str) -> System:
    settings = [*SHORT, f"database.log.in_page_cache={str(in_page_cache).lower()}", *others]
    return build(load_scenario(library_files()["laboratory/postgresql"], settings))


@pytest.mark.uncounted
def test_the_reference_says_the_same_of_a_whole_database() -> None:
    system = laboratory(in_page_cache=True)
    compiled = replace(kernel.simulate(system, 1), engine="reference")
    assert result_json(compiled) == result_json(reference.simulate(system, 1))


def test_formulas_follow() -> None:
    """Share of the pool's misses that the page cache answers, with the log in it and past it.

    In a page cache of one list: of Linux's two the log pushes out hardly a page that was read twice.
    """
    found = {}
    for in_page_cache in (True, False):
        system = laboratory(in_page_cache, "operating_system.reclaim=null")
        found[in_page_cache] = [hit_ratio(engine.simulate(system, 1)) for engine in (kernel, analytic)]
    for simulated, calculated in found.values():
        assert calculated == pytest.approx(simulated, abs=0.12)
    assert found[False][0] > found[True][0] + 0.03
    assert found[False][1] > found[True][1] + 0.02
