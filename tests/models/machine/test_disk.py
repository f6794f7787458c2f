"""Disks of the catalogue do, in the simulator, about what their sources say they do."""

import itertools
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from oltpsim.models.catalogue import catalogue_names, read_entry
from oltpsim.models.machine import DiskSpec, RotatingDiskSpec, SsdSpec
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import new_device

BYTES = 4096
GIB = 1 << 30


class Stated(NamedTuple):
    """Random requests of 4 KiB a second that an entry's source states, over the whole disk at a depth."""

    disk: str
    depth: int
    per_s: float
    write: bool = False
    within: float = 0.05


ROTATING = (
    Stated("samsung-f1-1000", 1, 72),
    Stated("samsung-f1-1000", 32, 131),  # fitted: queue_depth
    Stated("hitachi-travelstar-7k100", 1, 66),
    Stated("hitachi-travelstar-7k100", 32, 110),  # fitted: queue_depth
    Stated("wd-raptor-740", 1, 123),  # fitted: overhead_ms
    Stated("quantum-atlas-10k", 1, 105, within=0.12),
    Stated("sata-7200-2005", 1, 72),
)
FLASH = (
    ("intel-x25-e-32", 35_000, 3_300),
    ("intel-x25-m-80", 35_000, 6_600),
    ("intel-dc-s3700-400", 75_000, 36_000),
    ("intel-dc-p3700-800", 460_000, 90_000),
    ("intel-dc-p4510-2000", 637_000, 81_500),
    ("intel-optane-900p-480", 550_000, 500_000),
    ("intel-optane-p4800x-375", 550_000, 500_000),
    ("samsung-840-pro-256", 100_000, 90_000),
    ("samsung-970-pro-512", 370_000, 500_000),
    ("samsung-pm1733-3840", 1_500_000, 135_000),
    ("samsung-860-pro", 74_000, 60_000),
    ("intel-d3-s4610-480", 76_000, 65_000),
    ("kingston-dc500m", 74_000, 64_000),
    ("crucial-mx200", 47_300, 6_850),
    ("aws-i4i-nvme", 400_000, 220_000),
    ("aws-i3en-nvme", 255_000, 195_000),
    ("aws-i7ie-nvme", 324_800, 259_800),
)
ONE_BY_ONE = (
    Stated("samsung-840-pro-256", 1, 9_900),
    Stated("samsung-970-pro-512", 1, 15_000),
    Stated("samsung-860-pro", 1, 9_200),
    Stated("intel-d3-s4610-480", 1, 15_500),
    Stated("crucial-mx200", 1, 6_600),
    Stated("kingston-dc500m", 4, 32_000, within=0.06),  # not used for the entry
    Stated("kingston-dc500m", 1, 21_200, write=True),
    Stated("samsung-860-pro", 1, 20_100, write=True, within=0.12),
    Stated("crucial-mx200", 1, 7_400, write=True, within=0.1),
)
"""of flash, one request at a time or few"""


FULL_DEPTH = 1024
FILLS = 20_000
"""writes of a full depth, which fill any buffer"""


@cache
def disk(name: str) -> DiskSpec:
    found: DiskSpec = read_entry("disks", name)
    return found


def requests_per_s(spec: DiskSpec, depth: int, write: bool, before_s: float = 0.0) -> float:
    """Random requests over the whole disk with `depth` of them always waiting or served, after so many seconds."""
    env = Environment()
    station = new_device(env, spec.device("disk"), depth)
    rng = np.random.default_rng(7)
    places = itertools.cycle(rng.integers(0, int(spec.capacity_gib * GIB) // BYTES, 1 << 13).tolist())

    def client() -> Story:
        while True:
            yield station.submit(next(places) * BYTES, BYTES, write, "test")

    for _ in range(depth):
        env.process(client())
    seconds = 40.0 if isinstance(spec, RotatingDiskSpec) else 0.02
    if before_s:
        env.run(until=round(before_s * 1e9))
    before = station.reads + station.writes
    env.run(until=round((before_s + seconds) * 1e9))
    return (station.reads + station.writes - before) / seconds


@pytest.mark.parametrize("stated", [*ROTATING, *ONE_BY_ONE], ids=lambda stated: f"{stated.disk}-{stated.depth}")
def test_a_disk_does_what_its_source_says(stated: Stated) -> None:
    found = requests_per_s(disk(stated.disk), stated.depth, stated.write)
    assert found == pytest.approx(stated.per_s, rel=stated.within)


@pytest.mark.parametrize(("name", "reads_per_s", "writes_per_s"), FLASH)
def test_flash_does_the_stated_rates_at_full_depth(name: str, reads_per_s: float, writes_per_s: float) -> None:
    spec = disk(name)
    assert isinstance(spec, SsdSpec)
    assert requests_per_s(spec, FULL_DEPTH, write=False) == pytest.approx(reads_per_s, rel=0.02)
    stated = spec.writes_per_s if writes_per_s == spec.writes_per_s else spec.sustained_writes_per_s
    assert stated == writes_per_s
    sustained = spec.sustained_writes_per_s or spec.writes_per_s
    assert requests_per_s(spec, FULL_DEPTH, write=True, before_s=FILLS / sustained) == pytest.approx(
        sustained, rel=0.05
    )
    figure = f"{reads_per_s:,} "
    assert figure in spec.source, "the figure is the source's"
    assert f"{writes_per_s:,} " in spec.source
    slower = spec.model_copy(update={"dies": 2, "read_latency_us": 4 * spec.read_latency_us})
    assert requests_per_s(slower, FULL_DEPTH, write=False) < 0.9 * reads_per_s, "the negative twin"


NO_DATA_SHEET = ("assumption: typical", "Fitted to occupied time")
"""of disks that nobody names, or whose times were fitted to a run"""


def test_every_entry_with_a_maker_has_its_figures_here_or_says_that_its_source_has_none() -> None:
    held = {row[0] for row in FLASH} | {stated.disk for stated in ROTATING}
    for name in catalogue_names("disks"):
        spec = disk(name)
        if isinstance(spec, SsdSpec) and not any(words in spec.source for words in NO_DATA_SHEET):
            assert name in held


def test_seeks_are_in_order_and_a_faster_turning_disk_does_more() -> None:
    by_rpm: dict[int, list[float]] = {}
    for name in catalogue_names("disks"):
        spec = disk(name)
        if isinstance(spec, RotatingDiskSpec):
            assert spec.seek_track_to_track_ms < spec.seek_average_ms < spec.seek_full_stroke_ms
            half_turn_ms = 30_000 / spec.rpm
            by_rpm.setdefault(spec.rpm, []).append(1000 / (spec.overhead_ms + spec.seek_average_ms + half_turn_ms))
    means = [np.mean(by_rpm[rpm]) for rpm in sorted(by_rpm)]
    assert means == sorted(means)
