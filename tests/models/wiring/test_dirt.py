"""Limits of dirt in the page cache: as Linux computes them, and what writers and write-back do between them."""

from pathlib import Path

import pytest

from oltpsim.models.operating_system.page_cache import PageCacheSpec, dirty_limits, flusher_of, page_cache_of
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import UNPACED, System
from oltpsim.simulator.results import Result

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"
PAGE = 8192
KEYS = {"floor_fraction": 0.0, "dirty_expire_s": 30.0, "flush_interval_s": 5.0, "in_flight_pages": 32}
MIB_PAGES = 128


def cache(**changes: float | bool) -> PageCacheSpec:
    return PageCacheSpec.model_validate(
        KEYS | {"dirty_limit_fraction": 0.2, "dirty_background_fraction": 0.1} | changes
    )


def test_limits_are_shares_or_mebibytes_and_the_lower_one_lies_below() -> None:
    assert dirty_limits(cache(), 10_000, PAGE) == (1000, 2000)
    assert dirty_limits(cache(dirty_background_mib=2, dirty_limit_mib=10), 10_000, PAGE) == (256, 1280)
    assert dirty_limits(cache(dirty_background_fraction=0.3), 10_000, PAGE) == (1000, 2000)
    assert dirty_limits(cache(dirty_background_fraction=1), 10_000, PAGE) == (10_000, 2000)


def test_pauses_begin_at_the_mean_of_both_limits_where_the_system_has_them() -> None:
    assert page_cache_of(cache(), 10_000, PAGE).paced_pages == UNPACED
    assert page_cache_of(cache(paces_writers=True), 10_000, PAGE).paced_pages == 1500
    beyond = cache(paces_writers=True, dirty_background_mib=400, dirty_limit_mib=800)
    assert page_cache_of(beyond, 10_000, PAGE).paced_pages == UNPACED
    assert page_cache_of(beyond, 10_000, PAGE).dirty_limit_pages == 10_000
    assert not flusher_of(beyond, 10_000, PAGE)
    assert not flusher_of(cache(dirty_background_fraction=1), 10_000, PAGE)
    [flusher] = flusher_of(cache(), 10_000, PAGE)
    assert list(flusher.operands("write_cache_dirty")) == [(1000,)]


def test_write_back_takes_a_chunk_along_where_it_is_said() -> None:
    """It begins at the same limit and leaves as much less; the equations get both."""
    [flusher] = flusher_of(cache(background_chunk_mib=2), 10_000, PAGE)
    assert list(flusher.operands("await_cache_dirty")) == [(1000,)]
    assert list(flusher.operands("write_cache_dirty")) == [(1000 - 2 * MIB_PAGES,)]
    [greedy] = flusher_of(cache(background_chunk_mib=100), 10_000, PAGE)
    assert list(greedy.operands("write_cache_dirty")) == [(0,)]


def test_a_writer_is_paused_each_128_kib_where_the_system_locks_files() -> None:
    both = cache(paces_writers=True, locks_files=True)
    assert [page_cache_of(both, 10_000, size).pages_a_pause for size in (4096, 8192, 16384, 262144)] == [32, 16, 8, 1]
    beyond = cache(paces_writers=True, locks_files=True, dirty_background_mib=400, dirty_limit_mib=800)
    for other in (cache(paces_writers=True), beyond):  # not asked for; never paused
        assert page_cache_of(other, 10_000, PAGE).pages_a_pause == 0
    with pytest.raises(ValueError, match="locks_files: got true without paces_writers"):
        cache(locks_files=True)


def test_more_files_than_a_byte_counts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    locking = ["operating_system.page_cache.paces_writers=true", "operating_system.page_cache.locks_files=true"]
    locking += [
        "operating_system.page_cache.dirty_background_mib=0.1",
        "operating_system.page_cache.dirty_limit_mib=0.2",
    ]
    assert build(load_scenario(TINY, locking)).page_cache.pages_a_pause == 16
    monkeypatch.setattr("oltpsim.models.wiring.system.MOST_FILES", 3)
    with pytest.raises(InputError, match=r"locks_files: got \d+ tables and indexes; at most 3: have fewer"):
        build(load_scenario(TINY, locking))


def writing(*words: str) -> System:
    """Clients under whose small pool all that they change goes through a page cache onto a slow disk."""
    size = ("database.pool.buffers=300", "interval={start: after_load, warm_up_s: 20, duration_s: 40}")
    disk = (
        "machine.disks.disk={kind: flash, name: slow, capacity_gib: 70, read_latency_us: 50, write_latency_us: 5000, "
    )
    disk += "parallel_requests: 1, reads_per_write: 3, source: a test}"
    clients = "workload.arrivals={kind: closed, clients: 8, think_time_s: 0}"
    expiry = "operating_system.page_cache.dirty_expire_s=300"
    return build(load_scenario(TINY, [*size, disk, clients, expiry, *words]))


def limits(background: float, most: float, *, paced: bool) -> tuple[str, ...]:
    return (
        f"operating_system.page_cache.dirty_background_mib={background}",
        f"operating_system.page_cache.dirty_limit_mib={most}",
        f"operating_system.page_cache.paces_writers={str(paced).lower()}",
    )


def dirty_mib(result: Result) -> float:
    """Mean over the last half of the run."""
    shares = result.series.values["page_cache_dirty_fraction"]
    late = shares[len(shares) // 2 :]
    return sum(late) / len(late) * result.caches[1].capacity_pages / MIB_PAGES


def test_paced_writers_stay_between_the_limits_and_write_as_fast_as_the_disk() -> None:
    """Fewer than the limit are dirty and about as many as where pauses begin, but for a quarter of a MiB in flight.

    Without pauses whoever meets the limit hands all of it to the disk.
    """
    paced = kernel.simulate(writing(*limits(4, 12, paced=True)), 1)
    wall = kernel.simulate(writing(*limits(4, 12, paced=False)), 1)
    assert 7.5 < dirty_mib(paced) < 11
    assert not 7.5 < dirty_mib(wall) < 11
    for result in (paced, wall):
        assert result.devices[0].writes_per_s > 0
        assert result.devices[0].utilisation > 0.95
        assert result.classes[0].time_by_s["write throttle"] > 0
    assert paced.transactions_per_s > wall.transactions_per_s


def test_write_back_holds_dirt_to_the_background_limit_where_the_disk_can() -> None:
    """On a fast disk no more are dirty than that; by age alone, which none reaches here, there are many more."""
    disk = "machine.disks.disk=nvme"
    held = dirty_mib(kernel.simulate(writing(disk, *limits(4, 100, paced=True)), 1))
    by_age = dirty_mib(kernel.simulate(writing(disk, "operating_system.page_cache.dirty_limit_mib=100"), 1))
    assert held == pytest.approx(4, rel=0.2)
    assert by_age > 2 * held
