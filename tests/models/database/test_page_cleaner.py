"""Page cleaners of a database: their rules by the formulas of the sources, and what doesn't go with them."""

from typing import Any

import pytest

from oltpsim.models.catalogue import catalogue_entry
from oltpsim.models.database import flushing_of, merger_of, page_cleaners_of
from oltpsim.models.database.page_cleaner import PageCleanerSpec
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.models.wiring.memory import memory_plan
from oltpsim.scenarios.library import library_files
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import CODES, GIB, Daemon

FILE = library_files()["innodb/hammerdb-80-users"]


def spec(**changes: Any) -> PageCleanerSpec:
    return PageCleanerSpec.model_validate(catalogue_entry("databases", "mysql-8-4")["page_cleaner"] | changes)


def test_age_asks_by_the_power_of_three_halves() -> None:
    """x^1.5 / 7.5 per cent of io_capacity_max: at 100 % 133 times 2; nothing below a tenth of where users wait."""
    rules = flushing_of(spec())
    assert rules.percent_by_age[100] == int(2 * 1000 / 7.5) == 266
    assert rules.percent_by_age[50] == int(2 * 50**1.5 / 7.5)
    assert [bool(percent) for percent in rules.percent_by_age[10:13]] == [False, False, True]
    gentle = flushing_of(spec(age_exponent=2.5, age_divisor=700.5))
    assert gentle.percent_by_age[100] == int(2 * 100**2.5 / 700.5)


def test_the_wait_for_a_free_page_is_the_pools() -> None:
    """Only a database with page cleaners has it."""
    waits = [
        build(load_scenario(FILE, [f"database.page_cleaner.free_page_wait_us={us}"])).pool.free_wait_ns
        for us in (0, 500)
    ]
    assert waits == [0, 500_000]


def test_a_log_by_its_relative_size() -> None:
    """Each record of every kind of transaction, and nothing else."""
    plain, twice = (build(load_scenario(FILE, [f"database.log.relative_size={size}"])).program for size in (1, 2))
    of_log = plain.operations[:, 0] == CODES["log"]
    assert of_log.sum() == 3
    assert (twice.operations[of_log, 1] == 2 * plain.operations[of_log, 1]).all()
    assert (twice.operations[~of_log] == plain.operations[~of_log]).all()


def test_dirt_asks_above_its_low_mark_in_proportion_or_only_at_the_high_one() -> None:
    rules = flushing_of(spec())
    assert (rules.percent_by_dirty[9], rules.percent_by_dirty[10]) == (0, int(1000 / 91))
    assert rules.percent_by_dirty[91] == 100
    without = flushing_of(spec(dirty_low_fraction=0))
    assert (without.percent_by_dirty[89], without.percent_by_dirty[90]) == (0, 100)


def test_ages_are_shares_of_the_redo_log() -> None:
    wanted = spec(redo_capacity_gib=10)
    rules = flushing_of(wanted)
    assert (rules.whole_age_bytes, rules.full_bytes) == (round(7.3 * GIB), round(8.4 * GIB))
    assert next(iter(page_cleaners_of(wanted)[1].operands("write_aged"))) == (round(7.9 * GIB),)


def test_cleaners_share_the_rate() -> None:
    one, four = flushing_of(spec()), flushing_of(spec(cleaners=4))
    assert one.milli_pages == 4 * four.milli_pages == 1000 * 10_000 // 10
    assert len(page_cleaners_of(spec(cleaners=4))) == 8


def merging_daemons(*settings: str) -> list[Daemon]:
    """Of a scenario whose change buffer takes half of the changes, unless it is set otherwise."""
    aside = "workload.layout.index_changes_put_aside_fraction=0.5"
    return [one for one in build(load_scenario(FILE, [aside, *settings])).daemons if any(one.operands("merge"))]


def test_a_twentieth_of_io_capacity_is_merged_each_second_where_changes_are_put_aside() -> None:
    """None where nothing is put aside, or nobody merges in the background."""
    [daemon] = merging_daemons("database.page_cleaner.io_capacity_per_s=1500")
    assert [step.operands for step in daemon.steps] == [(1_000_000_000,), (75_000,)]
    assert merger_of(spec(io_capacity_per_s=150, background_merge_fraction=0.01)).steps[1].operands == (1_500,)
    assert not merging_daemons("workload.layout.index_changes_put_aside_fraction=0")
    assert not merging_daemons("database.page_cleaner.background_merge_fraction=0")


def test_a_sample_merges_as_many_pages_a_second() -> None:
    """Requests are not sampled: a share of the pages, as much more often."""
    [daemon] = merging_daemons("sampling_fraction=0.05", "database.page_cleaner.io_capacity_per_s=1000")
    (interval_ns,), (milli_pages,) = (step.operands for step in daemon.steps)
    assert (interval_ns, milli_pages) == (50_000_000, 2_500)


def test_a_sample_has_its_share_of_the_redo_log_and_of_the_rate() -> None:
    """A round is as much shorter."""
    model = build(load_scenario(FILE, ["sampling_fraction=0.05"]))
    whole = build(load_scenario(FILE, ["sampling_fraction=1", "workload.warehouses=50"]))
    assert model.flushing is not None
    assert whole.flushing is not None
    assert model.flushing.whole_age_bytes == pytest.approx(0.05 * whole.flushing.whole_age_bytes)
    assert model.flushing.milli_pages == pytest.approx(0.05 * whole.flushing.milli_pages)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("database.pool.replacement=clock",), "page_cleaner: got pool.replacement: clock"),
        (("database.checkpoint={interval_s: 60}",), "together with writer or checkpoint"),
        (("database.page_cleaner.sync_fraction=0.5",), "must not fall"),
        (("database.page_cleaner=null",), "database.writer: missing"),
    ],
)
def test_what_does_not_go_together(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_scenario(FILE, settings)


@pytest.mark.parametrize("io", ["buffered", "direct"])
def test_by_buffered_io_each_batch_is_synced_and_the_page_cache_has_what_the_pool_leaves(io: str) -> None:
    """By direct I/O it has one page, and the operating system nothing to write but the log."""
    scenario = load_scenario(FILE, [f"database.io={io}"])
    model, buffered = build(scenario), io == "buffered"
    assert (model.direct_io, model.writing.synced, model.writing.doubled) == (not buffered, buffered, True)
    assert (model.page_cache.pages > 1000) == buffered
    assert any("background write-back" in daemon.name for daemon in model.daemons) == buffered
    assert {"list cleaner 1", "page cleaner 1"} < {daemon.name for daemon in model.daemons}


@pytest.mark.parametrize(("settings", "known"), [(("flush_us=500",), True), (("flush_us=0",), False)])
def test_files_are_known_where_flushes_take_time_by_buffered_io_too(settings: tuple[str, ...], known: bool) -> None:
    """Written once or twice: fsync flushes what it has written."""
    disk = [f"machine.disks.disk.{each}" for each in settings]
    for doublewrite in ("true", "false"):
        twice = [f"database.page_cleaner.doublewrite={doublewrite}", "database.io=buffered"]
        writing = build(load_scenario(FILE, [*disk, *twice])).writing
        assert (len(writing.files) > 1, writing.synced) == (known, True)


CLEANERS = "database.page_cleaner={cleaners: 2, lru_scan_depth_pages: 1000}"


def test_three_quarters_of_what_cleaners_keep_clean_hold_nothing() -> None:
    """At most half of the pool."""
    pools = [
        build(load_scenario(FILE, [CLEANERS, f"database.pool.buffers={buffers}"])).pool for buffers in (10_000, 2_500)
    ]
    assert [pool.pages for pool in pools] == [8_500, 1_250]
    assert [pool.resident_pages for pool in pools] == [8_500, 1_250]


def test_free_buffers_are_swapped_out_as_much_as_others() -> None:
    """A pool as large as memory: of those that hold pages the same share has memory."""
    scenario = load_scenario(FILE, [CLEANERS, "machine.memory_gib=40", "database.pool.buffers=2500000"])
    pool, resident = build(scenario).pool, memory_plan(scenario).resident_buffers
    assert resident < 2_500_000
    assert pool.pages == 2_500_000 - 1_500
    assert pool.resident_pages == pytest.approx(resident * pool.pages / 2_500_000, abs=1)


def test_clients_need_buffers_that_hold_pages() -> None:
    """Ninety for 80 clients, of which half are free here."""
    held = "database.pool.buffers={}"
    load_scenario(FILE, [CLEANERS, held.format(180)])
    with pytest.raises(InputError, match=r"got 178; at least 90 with pages: .* 89 are free \(page_cleaner.lru_scan"):
        load_scenario(FILE, [CLEANERS, held.format(178)])


def test_neighbours_go_along_on_the_disks_that_they_are_said_to() -> None:
    def requested(disk: str, on: str) -> int:
        settings = [f"machine.disks.disk={disk}", f"database.page_cleaner={{neighbour_pages: 64, neighbours_on: {on}}}"]
        return build(load_scenario(FILE, settings)).writing.coalesced_pages

    arm, flash = "samsung-f1-1000", "intel-dc-p4510-2000"
    assert [requested(arm, "rotating"), requested(flash, "rotating")] == [64, 1]
    assert [requested(arm, "all"), requested(flash, "all")] == [64, 64]


def test_rounds_are_the_daemons_intervals() -> None:
    """A tenth and a hundredth of a second; MariaDB's are a second, but when half of its free pages are taken."""
    mariadb = catalogue_entry("databases", "mariadb-10-11")["page_cleaner"]
    plain, slow = page_cleaners_of(spec()), page_cleaners_of(spec(**mariadb))
    assert [daemon.steps[0].operation for daemon in plain] == ["every", "every"]
    assert [daemon.steps[0].operands for daemon in plain] == [(10_000_000,), (100_000_000,)]
    assert [daemon.steps[0].operation for daemon in slow] == ["every_or_evicted", "every"]
    assert [daemon.steps[0].operands for daemon in slow] == [(1_000_000_000, 768), (1_000_000_000,)]


def test_a_longer_round_writes_as_many_pages_of_a_second() -> None:
    short, long = (flushing_of(spec(round_s=round_s)) for round_s in (0.1, 1))
    assert (long.milli_pages, long.most_milli_pages) == (10 * short.milli_pages, 10 * short.most_milli_pages)
    assert (short.rounds, long.rounds) == (300, 30)
