"""RAID sets: where their bytes lie, and what levels cost, against arithmetic by hand and against plain disks."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.simulator.form import DeviceRecord, FlashDevice, RaidSet, RotatingDevice, Storage
from oltpsim.simulator.form.limiters import limiters_of
from oltpsim.simulator.reference.device import READ, REWRITE, WRITE, DeviceStation
from oltpsim.simulator.reference.raid import StripeLayout
from oltpsim.simulator.reference.stations import Environment
from oltpsim.simulator.reference.storage import new_devices
from tests.simulator.systems import RAID_SETS
from tests.simulator.test_ssd import READ_US, SSD

MS, PAGE, UNIT = 1_000_000, 8192, 1 << 16
FLASH = FlashDevice("flash", read_ns=2 * MS, write_ns=3 * MS, parallel=1)
SEEK, REVOLUTION = 5 * MS, 6 * MS
ARM = RotatingDevice(
    "arm", capacity_bytes=1 << 36, revolution_ns=REVOLUTION, track_bytes=1 << 19, seek_track_ns=SEEK,
    seek_average_ns=SEEK, seek_full_ns=SEEK, overhead_ns=0, queue_depth=1, scheduler="fcfs",
)  # fmt: skip
"""first come first served, and every seek takes the same time"""
SORTING = replace(ARM, seek_track_ns=MS // 2, seek_full_ns=10 * MS, queue_depth=4, scheduler="look")
FILE_PAGES = 100_000
layouts = st.sampled_from(RAID_SETS)


def raid_set(disk: DeviceRecord, disks: int, copies: int = 1, parities: int = 0, unit: int = UNIT) -> RaidSet:
    return RaidSet("set", (disk,) * disks, unit, copies, parities)


def storage_of(*devices: DeviceRecord, calls: int = 10_000) -> Storage:
    return Storage(devices, len(devices), 0, PAGE, 0, 0, 0, 0, 1, 1, requests_per_device=calls)


class Bench:
    """Requests for devices, without any database: `clients` programs, each with one request at a time.

    The pages are the same for every bench: `clients` x `each` at random, page p at device p % devices, as a database
    stripes them.
    """

    def __init__(
        self, *devices: DeviceRecord, clients: int, each: int, write: int, seed: int = 1, calls: int = 10_000
    ) -> None:
        self.env = Environment()
        self.storage = storage_of(*devices, calls=calls)
        self.stations = new_devices(self.env, self.storage, (), limiters_of(self.storage, None).stages)
        self.ends: list[int] = []
        pages = np.random.default_rng(seed).integers(0, FILE_PAGES, (clients, each)).tolist()
        for own in pages:
            self.env.process(self._client(own, write))
        self.env.run()

    def _client(self, pages: list[int], write: int) -> Iterator[Any]:
        count = self.storage.data_devices
        for page in pages:
            yield from self.stations[page % count].call(page // count * PAGE, PAGE, write, "data read")
            self.ends.append(self.env.now)

    @property
    def disks(self) -> list[DeviceStation]:
        """Those of the sets."""
        return self.stations[self.storage.data_devices :]

    @property
    def mean_ms(self) -> float:
        """Mean response time of one client's requests."""
        return self.ends[-1] / len(self.ends) / MS

    @property
    def per_s(self) -> float:
        """Requests per second until nine in ten are done: then the last clients run out of work."""
        count = len(self.ends) * 9 // 10
        return count / self.ends[count] * 1e9


# Where bytes lie


def parts(of: RaidSet, byte: int, size: int, write: int) -> dict[int, tuple[int, int]]:
    """First byte and end on each disk or pair that a request touches."""
    layout = StripeLayout(len(of.disks) // of.copies, of.parities, of.unit_bytes)
    found = {place: layout.part_at(place, byte, size, write) for place in range(layout.places)}
    return {place: part for place, part in found.items() if part[1]}


def test_the_first_stripes_of_four_disks_are_as_the_drawing() -> None:
    """Left-symmetric, as in the documentation of Linux's md: parity of stripe 0 on the last disk, data behind it."""
    drawing = ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11", "12 13 14 P"]
    of = raid_set(FLASH, 4, parities=1)
    for stripe, row in enumerate(drawing):
        for place, cell in enumerate(row.split()):
            if cell != "P":
                here = stripe * UNIT, (stripe + 1) * UNIT
                written = parts(of, int(cell) * UNIT, UNIT, WRITE)
                assert written == {place: here, row.split().index("P"): here}
                assert parts(of, int(cell) * UNIT, UNIT, READ) == {place: here}


@given(layout=layouts, unit=st.integers(1, 5), byte=st.integers(0, 60), size=st.integers(1, 40))
def test_requests_touch_just_the_bytes_that_a_plain_count_finds(
    layout: tuple[int, int, int], unit: int, byte: int, size: int
) -> None:
    disks, copies, parities = layout
    of = raid_set(FLASH, disks, copies, parities, unit)
    touched: dict[int, list[int]] = {}
    for one in range(byte, byte + size):
        stripe, inside = divmod(one, of.data_units * unit)
        column, offset = divmod(inside, unit)
        place = (disks // copies - 1 - stripe + parities + column) % (disks // copies) if parities else column
        touched.setdefault(place, []).append(stripe * unit + offset)
    read = parts(of, byte, size, READ)
    assert read == {place: (min(bytes_), max(bytes_) + 1) for place, bytes_ in touched.items()}
    written = parts(of, byte, size, WRITE)
    assert len(written) <= disks // copies
    for place, (low, high) in read.items():
        assert written[place][0] <= low
        assert written[place][1] >= high
    stripes = (byte + size - 1) // (of.data_units * unit) - byte // (of.data_units * unit) + 1
    assert len(written) == min(len(read) + parities, disks // copies) or stripes > 1


def test_only_whole_stripes_are_written_without_reading() -> None:
    stripe = 3 * UNIT
    for byte, size, asked in (
        (stripe, stripe, WRITE), (0, 2 * stripe, WRITE), (0, stripe - PAGE, REWRITE),
        (PAGE, stripe, REWRITE), (0, PAGE, REWRITE),
    ):  # fmt: skip
        assert StripeLayout(4, 1, UNIT).asked_of_disks(byte, size, WRITE) == asked
        assert StripeLayout(4, 0, UNIT).asked_of_disks(byte, size, WRITE) == WRITE
        assert StripeLayout(4, 1, UNIT).asked_of_disks(byte, size, READ) == READ


# What a request costs


@pytest.mark.parametrize(
    ("disks", "copies", "parities", "write_ms", "writes"),
    [(2, 1, 0, 3, 1), (2, 2, 0, 3, 2), (4, 2, 0, 3, 2), (3, 1, 1, 5, 2), (4, 1, 2, 5, 3)],
)
def test_one_request_on_idle_flash(disks: int, copies: int, parities: int, write_ms: int, writes: int) -> None:
    """Reads take the read's latency on one disk; writes one write on all copies, or a read and a write with parity."""
    of = raid_set(FLASH, disks, copies, parities)
    read = Bench(of, clients=1, each=20, write=READ)
    assert (read.mean_ms, sum(disk.reads for disk in read.disks)) == (2.0, 20)
    write = Bench(of, clients=1, each=20, write=WRITE)
    assert (write.mean_ms, sum(disk.writes for disk in write.disks)) == (write_ms, 20 * writes)
    assert sum(disk.service_ns for disk in write.disks) == 20 * writes * write_ms * MS


def test_whole_stripes_cost_no_reads() -> None:
    env, storage = Environment(), storage_of(raid_set(FLASH, 4, parities=1))
    station = new_devices(env, storage, (), limiters_of(storage, None).stages)[0]
    for size, took_ms in ((3 * UNIT, 3), (3 * UNIT - PAGE, 5)):
        began = env.now
        env.run(until=station.submit(0, size, WRITE, "log"))
        assert env.now - began == took_ms * MS


def test_a_small_write_with_parity_takes_one_turn_more() -> None:
    """One client, first come first served, all seeks equal: seek + half a turn + transfer; and a whole turn more.

    Both disks of a write seek for the same time and turn in step, so that the later one is no later.
    """
    plain_ms = (SEEK + REVOLUTION / 2 + PAGE / (1 << 19) * REVOLUTION) / MS
    raid0, raid5, raid6 = (
        Bench(raid_set(ARM, 6, parities=parities), clients=1, each=3000, write=WRITE).mean_ms for parities in (0, 1, 2)
    )
    error_ms = 4 * REVOLUTION / MS / np.sqrt(12 * 3000)
    assert raid0 == pytest.approx(plain_ms, abs=error_ms)
    assert raid5 == pytest.approx(plain_ms + REVOLUTION / MS, abs=error_ms)
    assert raid6 == pytest.approx(plain_ms + REVOLUTION / MS, abs=error_ms)
    assert raid5 != pytest.approx(plain_ms, abs=error_ms)
    assert raid0 != pytest.approx(plain_ms + REVOLUTION / MS, abs=error_ms)


@pytest.mark.parametrize(("parities", "writes"), [(1, 2), (2, 3)])
def test_saturated_small_writes_take_all_disks_time(parities: int, writes: int) -> None:
    """The small-write penalty: n disks do n / (2 (S + turn)) writes/s with one parity, two thirds of it with two."""
    service_s = (SEEK + REVOLUTION / 2 + PAGE / (1 << 19) * REVOLUTION) / 1e9
    bench = Bench(raid_set(ARM, 6, parities=parities), clients=120, each=100, write=WRITE)
    assert bench.per_s == pytest.approx(6 / (writes * (service_s + REVOLUTION / 1e9)), rel=0.04)
    for wrong in (6 / (writes * service_s), 6 / ((writes - 1) * (service_s + REVOLUTION / 1e9))):
        assert bench.per_s != pytest.approx(wrong, rel=0.2)


# Sets against plain disks


@pytest.mark.parametrize("disk", [FLASH, ARM, SORTING], ids=["flash", "arm", "sorting arm"])
@pytest.mark.parametrize("write", [READ, WRITE])
def test_raid_0_of_page_units_is_independent_disks(disk: DeviceRecord, write: int) -> None:
    """A set whose unit is a page puts page p where a database does that stripes pages over files: the same instants."""
    plain = Bench(*(disk,) * 3, clients=12, each=60, write=write)
    assert Bench(raid_set(disk, 3, unit=PAGE), clients=12, each=60, write=write).ends == plain.ends
    assert Bench(raid_set(disk, 4, unit=PAGE), clients=12, each=60, write=write).ends != plain.ends


def test_calls_of_a_set_are_limited_all_together() -> None:
    """Independent disks have so many calls each; a set's one file has them for all its disks."""
    requests = {"clients": 12, "each": 60, "write": READ}
    set_one, set_two = (Bench(raid_set(FLASH, 4, unit=PAGE), calls=calls, **requests) for calls in (1, 2))
    assert set_one.mean_ms == 2.0
    assert 1.0 < set_two.mean_ms < 2.0
    assert Bench(*(FLASH,) * 4, calls=1, **requests).mean_ms < 1.0


@pytest.mark.parametrize("disk", [FLASH, ARM, SORTING], ids=["flash", "arm", "sorting arm"])
def test_pairs_write_as_half_the_disks_do(disk: DeviceRecord) -> None:
    """Both of a pair do the same at the same time."""
    half = Bench(raid_set(disk, 3), clients=12, each=60, write=WRITE)
    assert Bench(raid_set(disk, 6, copies=2), clients=12, each=60, write=WRITE).ends == half.ends
    assert Bench(raid_set(disk, 6), clients=12, each=60, write=WRITE).per_s > 1.3 * half.per_s


def test_a_pair_reads_where_fewer_wait() -> None:
    """The shorter of two queues: better than chance, and far better than one disk."""
    pairs, plain, half = (
        Bench(raid_set(ARM, disks, copies), clients=12, each=400, write=READ).per_s
        for disks, copies in ((6, 2), (6, 1), (3, 1))
    )
    assert pairs > 1.03 * plain
    assert plain > 1.2 * half


@pytest.mark.uncounted
@settings(max_examples=25, deadline=None)
@given(
    disks=st.sampled_from([4, 6, 8]),
    clients=st.integers(1, 40),
    seed=st.integers(1, 999),
    disk=st.sampled_from([FLASH, ARM]),
)
def test_levels_come_in_their_order(disks: int, clients: int, seed: int, disk: DeviceRecord) -> None:
    """Writes: RAID 6 <= RAID 5 <= RAID 10 <= RAID 0. Reads: more disks are never slower, nor is a copy more."""

    def rate(count: int, copies: int, parities: int, write: int) -> float:
        each = 1200 // clients
        return Bench(raid_set(disk, count, copies, parities), clients=clients, each=each, write=write, seed=seed).per_s

    writes = [rate(disks, *level, WRITE) for level in ((1, 2), (1, 1), (2, 0), (1, 0))]
    assert all(slow <= 1.02 * fast for slow, fast in itertools.pairwise(writes))
    for level in ((1, 0), (2, 0), (1, 1)):
        assert rate(disks, *level, READ) <= 1.03 * rate(disks + 2, *level, READ)
    assert rate(disks, 1, 0, READ) <= 1.03 * rate(disks, 2, 0, READ)


def synced_write_us(disk: DeviceRecord, layout: tuple[int, int, int], synced: bool = True) -> float:
    """When a write of a page at the start of a set is done while its last disk reads 64 pages."""
    env, storage = Environment(), storage_of(raid_set(disk, *layout))
    whole, *disks = new_devices(env, storage, (), limiters_of(storage, None).stages)
    for number in range(64):
        disks[-1].submit(number * PAGE, PAGE, READ, "data read")
    ends = []
    whole.submit(0, PAGE, WRITE, "log", synced).callbacks.append(lambda _: ends.append(env.now / 1000))
    env.run(until=1000 * MS)
    assert (whole.arrived, whole.writes) == (1, 1)
    assert [disk.arrived - disk.reads - disk.writes for disk in disks] == [0] * len(disks), "flushes aren't counted"
    return float(ends[0])


def test_a_synced_write_is_followed_by_a_flush_of_all_disks() -> None:
    """Also of the one that reads, which a flush that is done alone waits for; disks without flushes get none."""
    plain = replace(SSD, program_ns=1, flush_ns=0)
    sata = replace(plain, flush_ns=MS, flushes_alone=1)
    alone = synced_write_us(plain, (4, 1, 0))
    assert synced_write_us(replace(plain, flush_ns=MS), (4, 1, 0)) == alone + 1000, "all at the same time"
    reads_us = READ_US + 63 * (2 + 2) + 2 + 2
    assert alone < reads_us < synced_write_us(sata, (4, 1, 0)) - 1000 + 1
    assert synced_write_us(sata, (4, 2, 0)) == synced_write_us(sata, (4, 1, 0)), "copies are written at once"
    assert synced_write_us(sata, (4, 1, 0), synced=False) == alone, "who doesn't ask doesn't wait"
    assert synced_write_us(replace(plain, is_volatile=1, flush_ns=MS), (2, 1, 0)) > alone + 1000
