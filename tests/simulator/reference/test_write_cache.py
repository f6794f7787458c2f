"""A drive's write cache: when writes are done, what the arm does first, and how fast the cache empties."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.machine import RotatingDiskSpec
from oltpsim.simulator.form import CachingDevice, RotatingDevice
from oltpsim.simulator.reference.device import READ, REWRITE, WRITE, DeviceStation
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import STATIONS, new_device
from oltpsim.simulator.reference.write_cache import CachingStation

MS, SECOND, GIB, PAGE = 1_000_000, 1_000_000_000, 1 << 30, 8192
PLAIN = RotatingDevice(
    name="7,200 rpm", capacity_bytes=232 * GIB, revolution_ns=round(60e9 / 7200), track_bytes=512 << 10,
    seek_track_ns=800_000, seek_average_ns=8_900_000, seek_full_ns=18 * MS, overhead_ns=200_000, queue_depth=1,
    scheduler="fcfs", settle_ns=MS, head_switch_ns=800_000,
)  # fmt: skip
CACHING = PLAIN.with_cache(8 << 20, 22)


class Bench:
    """Clients that each have one request at a time at a disk; every `1 / reads` of them reads, the others write."""

    def __init__(self, device: RotatingDevice, clients: int, seed: int = 1, reads: int = 0, write: int = WRITE) -> None:
        self.env = Environment()
        self.station: DeviceStation = new_device(self.env, device, 10_000)
        self.random = np.random.default_rng(seed)
        self.ends: dict[int, list[int]] = {READ: [], WRITE: [], REWRITE: []}
        self.times: dict[int, list[int]] = {READ: [], WRITE: [], REWRITE: []}
        self.device = device
        for client in range(clients):
            self.env.process(self._client(READ if reads and client % reads == 0 else write))

    def _client(self, write: int) -> Story:
        while True:
            asked = self.env.now
            page = int(self.random.integers(self.device.capacity_bytes // PAGE))
            yield self.station.submit(page * PAGE, PAGE, write, "test")
            self.ends[write].append(self.env.now)
            self.times[write].append(self.env.now - asked)

    def run(self, seconds: float) -> Bench:
        """Let so much time pass."""
        self.env.run(until=self.env.now + round(seconds * SECOND))
        return self

    def per_s(self, write: int, begin_s: float, end_s: float) -> float:
        """Requests per second that were done between two instants."""
        return sum(begin_s < end / SECOND <= end_s for end in self.ends[write]) / (end_s - begin_s)


class Counted(CachingStation):
    """Counts what it has destaged."""

    destaged = 0

    def _end_destaging(self, chosen: int, service_ns: int) -> None:
        self.destaged += 1
        super()._end_destaging(chosen, service_ns)


def full_rate(device: RotatingDevice, clients: int) -> float:
    return Bench(device, clients).run(60).per_s(WRITE, 20, 60)


def test_a_full_cache_empties_like_a_queue_of_as_many_as_the_drive_chooses_among() -> None:
    """On the same stream of writes; and as fast as was measured of a disk of 7,200 rpm: 150 a second."""
    rate = full_rate(CACHING, 40)
    assert rate == pytest.approx(full_rate(replace(PLAIN, queue_depth=22), 22), rel=0.02)
    assert rate == pytest.approx(150, rel=0.04)
    assert rate != pytest.approx(full_rate(replace(PLAIN, queue_depth=6), 6), rel=0.1)
    assert full_rate(PLAIN.with_cache(8 << 20, 1), 40) == pytest.approx(full_rate(PLAIN, 40), rel=0.02)


def test_size_is_room_and_not_speed() -> None:
    """Eight times the cache takes in as many writes more at once, and then empties no faster."""
    small, large = (Bench(PLAIN.with_cache(size << 20, 12), 40).run(60) for size in (1, 8))
    more = len(large.ends[WRITE]) - len(small.ends[WRITE])
    assert more == pytest.approx(7 * (1 << 20) / PAGE, rel=0.1)
    rates = [bench.per_s(WRITE, 20, 60) for bench in (small, large)]
    assert rates[0] == pytest.approx(rates[1], rel=0.02)


def test_reads_alone_are_served_as_without_a_cache() -> None:
    for depth in (1, 8):
        benches = [Bench(replace(one, queue_depth=depth), 16, reads=1).run(20) for one in (PLAIN, CACHING)]
        assert benches[0].ends == benches[1].ends
        assert len(benches[0].ends[READ]) > 1000
    assert Bench(PLAIN, 16, reads=2).run(20).ends != Bench(CACHING, 16, reads=2).run(20).ends


def test_a_write_is_done_at_once_while_there_is_room_and_then_when_there_is() -> None:
    """1,024 pages fit into 8 MiB. A log write among them is done as early: the drive says so before it is durable."""
    times = Bench(CACHING, 1).run(30).times[WRITE]
    assert set(times[:1024]) == {PLAIN.overhead_ns}
    later = np.array(times[1200:])
    assert later.mean() == pytest.approx(SECOND / 150, rel=0.05)
    assert (later > PLAIN.overhead_ns).mean() > 0.9
    assert min(Bench(PLAIN, 1).run(5).times[WRITE]) > PLAIN.overhead_ns


def requests_until_done(*requests: tuple[int, int, int], device: RotatingDevice = CACHING) -> list[float]:
    """Instants in ms at which requests (at ms, GiB, kind) are done."""
    env = Environment()
    station = new_device(env, device, 100)
    done: list[float] = [0.0] * len(requests)

    def one(number: int, at: int, place: int, write: int) -> Story:
        yield env.timeout(at * MS)
        yield station.submit(place * GIB, PAGE, write, "test")
        done[number] = env.now / MS

    for number, (at, place, write) in enumerate(requests):
        env.process(one(number, at, place, write))
    env.run(until=10 * SECOND)
    return done


def test_a_read_waits_for_one_cached_write_at_most() -> None:
    """Twenty writes are in the cache: the arm is at one of them, then reads, then goes on."""
    writes = [(0, 10 * k, WRITE) for k in range(1, 21)]
    longest = PLAIN.seek_full_ns + PLAIN.revolution_ns + MS
    read = requests_until_done(*writes, (30, 200, READ))[-1] - 30
    alone = requests_until_done((30, 200, READ))[-1] - 30
    assert alone <= read < 2 * longest / MS, "at the same angle of the platter, at the earliest"
    without = requests_until_done(*writes, (30, 200, READ), device=PLAIN)[-1] - 30
    assert without > 3 * longest / MS


def test_while_a_write_waits_for_room_the_arm_takes_turns() -> None:
    """Eight reads are always there: with room for all writes they keep the arm, with hardly any they get half of it."""
    device = replace(CACHING, queue_depth=64)
    tight = Bench(replace(device, cache_bytes=12 * PAGE), 16, reads=2).run(60)
    reads, writes = (tight.per_s(kind, 10, 60) for kind in (READ, WRITE))
    assert reads == pytest.approx(writes, rel=0.02)
    ample = Bench(replace(device, cache_bytes=1 << 30), 9, reads=9).run(1)
    assert len(ample.ends[WRITE]) > 3000
    assert isinstance(ample.station, CachingStation)
    before = len(ample.station.cached)
    ample.run(1)
    assert len(ample.station.cached) > before


def test_a_write_that_needs_the_old_contents_is_read_first() -> None:
    """Small writes of RAID 5: done after reading with a cache, after another turn without."""
    read, rewrite = (requests_until_done((0, 50, kind))[0] for kind in (READ, REWRITE))
    assert rewrite == pytest.approx(read + PLAIN.overhead_ns / MS)
    without = requests_until_done((0, 50, REWRITE), device=PLAIN)[0]
    assert without == pytest.approx(read + PLAIN.revolution_ns / MS, rel=1e-6)


def test_a_write_larger_than_the_cache_waits_until_that_is_empty() -> None:
    tiny = replace(CACHING, cache_bytes=4096)
    first, second = requests_until_done((0, 10, WRITE), (0, 20, WRITE), device=tiny)
    assert first == PLAIN.overhead_ns / MS
    assert second > first + 1.0
    assert requests_until_done((0, 10, WRITE), (0, 20, WRITE))[1] == pytest.approx(0.4)


devices = st.builds(
    lambda depth, scheduler, room, more: replace(PLAIN, queue_depth=depth, scheduler=scheduler).with_cache(
        room, depth + more
    ),
    st.integers(1, 8),
    st.sampled_from(["fcfs", "look", "c-look"]),
    st.sampled_from([4096, 10 * PAGE, 1 << 20]),
    st.integers(0, 12),
)


@settings(max_examples=40, deadline=None)
@given(device=devices, clients=st.integers(1, 30), reads=st.integers(0, 3), seed=st.integers(1, 1000))
def test_what_was_accepted_is_on_the_platter_or_in_the_cache(
    device: CachingDevice, clients: int, reads: int, seed: int
) -> None:
    """At any time, and the room taken is that of what is in the cache or on its way there."""
    bench = Bench.__new__(Bench)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STATIONS, CachingDevice, Counted)
        bench.__init__(device, clients, seed, reads)  # type: ignore[misc]
    for _ in range(5):
        station = bench.run(0.37).station
        assert isinstance(station, Counted)
        kept = len(station.destaging) + len(station.cached)
        assert station.writes == station.destaged + kept
        assert station.used_bytes == (kept + station.in_transfer) * PAGE
        assert station.used_bytes <= max(device.cache_bytes, PAGE)
        held = len(station.held) + len(station.waiting_writes) + station.in_transfer
        assert held <= device.queue_depth
        assert station.busy.value == (1 if kept or station.held else 0)


@settings(max_examples=15, deadline=None)
@given(device=devices, clients=st.integers(1, 20), seed=st.integers(1, 1000))
def test_a_cache_that_sorts_never_lowers_the_rate_of_writes(device: CachingDevice, clients: int, seed: int) -> None:
    """It has room for the writes of all clients, and chooses among them, as the operating system's scheduler does."""
    among = max(device.queue_depth, clients)
    device = replace(device, destages_among=among, cache_bytes=device.cache_bytes + among * PAGE)
    with_cache, without = (len(Bench(one, clients, seed).run(20).ends[WRITE]) for one in (device, plain(device)))
    assert with_cache >= 0.98 * without


def plain(device: CachingDevice) -> RotatingDevice:
    """The same disk with its cache off."""
    return RotatingDevice(**{name: getattr(device, name) for name in (field.name for field in fields(RotatingDevice))})


SPEC = RotatingDiskSpec(
    name="disk", capacity_gib=232, rpm=7200, seek_track_to_track_ms=0.8, seek_average_ms=8.9, seek_full_stroke_ms=18,
    overhead_ms=0.2, transfer_mib_per_s=60, queue_depth=1, source="assumption: for tests",
)  # fmt: skip


def test_a_disk_without_a_cache_is_the_disk_that_it_was() -> None:
    """Its description, from which a model's hash is made, says nothing of caches."""
    assert repr(SPEC.device("disk")).startswith("RotatingDevice(")
    assert "cache" not in repr(SPEC.device("disk"))
    on = SPEC.model_copy(update={"write_cache_mib": 8.0}).device("disk")
    assert on == replace(SPEC.device("disk")).with_cache(8 << 20, 22)  # type: ignore[union-attr]
    deep = SPEC.model_copy(update={"write_cache_mib": 8.0, "queue_depth": 32})
    assert isinstance(found := deep.device("disk"), CachingDevice)
    assert found.destages_among == 32


# A RAID controller's cache


BEHIND = PLAIN.behind_controller(8 << 20, 22, 40_000)


def test_behind_a_controller_a_write_takes_tens_of_microseconds_until_the_cache_is_full() -> None:
    """1,024 pages at 40 us; then as fast as the arm empties it, which is a drive's rate for as many sorted."""
    times = Bench(BEHIND, 1).run(30).times[WRITE]
    assert set(times[:1024]) == {40_000}
    assert np.mean(times[1200:]) == pytest.approx(SECOND / full_rate(CACHING, 40), rel=0.05)
    assert full_rate(BEHIND, 40) == pytest.approx(full_rate(CACHING, 40), rel=0.02)
    assert full_rate(replace(BEHIND, destages_among=1), 40) < 0.8 * full_rate(BEHIND, 40), "sorting is what it gains"


def test_behind_a_controller_nobody_waits_for_what_parity_must_read() -> None:
    """A drive's own cache reads before the write is done; the controller's when the arm comes to it, a turn more.

    What is read first doesn't wait until the head has settled, as a write does.
    """
    read_first = requests_until_done((0, 1, REWRITE))[0]
    assert read_first > 1
    assert requests_until_done((0, 1, REWRITE), device=BEHIND) == [0.04]
    per_s = {write: Bench(BEHIND, 40, write=write).run(60).per_s(write, 20, 60) for write in (WRITE, REWRITE)}
    longer = 1 / per_s[REWRITE] - 1 / per_s[WRITE]
    assert longer == pytest.approx(60 / 7200 - BEHIND.settle_ns / SECOND, rel=0.05)


def test_writes_that_follow_each_other_are_joined_and_others_arent() -> None:
    """A log of 4 KiB a flush through a full cache: sixteen times as fast as when each is written by itself."""

    def flushes_per_s(step: int) -> float:
        env, done = Environment(), 0
        station = new_device(env, BEHIND, 10_000)

        def log() -> Story:
            nonlocal done
            while True:
                yield station.submit(done * step, 4096, WRITE, "log")
                done += 1

        env.process(log())
        env.run(until=40 * SECOND)
        before = done
        env.run(until=60 * SECOND)
        return (done - before) / 20

    assert flushes_per_s(4096) > 16 * flushes_per_s(1 << 20)
