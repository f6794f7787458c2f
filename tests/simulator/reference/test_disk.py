"""A disk with an arm: its seek curve, what it takes next, and how many requests a second come out of a queue."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from oltpsim.simulator.form import RotatingDevice
from oltpsim.simulator.reference.device import READ, WRITE, Request
from oltpsim.simulator.reference.disk import PATIENCE_NS, DiskMechanics, Transfer
from oltpsim.simulator.reference.io_scheduler import IoScheduler
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import new_device

MS = 1_000_000
GIB = 1 << 30
REVOLUTION_NS = round(60e9 / 7200)
DISK = RotatingDevice(
    name="7,200 rpm",
    capacity_bytes=232 * GIB,
    revolution_ns=REVOLUTION_NS,
    track_bytes=512 << 10,
    seek_track_ns=800_000,
    seek_average_ns=8_900_000,
    seek_full_ns=18 * MS,
    overhead_ns=200_000,
    queue_depth=32,
    scheduler="look",
)
PAGE_BYTES = 8192
REQUEST = Request(0, PAGE_BYTES, READ, "test", Environment().event(), 0)


def disk_with(**changes: int | str) -> RotatingDevice:
    return dataclasses.replace(DISK, **changes)  # type: ignore[arg-type]


def seeks_ns(device: RotatingDevice, share: float = 1.0, pairs: int = 40_000) -> float:
    """Mean seek between even random places on the first `share` of the disk."""
    disk = DiskMechanics(device)
    places = np.random.default_rng(1).integers(0, int(device.capacity_bytes * share), (pairs, 2))
    return sum(disk.seek_ns(start, end) for start, end in places.tolist()) / pairs


def test_seek_curve_goes_through_the_data_sheet() -> None:
    """Next cylinder, full stroke, and the mean over random pairs; the same cylinder costs nothing."""
    disk = DiskMechanics(DISK)
    cylinder = 8 * DISK.track_bytes
    assert disk.seek_ns(0, cylinder - 1) == 0.0
    assert disk.seek_ns(0, cylinder) == pytest.approx(DISK.seek_track_ns, rel=0.1)
    assert disk.seek_ns(0, DISK.capacity_bytes) == pytest.approx(DISK.seek_full_ns, rel=1e-9)
    assert seeks_ns(DISK) == pytest.approx(DISK.seek_average_ns, rel=0.01)
    slower = disk_with(seek_average_ns=9_300_000)
    assert seeks_ns(slower) != pytest.approx(DISK.seek_average_ns, rel=0.01)


def test_mean_seek_of_a_linear_curve_is_a_third() -> None:
    """The random pair is a third of the disk apart: with a straight curve the mean seek is a third of the stroke."""
    straight = disk_with(seek_track_ns=1, seek_average_ns=6 * MS, seek_full_ns=18 * MS)
    disk = DiskMechanics(straight)
    half = straight.capacity_bytes // 2
    assert disk.seek_ns(0, half) == pytest.approx(9 * MS, rel=1e-6)
    assert seeks_ns(straight) == pytest.approx(18 * MS / 3, rel=0.01)
    assert DiskMechanics(DISK).seek_ns(0, half) > 1.05 * (DISK.seek_track_ns + DISK.seek_full_ns) / 2


def test_seeks_are_shorter_in_a_small_file() -> None:
    """Short stroke: on a share s of the disk the mean is track + b 8/15 sqrt(s) + c s/3."""
    full, track = DISK.seek_full_ns - DISK.seek_track_ns, DISK.seek_track_ns
    root = (DISK.seek_average_ns - track - full / 3) / (8 / 15 - 1 / 3)
    for share in (0.01, 0.1, 0.5):
        expected = track + root * 8 / 15 * math.sqrt(share) + (full - root) * share / 3
        assert seeks_ns(DISK, share) == pytest.approx(expected, rel=0.01)
        assert seeks_ns(DISK, share) < 0.97 * DISK.seek_average_ns


def test_head_waits_for_the_data_to_come_round() -> None:
    """Half a revolution on average from random instants; the next byte after a transfer is there at once."""
    disk = DiskMechanics(disk_with(overhead_ns=0))
    rng = np.random.default_rng(2)
    cases = zip(
        rng.integers(0, 10**10, 20_000).tolist(), rng.integers(0, DISK.track_bytes, 20_000).tolist(), strict=True
    )
    waits = [disk.positioning_ns(0, byte, disk.angle_at(now)) for now, byte in cases]
    assert sum(waits) / len(waits) == pytest.approx(REVOLUTION_NS / 2, rel=0.02)
    assert max(waits) < REVOLUTION_NS
    read_ns = int(disk.transfer_ns(4 * PAGE_BYTES))
    assert read_ns == pytest.approx(4 * PAGE_BYTES / DISK.track_bytes * REVOLUTION_NS, abs=1)
    assert disk.positioning_ns(4 * PAGE_BYTES, 4 * PAGE_BYTES, disk.angle_at(read_ns)) < 2
    late = disk.positioning_ns(4 * PAGE_BYTES, 4 * PAGE_BYTES, disk.angle_at(read_ns + 2))
    assert late == pytest.approx(REVOLUTION_NS, abs=3), "who comes too late waits for a whole turn"


def test_drive_takes_the_shortest_positioning_time() -> None:
    """Against every request tried by hand; a request held for longer than the drive's patience goes first."""
    rng = np.random.default_rng(4)
    disk = DiskMechanics(DISK)
    by_distance = 0
    for _ in range(200):
        count, arm, now = int(rng.integers(1, 33)), int(rng.integers(DISK.capacity_bytes)), int(rng.integers(10**12))
        places = rng.integers(0, DISK.capacity_bytes, 32)[:count].tolist()
        since = (now - rng.integers(0, PATIENCE_NS, 32))[:count].tolist()
        held = [Transfer(byte, PAGE_BYTES, at, REQUEST) for byte, at in zip(places, since, strict=True)]
        angle, overheads = disk.angle_at(now), [disk.overhead_left_ns(one, now) for one in held]
        times = [
            disk.positioning_ns(arm, byte, angle, overhead_ns=left)
            for byte, left in zip(places, overheads, strict=True)
        ]
        best = int(np.argmin(times))
        chosen, service_ns = disk.pick(held, arm, now)
        assert (chosen, service_ns) == (best, int(times[best] + disk.transfer_ns(PAGE_BYTES)))
        by_distance += int(np.argmin(np.abs(np.array(places) - arm))) == best
        waited = int(rng.integers(count))
        held[waited] = held[waited]._replace(since_ns=now - PATIENCE_NS - 1)
        assert disk.pick(held, arm, now)[0] == waited
    assert by_distance < 150, "the nearest request is another policy"


def served(device: RotatingDevice, first: list[int], later: list[int]) -> list[int]:
    """GiB of requests in the order of their completion: `first` at time 0, `later` when one of them is done."""
    env = Environment()
    station = new_device(env, device, 16)
    order: list[int] = []

    def request(gib: int) -> Story:
        yield station.submit(gib * GIB, PAGE_BYTES, False, "test")
        order.append(gib)
        if len(order) == 1:
            for other in later:
                env.process(request(other))

    for gib in first:
        env.process(request(gib))
    env.run(until=10**9)
    return order


def test_elevators_against_hand_made_orders() -> None:
    """Up to the last request, then down again (LOOK) or from the bottom (C-LOOK); or just in order of arrival."""
    requests = ([100, 200, 150], [120, 50, 20, 170])
    expected = {
        "look": [100, 150, 170, 200, 120, 50, 20],
        "c-look": [100, 150, 170, 200, 20, 50, 120],
        "fcfs": [100, 200, 150, 120, 50, 20, 170],
    }
    # the next request is on its way to the drive when 120 arrives, so the arm is past it
    for scheduler, order in expected.items():
        assert served(disk_with(scheduler=scheduler, queue_depth=1), *requests) == order
    assert len(set(map(tuple, expected.values()))) == 3


def requests_per_s(device: RotatingDevice, depth: int, write: int = READ, seconds: int = 40) -> float:
    """Reads or writes of random pages over the whole disk, `depth` of them always pending."""
    env = Environment()
    station = new_device(env, device, depth)
    rng = np.random.default_rng(5)
    places = itertools.cycle(rng.integers(0, device.capacity_bytes // PAGE_BYTES, 1 << 15).tolist())

    def client() -> Story:
        while True:
            yield station.submit(next(places) * PAGE_BYTES, PAGE_BYTES, write, "test")

    for _ in range(depth):
        env.process(client())
    env.run(until=seconds * 10**9)
    return (station.writes if write else station.reads) / seconds


def test_one_request_at_a_time_takes_overhead_seek_half_a_turn_and_transfer() -> None:
    """Depth 1 by hand; the published curve of a 7,200 rpm disk begins at 72 reads/s."""
    service_ns = DISK.overhead_ns + DISK.seek_average_ns + REVOLUTION_NS / 2
    service_ns += PAGE_BYTES / DISK.track_bytes * REVOLUTION_NS
    found = requests_per_s(DISK, 1)
    assert found == pytest.approx(1e9 / service_ns, rel=0.02)
    assert found == pytest.approx(72, rel=0.05)
    assert requests_per_s(disk_with(revolution_ns=6 * MS), 1) != pytest.approx(72, rel=0.05)


def test_requests_per_second_rise_with_depth_because_the_drive_sorts() -> None:
    """The published 131 reads/s at depth 32 are a drive that sorts 4 to 8 requests; all 32, ideally, would be 195.

    First come first served gains nothing from depth.
    """
    at_32 = [requests_per_s(disk_with(scheduler="fcfs", queue_depth=held), 32) for held in (1, 2, 4, 8, 16, 32)]
    assert at_32 == sorted(at_32)
    unsorted, _, four, eight, _, ideal = at_32
    assert unsorted == pytest.approx(requests_per_s(disk_with(scheduler="fcfs", queue_depth=1), 1), rel=0.02)
    assert four < 131 < eight
    assert ideal == pytest.approx(195, rel=0.03)
    by_depth = [requests_per_s(DISK, depth) for depth in (1, 4, 16, 64)]
    assert all(b > 1.05 * a for a, b in itertools.pairwise(by_depth))


def test_a_write_settles_and_another_head_takes_over() -> None:
    """On one track nothing moves; on another of the cylinder a head switches, a seek lasts as long at least."""
    device = disk_with(settle_ns=MS, head_switch_ns=600_000, heads=4)
    disk, track = DiskMechanics(device), device.track_bytes
    assert disk.seek_ns(0, track - 1, write=True) == 0.0
    assert disk.seek_ns(0, track) == 600_000
    assert disk.seek_ns(0, track, write=True) == 1_600_000
    beyond = disk.seek_ns(0, 4 * track)
    assert beyond > device.seek_track_ns
    assert disk.seek_ns(0, 4 * track, write=True) == beyond + MS
    assert DiskMechanics(dataclasses.replace(device, head_switch_ns=50 * MS)).seek_ns(0, 4 * track) == 50 * MS
    fewer = DiskMechanics(dataclasses.replace(device, heads=1))
    assert fewer.seek_ns(0, track) > 600_000, "then it is another cylinder"


def test_writes_are_slower_than_reads_by_the_settling_time() -> None:
    """One by one, anywhere: the difference that data sheets give."""
    device = disk_with(settle_ns=MS, scheduler="fcfs", queue_depth=1)
    reads, writes = (1e9 / requests_per_s(device, 1, write) for write in (READ, WRITE))
    assert writes - reads == pytest.approx(MS, rel=0.15)
    assert 1e9 / requests_per_s(disk_with(queue_depth=1), 1, WRITE) == pytest.approx(reads, rel=0.02)


def test_a_command_that_the_drive_holds_is_prepared_while_the_arm_is_at_work() -> None:
    """Of the overhead counts what is left: all of a lone request's, nothing of one that has waited as long."""
    disk = DiskMechanics(DISK)
    held = Transfer(0, PAGE_BYTES, 0, REQUEST)
    lefts = [disk.overhead_left_ns(held, now) for now in (0, DISK.overhead_ns // 4, DISK.overhead_ns, 10**9)]
    assert lefts == [DISK.overhead_ns, 0.75 * DISK.overhead_ns, 0.0, 0.0]
    slow = disk_with(overhead_ns=3 * MS)
    gains = [requests_per_s(DISK, depth) / requests_per_s(slow, depth) for depth in (1, 16)]
    assert gains[0] > 1.15
    assert gains[1] < 1.05


def test_deadline_serves_two_batches_of_reads_before_one_of_writes() -> None:
    """Each batch upwards, of 16 at most; writes alone are served at once."""
    scheduler, event = IoScheduler("deadline"), Environment().event()

    def add(count: int, write: int) -> None:
        for byte in range(count):
            scheduler.add(Request(byte, PAGE_BYTES, write, "test", event, 0))

    add(20, WRITE), add(40, READ)
    kinds = "".join("RW"[scheduler.take().write] for _ in range(60))
    assert kinds == 16 * "R" + 16 * "R" + 16 * "W" + 8 * "R" + 4 * "W"
    add(3, WRITE)
    assert [scheduler.take().write for _ in range(3)] == [WRITE] * 3
    look = IoScheduler("look")
    for write in (WRITE, READ):
        look.add(Request(5, PAGE_BYTES, write, "test", event, 0))
    assert look.take().write == WRITE, "in order of arrival"
