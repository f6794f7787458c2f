"""Entries of fitted disks: in the simulator they do what was measured; what isn't shown is assumed or refused."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from oltpsim.calibration.fit.disk_entry import disk_capacity_gib, fitted_entry
from oltpsim.calibration.fit.disk_kinds import TableFit, disk_table, fit_table
from oltpsim.calibration.importers.registry import read_file
from oltpsim.models.input import SourceFile
from oltpsim.models.machine import DiskArraySpec, FlashDiskSpec, RotatingDiskSpec, SsdSpec
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of
from tests.models.machine.test_disk import requests_per_s

DATA = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "fio" / "fio_plot.csv"


@cache
def fitted(device: str, rpm: float = 7200.0) -> TableFit:
    """The kind that a measured device of the file fits best."""
    reading = read_file(SourceFile(DATA, DATA.name))
    assert reading is not None
    return fit_table(disk_table([point for point in reading.disk if device in point.device], rpm))[0]


@pytest.mark.parametrize("device", ["CRUCIAL_MX200_behind", "DC500M", "860_PRO", "S4610", "RAID0"])
def test_ssds_are_flash_and_their_entries_do_what_was_measured(device: str) -> None:
    fit = fitted(device)
    assert fit.kind.name == "flash"
    spec = fitted_entry(fit, device, 447.0).spec
    assert isinstance(spec, SsdSpec)
    table, fitted_per_s = fit.table, fit.table.per_s * (1.0 + fit.off)
    for write in (False, True):
        for depth in (1, 256):
            here = (table.in_flight == depth) & (table.write_fraction == write)
            before_s = 20_000 / spec.writes_per_s if write else 0.0
            found = requests_per_s(spec, depth, write, before_s)
            assert found == pytest.approx(float(fitted_per_s[here].mean()), rel=0.05), f"{depth}, {write}"
            if depth > 1:
                assert found == pytest.approx(float(table.per_s[here].mean()), rel=0.1)
    slower = spec.model_copy(update={"reads_per_s": spec.reads_per_s / 2})
    most = float(table.per_s[table.write_fraction == 0].max())
    assert requests_per_s(slower, 256, write=False) < 0.6 * most, "the negative twin"


def test_a_hard_disk_is_an_arm_behind_its_cache() -> None:
    fit = fitted("F1")
    assert fit.kind.name == "arm behind a cache"
    spec = fitted_entry(fit, "F1", 931.0).spec
    assert isinstance(spec, RotatingDiskSpec)
    assert requests_per_s(spec, 32, write=False) == pytest.approx(131, rel=0.1)
    assert requests_per_s(spec, 32, write=True, before_s=60.0) == pytest.approx(150, rel=0.1)
    slower = spec.model_copy(update={"write_cache_mib": 0.0, "queue_depth": 1})
    assert requests_per_s(slower, 32, write=True, before_s=60.0) < 70, "the negative twin"


def test_a_raid_set_is_an_array_behind_a_cache() -> None:
    fit = fitted("HighPoint")
    assert fit.kind.name == "array behind a cache"
    entry = fitted_entry(fit, "HighPoint", 700.0)
    assert isinstance(entry.spec, DiskArraySpec)
    assert entry.place == "machine.disks"
    low, high = fit.intervals["arms"]
    assert low <= 8 <= high, "the set has eight disks"
    assert entry.spec.controller_cache is not None
    layout = entry.spec.layout
    assert layout is not None
    data = entry.spec.count // layout.copies - layout.parities
    assert entry.spec.disk.capacity_gib * data == pytest.approx(700, rel=0.01)
    assert any("if it is another, write it" in line for line in entry.assumptions)


def test_intervals_and_assumptions_stay_with_the_entry() -> None:
    entry = fitted_entry(fitted("S4610"), "S4610", 447.0)
    keys = entry.keys()
    low, high = fitted("S4610").intervals["writes_per_s"]
    assert f"writes_per_s {keys['writes_per_s']:.4g} ({low:.4g} to {high:.4g})" in keys["source"]
    assert "Assumptions: read_mib_per_s is that of the 4-KiB reads" in keys["source"]
    assert "power-loss protection" in keys["source"]
    flushed = replace(fitted("S4610"), table=replace(fitted("S4610").table, flush_us=1600.0))
    keys = fitted_entry(flushed, "S4610", 447.0).keys()
    assert (keys["flush_us"], keys["power_loss_protection"]) == (1600.0, False)
    assert "power-loss" not in keys["source"]


def test_an_entry_needs_what_the_points_show() -> None:
    fit = fitted("S4610")
    unknown = replace(fit, intervals={**fit.intervals, "read_latency_us": (1.0, 100.0)})
    with pytest.raises(InputError, match=r"don't show read_latency_us; expected reads alone and writes alone"):
        fitted_entry(unknown, "S4610", 447.0)
    with pytest.raises(InputError, match=r"add --capacity, such as --capacity 931GiB"):
        disk_capacity_gib(fit.table, None)
    with pytest.raises(InputError, match=r"--capacity: got '931'; text needs a unit"):
        disk_capacity_gib(fit.table, "931")
    assert disk_capacity_gib(fit.table, "1 TiB") == 1024.0


def few(*names: str) -> TableFit:
    """The only fit of fewer than four depths."""
    points = [point for name in names for point in reading_of(SAMPLES / "fio" / f"{name}.json").disk]
    (fit,) = fit_table(disk_table(points, 7200.0))
    return fit


def test_few_depths_are_servers_of_the_measured_latency() -> None:
    fit = few("fifo200.qd1", "fifo200.qd4", "fifo200.qd16")
    assert fit.error < 0.03
    entry = fitted_entry(fit, "a disk", 100.0)
    assert isinstance(entry.spec, FlashDiskSpec)
    assert (entry.spec.parallel_requests, entry.spec.capacity_gib) == (1, 100)
    assert entry.spec.read_latency_us == 5270
    assert "1 to 16 in flight" in entry.spec.source
    assert "a write takes as long" in entry.spec.source
    assert not any("is that of the disk alone" in line for line in entry.assumptions)


def test_few_depths_of_a_mix_have_two_latencies_and_share_the_depth() -> None:
    fit = few("randrw_8k_qd8")
    assert fit.numbers == pytest.approx(
        {"read_latency_us": 263.285, "write_latency_us": 311.894, "parallel_requests": 8.0}
    )
    assert fit.error < 0.03
    assert any("with 8 in flight is that of the disk alone" in a for a in fitted_entry(fit, "d", 1024.0).assumptions)


def test_few_depths_that_are_no_servers_are_far_off() -> None:
    assert few("fifo200.qd1", "randrw_8k_qd8").error > 0.4
    points = reading_of(SAMPLES / "fio/fifo200.qd1.json").disk
    with pytest.raises(InputError, match=r"got blocks of 4 KiB and 8 KiB; expected one size, or results at four"):
        fit_table(disk_table([*points, replace(points[0], file="b.json", block_kib=4.0)], 7200.0))
