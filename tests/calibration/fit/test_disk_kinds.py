"""Disks by tables of depths, sizes and mixes: known truths are found again, measured devices by their kinds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from oltpsim.calibration.fit.disk_kinds import KINDS, DiskTable, disk_table, fit_table
from oltpsim.calibration.records import DiskPoint
from oltpsim.simulator.errors import InputError

FLASH, SERVERS, ARM, CACHED_ARM, ARRAY, CACHED_ARRAY = KINDS
TRUE_FLASH = {
    "read_latency_us": 80.0, "reads_per_s": 300_000.0, "dies": 20.0, "read_mib_per_s": 3000.0,
    "write_latency_us": 18.0, "writes_per_s": 80_000.0, "write_mib_per_s": 1200.0, "interference": 0.5,
}  # fmt: skip
DEPTHS, SIZES, MIXES = (1, 4, 16, 64, 256), (4.0, 16.0, 64.0), (0.0, 0.3, 1.0)


def empty_table(
    depths: tuple[int, ...] = DEPTHS, sizes: tuple[float, ...] = SIZES, mixes: tuple[float, ...] = MIXES
) -> DiskTable:
    rows = np.array([(n, size, mix) for n in depths for size in sizes for mix in mixes])
    lone_us = {"read": 1e6, "write": 1e6}
    return DiskTable(("x.json",), rows[:, 0], rows[:, 1], rows[:, 2], np.ones(len(rows)), lone_us, math.nan, 7200.0)


def measured(table: DiskTable, per_s: np.ndarray, noise: float = 0.02) -> DiskTable:
    """Rates with noise."""
    return replace(table, per_s=per_s * np.exp(np.random.default_rng(3).normal(0.0, noise, len(per_s))))


def test_flash_is_found_again_from_depths_sizes_and_mixes_at_once() -> None:
    table = empty_table()
    best, *others = fit_table(measured(table, FLASH.per_s(table, TRUE_FLASH)))
    assert best.kind is FLASH
    assert best.error < 0.03
    assert min(fit.error for fit in others) > 0.3, "no other kind comes near"
    for name, value in TRUE_FLASH.items():
        low, high = best.intervals[name]
        assert 0.9 * low <= value <= 1.1 * high, name
    assert best.numbers["interference"] == pytest.approx(0.5, rel=0.2)
    assert best.numbers["write_mib_per_s"] == pytest.approx(1200.0, rel=0.1)
    assert best.numbers["read_latency_us"] == pytest.approx(80.0, rel=0.1)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (FLASH, {"read_latency_us": 80.0, "reads_per_s": 300_000.0, "dies": 20.0}),
        (ARM, {"seek_average_ms": 8.5, "queue_depth": 32.0}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_four_depths_of_reads_tell_the_kind_and_predict_a_fifth(kind: object, numbers: dict[str, float]) -> None:
    assert isinstance(kind, type(FLASH))
    table = empty_table(depths=(1, 4, 16, 256), sizes=(4.0,), mixes=(0.0,))
    best = fit_table(replace(table, per_s=kind.per_s(table, numbers)))[0]
    assert best.kind is kind
    assert best.numbers == pytest.approx(numbers, rel=0.1)
    for name, value in numbers.items():
        low, high = best.intervals[name]
        assert low <= value <= high, name
    fifth = empty_table(depths=(64,), sizes=(4.0,), mixes=(0.0,))
    assert kind.per_s(fifth, best.numbers) == pytest.approx(kind.per_s(fifth, numbers), rel=0.05)


def test_what_no_point_shows_has_no_number() -> None:
    """One size shows no bandwidth, reads and writes apart no interference, one mix alone neither reads nor writes."""
    apart = empty_table(sizes=(4.0,), mixes=(0.0, 1.0))
    names = set(FLASH.numbers(apart))
    assert names == set(TRUE_FLASH) - {"read_mib_per_s", "write_mib_per_s", "interference"}
    mixed = empty_table(depths=(1, 2, 4, 8, 16, 32, 64, 128, 256), sizes=(4.0,), mixes=(0.3,))
    best = fit_table(measured(mixed, FLASH.per_s(mixed, TRUE_FLASH)))[0]
    assert not best.is_identified("read_latency_us")
    best = fit_table(measured(apart, FLASH.per_s(apart, TRUE_FLASH)))[0]
    assert best.is_identified("read_latency_us")
    assert not best.is_identified("interference"), "a number that it hasn't"


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (SERVERS, {"read_latency_us": 1050.0, "parallel_requests": 12.0, "write_latency_us": 2000.0}),
        (CACHED_ARM, {"seek_average_ms": 8.5, "queue_depth": 24.0, "write_latency_us": 300.0, "destaged_per_s": 160.0}),
        (
            CACHED_ARRAY,
            {
                "arms": 8.0, "seek_average_ms": 4.5, "queue_depth": 16.0,
                "write_latency_us": 60.0, "destaged_per_s": 700.0,
            },
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip
def test_kinds_are_told_from_each_other(kind: object, numbers: dict[str, float]) -> None:
    assert isinstance(kind, type(FLASH))
    table = empty_table(depths=(1, 2, 4, 8, 16, 32, 64, 256), sizes=(8.0,), mixes=(0.0, 1.0))
    best, *_ = fit_table(measured(table, kind.per_s(table, numbers), noise=0.01))
    assert best.kind is kind
    assert best.error < 0.03
    assert best.is_identified("write_latency_us") == (kind is SERVERS), "a cache that is full hides it"
    for name, value in numbers.items():
        if best.is_identified(name):
            assert best.numbers[name] == pytest.approx(value, rel=0.25), name


def test_larger_requests_are_slower_and_mixes_lie_below_their_parts() -> None:
    table = empty_table(mixes=(0.0, 0.3, 0.5, 1.0))
    rates = {
        (n, size, mix): rate
        for n, size, mix, rate in zip(
            table.in_flight, table.block_kib, table.write_fraction, FLASH.per_s(table, TRUE_FLASH), strict=True
        )
    }
    for n in DEPTHS:
        for mix in MIXES:
            assert rates[n, 4.0, mix] > rates[n, 16.0, mix] > rates[n, 64.0, mix]
        assert rates[n, 4.0, 0.3] < 1.0 / (0.7 / rates[n, 4.0, 0.0] + 0.3 / rates[n, 4.0, 1.0])
    free = FLASH.per_s(table, {**TRUE_FLASH, "interference": 0.0})
    assert np.all(free >= FLASH.per_s(table, TRUE_FLASH))
    lone = rates[1, 4.0, 0.0]
    assert lone == pytest.approx(1e6 / 80.0, rel=0.01)
    assert rates[256, 64.0, 0.0] == pytest.approx(3000 * 16, rel=0.1), "bandwidth"


def point(file: str, way: str, depth: float, per_s: float, **more: float) -> DiskPoint:
    return DiskPoint(file, way, depth, 4.0, per_s, math.nan, math.nan, **more)


def test_reads_and_writes_of_one_result_are_a_mix_and_flushed_writes_give_the_flush() -> None:
    points = [
        point("a.json", "read", 8, 700.0),
        point("a.json", "write", 8, 300.0),
        point("b.json", "read", 8, 900.0),
        point("c.json", "write", 4, 200.0, flush_us=2500.0),
        point("c.json", "write", 1, 180.0, flush_us=2100.0),
    ]
    table = disk_table(points, 7200.0)
    assert table.write_fraction.tolist() == [0.3, 0.0]
    assert table.per_s.tolist() == [1000.0, 900.0]
    assert table.flush_us == 2100.0
    with pytest.raises(InputError, match=r"c\.json: got no random reads; expected a result with reads"):
        disk_table(points[3:], 7200.0)


def test_three_depths_tell_no_kind_and_many_jobs_count_once() -> None:
    (servers,) = fit_table(empty_table(depths=(1, 4, 16), sizes=(4.0,)))
    assert servers.kind is SERVERS
    assert [name for name in servers.numbers if servers.is_identified(name)] == servers.unidentified == []
    table = empty_table(depths=(1, 2, 4, 8, 16, 32), sizes=(4.0,), mixes=(0.0,))
    once = replace(table, per_s=FLASH.per_s(table, TRUE_FLASH))
    rows = np.concatenate([np.arange(6), np.full(20, 5)])
    often = replace(
        once,
        in_flight=once.in_flight[rows],
        block_kib=once.block_kib[rows],
        write_fraction=once.write_fraction[rows],
        per_s=once.per_s[rows],
    )
    assert fit_table(often)[0].numbers == pytest.approx(fit_table(once)[0].numbers, rel=1e-3)
