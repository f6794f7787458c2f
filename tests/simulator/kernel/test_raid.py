"""RAID sets in both engines: one trajectory, and what a result says of a set and its disks."""

from dataclasses import replace

import numpy as np
import pytest

from oltpsim.simulator import kernel
from oltpsim.simulator.form import DeviceRecord, RaidSet, RotatingDevice, SsdDevice
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_busy
from tests.simulator.reference.test_raid import FLASH, SORTING, raid_set
from tests.simulator.systems import RAID_SETS
from tests.simulator.test_ssd import SSD
from tests.simulator.twins import differences, with_value


def busy_result(of: RaidSet) -> Result:
    return kernel.simulate(make_busy(devices=(of,), requests_per_device=6, clients=8, merged_pages=4), 3)


@pytest.mark.parametrize("layout", RAID_SETS)
@pytest.mark.parametrize("disk", [FLASH, SORTING], ids=["flash", "arm"])
def test_kernel_and_reference_agree_on_a_busy_machine(disk: DeviceRecord, layout: tuple[int, int, int]) -> None:
    of = raid_set(
        replace(disk, capacity_bytes=1 << 31) if isinstance(disk, RotatingDevice) else disk, *layout, unit=1 << 14
    )
    model = make_busy(devices=(of,), requests_per_device=6, clients=8, merged_pages=4, resident_pages=40, duration_s=2)
    assert not differences(model, 3)
    assert not differences(replace(model, direct_io=True, log=replace(model.log, durable=True)), 3)


SATA = replace(SSD, flushes_alone=1, buffer_bytes=1 << 18)
FLUSHING = [SATA, replace(SSD, is_volatile=1), replace(SATA, is_volatile=1), replace(SSD, flush_ns=0)]


@pytest.mark.parametrize("layout", RAID_SETS)
@pytest.mark.parametrize("disk", FLUSHING, ids=["sata", "volatile", "both", "neither"])
def test_kernel_and_reference_agree_on_sets_that_are_flushed(disk: SsdDevice, layout: tuple[int, int, int]) -> None:
    model = make_busy(
        devices=(raid_set(disk, *layout, unit=1 << 14),),
        requests_per_device=6, clients=8, merged_pages=4, resident_pages=40, duration_s=1,
    )  # fmt: skip
    model = replace(model, log=replace(model.log, durable=True))
    assert not differences(model, 3)
    assert not differences(replace(model, direct_io=True), 3)


def test_a_flush_is_one_of_all_disks() -> None:
    """The comparison sees it if one disk's flush lasts longer to the kernel; not if none is sent."""
    longer = with_value("system.storage.devices.0.disks.2.flush_ns", lambda flush_ns: flush_ns + 50_000)
    model = make_busy(devices=(raid_set(SATA, 3),), clients=8, duration_s=1)
    durable = replace(model, log=replace(model.log, durable=True))
    assert differences(durable, 3, longer)
    assert not differences(replace(model, log=replace(model.log, durable=False)), 3, longer)


def test_engines_that_place_parity_elsewhere_are_told_apart() -> None:
    """The comparison sees it if one disk of the set is another one to the kernel."""
    of = raid_set(replace(SORTING, capacity_bytes=1 << 31), 5, parities=1)

    slower = with_value("system.storage.devices.0.disks.1.revolution_ns", lambda time_ns: time_ns + time_ns // 1000)
    assert differences(make_busy(devices=(of,), duration_s=2), 3, slower)


def test_the_set_is_what_the_operating_system_sees_and_its_disks_what_they_do() -> None:
    result = busy_result(raid_set(FLASH, 5, parities=1))
    whole, disks = result.devices[0], result.devices[1:]
    assert not result.broken_laws
    assert (whole.name, len(disks)) == ("set", 5)
    assert whole.reads_per_s == pytest.approx(sum(disk.reads_per_s for disk in disks), rel=0.01)
    assert sum(disk.writes_per_s for disk in disks) > 1.9 * whole.writes_per_s
    assert whole.utilisation == pytest.approx(np.mean([disk.utilisation for disk in disks]))
    assert whole.utilisation * 5 == pytest.approx(
        whole.mean_service_s * (whole.reads_per_s + whole.writes_per_s), rel=0.02
    )
    assert result.bottleneck.name == "set"
    assert result.series.values["set utilisation"]
