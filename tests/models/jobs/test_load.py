"""Bulk load on the machine's parts: against arithmetic, against the same writes run by hand, and laws."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.jobs.load import MOST_PAGES, load_model, load_sample
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads.tpcc.tables import loaded_pages, loaded_rows
from oltpsim.simulator.form import System
from oltpsim.simulator.reference.device import WRITE
from oltpsim.simulator.reference.engine import THROTTLED_BATCH_PAGES
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import DataFiles, new_devices
from oltpsim.simulator.reference.write_back import neighbours
from tests.simulator.twins import differences

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
US = 1e-6
ROWS, ITEMS = 100_000 + 1 + 10 * (1 + 3_000 + 3_000 + 3_000 + 30_000 + 900), 100_000
"""of a warehouse: stock, itself, and of each district itself, customers, history, orders, lines, new orders"""
FREE_CALLS = "operating_system.cpu={read_us: 0, write_us: 0, disk_request_us: 0}"
NO_CPU = (FREE_CALLS, "database.path.page_miss_us=0", "database.path.load_row_us=1e-9")
QUIET = ("database.checkpoint.interval_s=1e6", "operating_system.page_cache.dirty_expire_s=1e5")
"""neither checkpoints nor pages that are written for their age"""
LEVELS = ("independent", "raid0", "raid10", "raid5", "raid6")
FLASH = (
    "machine.disks.disk={{kind: flash, name: volume, capacity_gib: 600, read_latency_us: 100, write_latency_us: 100, "
    "parallel_requests: 64, source: 'assumption: for tests', limits: [{limits}]}}"
)
LIMIT = "{{of: {of}, per_s: {per_s}, source: 'assumption: for tests'}}"


def scenario(*settings: str) -> ScenarioSpec:
    return load_scenario(TINY, ["job={kind: load}", *settings])


def answer(*settings: str) -> JobResult:
    return run_job(scenario(*settings))


def close(value: float, to: float, within: float = 1e-6) -> bool:
    return math.isclose(value, to, rel_tol=within)


def on_level(level: str) -> tuple[str, str]:
    return f"machine.disks.level={level}", "machine.disks.count=4"


# the processor


def test_a_load_that_nothing_holds_up_takes_its_rows_times_their_path() -> None:
    cores = ("machine.cpu={cores: 2, relative_speed: 2}", "machine.disks.disk=nvme", FREE_CALLS)
    found = answer("database.path.load_row_us=40", *cores)
    assert close(found.value, (ROWS + ITEMS) * 40 * US / 2)
    assert found.limited_by.startswith("processor")
    assert close(found.cpu_cores_busy, 1.0)
    assert not close(answer("database.path.load_row_us=41", *cores).value, found.value, 0.01)


def test_calls_that_write_pages_take_the_time_of_a_lone_processor() -> None:
    """Pages that leave the pool by the writer or as victims cost a write call; each request of write-back a request."""
    free, found = (answer("database.path.load_row_us=40", *more) for more in ((FREE_CALLS,), ()))
    pages = loaded_pages(scenario("database.path.load_row_us=1").workload.layout, 1)
    left_in_pool = 2000 / pages
    assert (1 - left_in_pool) * 10 * US < (found.value - free.value) / pages < (10 + 10) * US
    two = answer("database.path.load_row_us=40", "machine.cpu.cores=2")
    assert two.value < (found.value + free.value) / 2, "the background writer's calls are another processor's"


def test_rows_are_those_of_the_specification() -> None:
    assert loaded_rows(3) == 3 * ROWS + ITEMS


# the disks


def test_a_load_faster_than_its_disk_waits_for_it_once_the_buffers_are_full() -> None:
    slow = "machine.disks.disk={overhead_ms: 0, transfer_mib_per_s: 1}"
    settings = ("database.path.load_row_us=1", "machine.memory_gib=0.5", slow, "workload.warehouses=20")
    found = answer(*settings)
    assert found.limited_by.startswith("disks")
    assert 1000 < found.value < 20 * ROWS * 200 / 2**20, "of 1.4 GB at 1 MiB/s a few hundred MB stay in memory"
    assert close(found.value, sum(found.parts_s.values()))
    assert close(answer(*settings, "machine.disks.count=2").value, found.value / 2, 0.05)
    assert answer(*settings, "machine.memory_gib=4").value < found.value / 2


def test_direct_writes_cost_the_overhead_for_each_page() -> None:
    settings = ("database.path.load_row_us=1", "database.pool.buffers=1000", "machine.disks.disk.overhead_ms=5")
    limit = ("machine.memory_gib=0.5", "operating_system.page_cache.dirty_limit_fraction=0.01")
    buffered, direct = (answer(*settings, *limit, f"database.io={io}") for io in ("buffered", "direct"))
    assert direct.value > 5 * buffered.value


def test_a_load_writes_no_more_than_is_let_through() -> None:
    small = ("database.pool.buffers=1000", "machine.memory_gib=0.5", "database.io=direct", "workload.warehouses=2")

    def load_s(limits: str) -> float:
        return answer("database.path.load_row_us=0.1", *small, FLASH.format(limits=limits)).value

    slow, quick = (load_s(LIMIT.format(of="requests", per_s=per_s)) for per_s in (200, 400))
    assert close(slow, 2 * quick, 0.01)
    assert load_s("") < quick / 4


# the same writes by hand


def by_hand(model: System) -> float:
    """Seconds of a load that takes no CPU time, written for this: a story over the reference engine's devices alone."""
    env = Environment()
    limits = model.limiters
    files = DataFiles(model, new_devices(env, model.storage, (), limits.stages))
    regions = model.program.regions.tolist()
    loaded = [
        regions[region][0] + group * regions[region][2] + place
        for region, group, _, pages in model.program.load_order.tolist()
        for place in range(pages)
    ]
    story = _page_by_page if model.direct_io else _through_the_page_cache
    env.run(env.process(story(env, model, files, loaded)))
    return env.now / 1e9


def _page_by_page(_: Environment, model: System, files: DataFiles, loaded: list[int]) -> Story:
    """The oldest page makes room for each new one, and its write is waited for."""
    for page in loaded[: -model.pool.pages]:
        yield from files.call(page, WRITE, "eviction write")


def _through_the_page_cache(env: Environment, model: System, files: DataFiles, loaded: list[int]) -> Story:
    """The oldest page goes to the page cache. At its limit of dirt the oldest there are written, until less is left."""
    dirty: deque[int] = deque()
    writing, written = 0, env.event()

    def finish(pages: int, _: object) -> None:
        nonlocal writing, written
        writing -= pages
        written, before = env.event(), written
        before.succeed()

    for page in loaded[: -model.pool.pages]:
        while len(dirty) + writing >= model.page_cache.dirty_limit_pages:
            batch = sorted(dirty.popleft() for _ in range(min(THROTTLED_BATCH_PAGES, len(dirty))))
            writing += len(batch)
            for run in neighbours(batch, model.placement, model.storage.merged_pages):
                files.submit(run, WRITE, "write-back").callbacks.append(partial(finish, len(run)))
            yield written
        dirty.append(page)


HAND = (*NO_CPU, *QUIET, "database.writer.dirty_high_fraction=1", "database.pool.buffers=1000", "machine.cpu.cores=2")


@pytest.mark.parametrize("io", ["buffered", "direct"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_load_takes_as_long_as_the_same_writes_by_hand(level: str, io: str) -> None:
    memory = ("machine.memory_gib=0.25", "operating_system.page_cache.dirty_limit_fraction=0.1")
    spec = scenario(*HAND, *memory, *on_level(level), f"database.io={io}")
    found = run_job(spec)
    model = load_model(spec, load_sample(spec))
    assert found.value == pytest.approx(by_hand(model), rel=1e-9)
    smaller = dataclasses.replace(model, pool=dataclasses.replace(model.pool, pages=3000))
    assert found.value != pytest.approx(by_hand(smaller), rel=0.01), "the negative twin: another pool"


@pytest.fixture(scope="module", params=["buffered", "direct"])
def by_level(request: pytest.FixtureRequest) -> dict[str, float]:
    small = ("workload.warehouses=5", "machine.memory_gib=0.3", "database.path.load_row_us=0.5")
    return {level: answer(*small, f"database.io={request.param}", *on_level(level)).value for level in LEVELS}


def test_levels_cost_what_their_disks_have_to_do(by_level: dict[str, float]) -> None:
    plain = by_level["raid0"]
    assert 0.6 * plain < by_level["independent"] < 1.2 * plain, "page by page a batch is dealt out more evenly"
    assert 1.05 * plain < by_level["raid10"] < 2.2 * plain, "each page is written to two disks"
    assert by_level["raid10"] * 1.5 < by_level["raid5"] < by_level["raid6"], "parity is read and written, too"


def test_whole_stripes_need_no_reads() -> None:
    """A stripe that is one page on each data disk makes every merged request of write-back a whole number of them."""
    settings = ("workload.warehouses=5", "machine.memory_gib=0.3", "database.path.load_row_us=0.5", *on_level("raid5"))
    merged = "operating_system.page_cache.merged_write_kib={}"
    whole, parts = (answer(*settings, "machine.disks.stripe_kib=8", merged.format(kib)).value for kib in (240, 16))
    assert whole < parts / 2


# laws


@pytest.mark.parametrize("io", ["buffered", "direct"])
def test_both_engines_load_alike(io: str) -> None:
    rows = {"stock": 5000, "order_line": 5000, "item": 5000, "customer": 60}
    few = "workload.layout={" + ", ".join(f"{table}_rows_per_page: {count}" for table, count in rows.items()) + "}"
    more = ("database.pool.buffers=100", "machine.memory_gib=0.2", f"database.io={io}", "machine.cpu.cores=2")
    spec = scenario("database.path.load_row_us=5", few, *more, *on_level("raid5"))
    assert differences(load_model(spec, load_sample(spec)), 1) == []


@settings(max_examples=6, deadline=None)
@given(
    level=st.sampled_from(LEVELS),
    io=st.sampled_from(["buffered", "direct"]),
    row_us=st.sampled_from([0.5, 5.0, 50.0]),
    overhead_ms=st.sampled_from([0.1, 1.0]),
)
def test_laws_of_a_load(level: str, io: str, row_us: float, overhead_ms: float) -> None:
    base = (*on_level(level), f"database.io={io}", "machine.memory_gib=0.3")
    one = (f"database.path.load_row_us={row_us}", f"machine.disks.disk.overhead_ms={overhead_ms}")
    found = answer(*base, *one, "workload.warehouses=4")
    assert found.seconds == found.value
    assert close(sum(found.parts_s.values()), found.value)
    assert min(found.parts_s.values()) >= 0
    assert found.cpu_cores_busy <= 1 + 1e-9
    twice = answer(*base, *one, "workload.warehouses=8").value / found.value
    assert 1.8 < twice < 3, "a part of the first pages stays in memory"
    faster = (one[0], f"machine.disks.disk.overhead_ms={overhead_ms / 2}")
    assert answer(*base, *faster, "workload.warehouses=4").value <= found.value * 1.02
    if level not in {"raid5", "raid6"}:  # of a batch in one wide stripe all parity is on one disk
        more = answer(*base, *one, "workload.warehouses=4", "machine.disks.count=8")
        assert more.value <= found.value * 1.02
    slower = (one[1], f"database.path.load_row_us={4 * row_us}")
    assert answer(*base, *slower, "workload.warehouses=4").value > found.value * 0.97  # turns of the platter


def test_a_load_of_many_pages_is_folded_and_says_so() -> None:
    small, large = (answer("database.path.load_row_us=40", f"workload.warehouses={each}") for each in (5, 100))
    assert small.basis.startswith("simulated, seed 1: ")
    assert "times" not in small.basis
    assert "of 10 of 100 warehouses" in large.basis
    assert large.basis.endswith("; times 10")
    assert large.value / small.value == pytest.approx(20, rel=0.05)
    layout = scenario("database.path.load_row_us=40").workload.layout
    assert loaded_pages(layout, 10) <= MOST_PAGES < loaded_pages(layout, 11)


@pytest.mark.parametrize("io", ["buffered", "direct"])
def test_a_folded_load_is_the_whole_one(io: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = ("database.path.load_row_us=1", "workload.warehouses=12", "machine.memory_gib=0.5", f"database.io={io}")
    folded = answer(*quick, *on_level("raid10"))
    monkeypatch.setattr("oltpsim.models.jobs.load.MOST_PAGES", 10**9)
    whole = answer(*quick, *on_level("raid10"))
    assert "times" in folded.basis
    assert "times" not in whole.basis
    assert folded.value == pytest.approx(whole.value, rel=0.05)


def test_written_pages_that_are_freed_first_press_no_buffer_out_of_memory() -> None:
    tight = ("database.path.load_row_us=5", "machine.memory_gib=0.25", "database.pool.buffers=9000")
    kept, freed = (answer(*tight, f"operating_system.page_cache.free_behind={each}") for each in ("false", "true"))
    assert kept.parts_s["waiting for swapped memory"] > 1
    assert freed.parts_s["waiting for swapped memory"] == 0


def test_interrupts_may_have_processors_of_their_own() -> None:
    bound = "operating_system.interrupts={interrupt_us: 2, bound_processors: 1}"
    settings = ("database.path.load_row_us=1", "machine.cpu.cores=3", "machine.memory_gib=0.4")
    assert answer(*settings, bound).value == pytest.approx(answer(*settings).value, rel=0.05)
