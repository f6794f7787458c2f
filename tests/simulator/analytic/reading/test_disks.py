"""Service times of an arm by queue length, against the disk itself; a drive that doesn't sort is refused."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from oltpsim.simulator.analytic.reading.disks import QUEUES, service_s, turns
from oltpsim.simulator.form import FlashDevice, RotatingDevice
from oltpsim.simulator.reference.device import READ, Request
from oltpsim.simulator.reference.disk import DiskMechanics, Transfer
from oltpsim.simulator.reference.stations import Environment

MS = 1_000_000
PAGE = 8192
FAST = RotatingDevice(
    name="15,000 rpm", capacity_bytes=146 * 10**9, revolution_ns=4 * MS, track_bytes=400_000,
    seek_track_ns=300_000, seek_average_ns=3_500_000, seek_full_ns=7_500_000, overhead_ns=100_000, queue_depth=64,
    scheduler="look",
)  # fmt: skip
SLOW = RotatingDevice(
    name="7,200 rpm", capacity_bytes=500 * 10**9, revolution_ns=8_333_333, track_bytes=800_000,
    seek_track_ns=900_000, seek_average_ns=8_500_000, seek_full_ns=18 * MS, overhead_ns=300_000, queue_depth=64,
    scheduler="look",
)  # fmt: skip
FLASH = FlashDevice("flash", read_ns=100_000, write_ns=250_000, parallel=4)
SERVED, TOLERANCE = 10_000, 0.08


@cache
def simulated_s(device: RotatingDevice, requests: int, span: float) -> float:
    """Mean service of a drive that always holds so many requests to pages within `span`."""
    places = (np.random.default_rng(7).random(SERVED + requests) * span // PAGE * PAGE).astype(int).tolist()
    disk, env, now, arm = DiskMechanics(device), Environment(), 0, 0
    request = Request(0, PAGE, READ, "data read", env.event(), 0)
    held = [Transfer(place, PAGE, 0, request) for place in places[:requests]]
    for place in places[requests:]:
        chosen, service_ns = disk.pick(held, arm, now)
        now += service_ns
        arm = held[chosen].byte
        held[chosen] = Transfer(place, PAGE, now, request)
    return now / SERVED / 1e9


def predicted_s(device: RotatingDevice, requests: int, span: float) -> float:
    return at_queue(service_s(device, span, PAGE, False), requests)


def at_queue(table: tuple[float, ...], requests: int) -> float:
    """A table's time for a queue, between its points straight over the logarithm."""
    return float(np.interp(np.log(requests), np.log(QUEUES), table))


def is_refused(found: float, expected: float) -> bool:
    return abs(expected / found - 1.0) > TOLERANCE


@pytest.mark.parametrize("device", [FAST, SLOW], ids=lambda device: device.name)
@pytest.mark.parametrize("part", [0.1, 0.8])
@pytest.mark.parametrize("requests", [1, 8, 64])
def test_an_arm_takes_as_long_as_predicted(device: RotatingDevice, part: float, requests: int) -> None:
    span = part * device.capacity_bytes
    found = simulated_s(device, requests, span)
    assert not is_refused(found, predicted_s(device, requests, span))
    other = SLOW if device is FAST else FAST
    assert is_refused(found, predicted_s(other, requests, part * other.capacity_bytes))
    if requests > 1:
        assert is_refused(found, predicted_s(replace(device, queue_depth=1), 1, span))


def test_a_faster_platter_is_refused() -> None:
    span = 0.5 * FAST.capacity_bytes
    wrong = replace(FAST, revolution_ns=FAST.revolution_ns * 2)
    assert is_refused(simulated_s(FAST, 8, span), predicted_s(wrong, 8, span))
    assert not is_refused(simulated_s(wrong, 8, span), predicted_s(wrong, 8, span))


@pytest.mark.parametrize("device", [FAST, SLOW, replace(FAST, queue_depth=4)])
def test_times_fall_with_the_queue_and_rise_with_the_span(device: RotatingDevice) -> None:
    tables = np.array([service_s(device, part * device.capacity_bytes, PAGE, False) for part in (0.05, 0.2, 0.5, 1.0)])
    assert (np.diff(tables, axis=1) <= 1e-12).all()
    assert (np.diff(tables, axis=0) > 0).all()
    assert not (np.diff(tables[:, ::-1], axis=1) <= 1e-12).all()
    assert (tables > device.overhead_ns * 1e-9).all()


def test_a_larger_transfer_takes_longer() -> None:
    small, large = (np.array(service_s(FAST, 1e10, size, True)) for size in (PAGE, 2 * PAGE))
    assert large - small == pytest.approx(PAGE / FAST.track_bytes * FAST.revolution_ns * 1e-9)


def test_a_flash_device_takes_the_same_time_for_any_queue() -> None:
    assert service_s(FLASH, 1e10, PAGE, False) == pytest.approx([100e-6] * len(QUEUES))
    assert service_s(FLASH, 1e12, PAGE, False) == service_s(FLASH, 1e10, PAGE, False)
    assert service_s(FLASH, 1e10, PAGE, True) == pytest.approx([250e-6] * len(QUEUES))
    assert service_s(FLASH, 1e10, PAGE, True) != pytest.approx(service_s(FLASH, 1e10, PAGE, False))


# A request at the edge


def counted_turns(requests: int, span: float) -> float:
    """One by the chance that an arm anywhere reaches the edge before so many requests anywhere."""
    rng, disk, tries = np.random.default_rng(5), DiskMechanics(FAST), 20_000
    first = 0
    for _ in range(tries):
        arm, *others = (2.0 * PAGE + rng.random(requests + 1) * span).astype(int).tolist()
        angle = rng.random()
        edge = disk.positioning_ns(arm, 0, angle)
        first += all(edge < disk.positioning_ns(arm, other, angle) for other in others)
    return tries / first


@pytest.mark.parametrize("requests", [1, 3, 8])
def test_an_arm_leaves_a_request_at_the_edge_for_later(requests: int) -> None:
    span = 20e9
    found = counted_turns(requests, span)
    assert at_queue(turns(FAST, 2.0 * PAGE, span, PAGE), requests) == pytest.approx(found, rel=0.08)
    assert found > 1.1 * (requests + 1.0)


def test_flash_takes_requests_as_they_come() -> None:
    assert set(turns(FLASH, 0.0, 20e9, PAGE)) == {1.0}
