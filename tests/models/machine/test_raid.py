"""RAID levels in scenario files: what is refused, what fits, what the model is made of."""

from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.show.words import configuration_line
from oltpsim.simulator.errors import Infeasible, InputError
from oltpsim.simulator.form import GIB, KIB, CachingDevice, RaidSet, RotatingDevice

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"


def tiny(level: str, count: int, *overrides: str) -> ScenarioSpec:
    return load_scenario(TINY, (f"machine.disks.level={level}", f"machine.disks.count={count}", *overrides))


@pytest.mark.parametrize(
    ("level", "count", "said"),
    [
        ("raid0", 1, "got 1; RAID 0 takes at least 2 disks"),
        ("raid1", 1, "got 1; RAID 1 takes at least 2 disks"),
        ("raid10", 2, "got 2; RAID 10 takes at least 4 disks"),
        ("raid10", 5, "got 5; RAID 10 takes pairs of disks: an even number"),
        ("raid5", 2, "got 2; RAID 5 takes at least 3 disks"),
        ("raid6", 3, "got 3; RAID 6 takes at least 4 disks"),
    ],
)
def test_a_number_of_disks_that_the_level_cannot_have(level: str, count: int, said: str) -> None:
    with pytest.raises(InputError, match=rf"^tiny\.yaml: machine\.disks\.count: {said}$"):
        tiny(level, count)
    assert tiny("independent", count).machine.disks.count == count


@pytest.mark.parametrize(("level", "count"), [("raid0", 2), ("raid1", 2), ("raid10", 4), ("raid5", 3), ("raid6", 4)])
def test_the_least_number_of_disks_is_accepted(level: str, count: int) -> None:
    assert tiny(level, count).machine.disks.count == count


def test_an_unknown_level_is_told_which_there_are() -> None:
    with pytest.raises(InputError, match=r"machine.disks.level: got 'raid50'; must be 'independent', 'raid0', 'raid1'"):
        tiny("raid50", 4)


def test_pages_do_not_lie_across_units() -> None:
    said = r"machine.disks.stripe_kib: got 12; must be a multiple of the database's page, 8 KiB \(database.page_kib\)"
    with pytest.raises(InputError, match=said):
        tiny("raid0", 2, "machine.disks.stripe_kib=12")
    assert tiny("raid0", 2, "machine.disks.stripe_kib=16 KiB").machine.disks.stripe_kib == 16


@pytest.mark.parametrize(
    ("level", "count", "room"),
    [("raid0", 4, 4), ("raid10", 4, 2), ("raid5", 4, 3), ("raid6", 6, 4), ("raid1", 2, 1), ("raid1", 6, 1)],
)
def test_a_set_holds_what_copies_and_parity_leave(level: str, count: int, room: int) -> None:
    """So many disks' worth, of which log and swap take their part once."""
    disks = tiny(level, count).machine.disks
    assert (disks.files, disks.disks_per_file) == (1, room)
    storage = build(tiny(level, count)).storage
    (device,) = storage.devices
    assert isinstance(device, RaidSet)
    assert (device.data_units, len(device.disks), storage.data_devices) == (room, count, 1)
    with pytest.raises(Infeasible, match=rf"{count} disks of 2 GiB, a RAID {level[4:]} set of {2 * room} GiB, .*hold"):
        tiny(level, count, "machine.disks.disk.capacity_gib=2", "machine.memory_gib=0.5", "workload.warehouses=200")


def test_a_set_has_room_where_one_disk_of_it_would_not() -> None:
    settings = ("machine.disks.disk.capacity_gib=1", "machine.memory_gib=0.5")
    with pytest.raises(Infeasible, match=r"take 1\.5 GiB of each disk"):
        tiny("independent", 4, *settings)
    with pytest.raises(Infeasible, match=r"take 1\.5 GiB of the RAID set"):
        tiny("raid1", 2, *settings)
    assert tiny("raid5", 4, *settings)


def test_names_tell_the_set_from_its_disks() -> None:
    scenario = tiny("raid10", 4, "machine.log_disk=sata-7200")
    storage = build(scenario).storage
    assert [device.name for device in storage.with_disks] == [
        "RAID 10 set", "log disk", *(f"disk {number} of the set" for number in range(1, 5)),
    ]  # fmt: skip
    assert list(storage.disks_of(0)) == [2, 3, 4, 5]
    assert (list(storage.disks_of(1)), storage.log_device) == ([1], 1)
    assert storage.devices[0].unit_bytes == 64 * KIB  # type: ignore[union-attr]
    assert "4 × small disk as RAID 10 + log disk" in configuration_line(scenario)
    assert "4 × small disk · " in configuration_line(tiny("independent", 4))


def test_sampled_sets_are_as_much_smaller() -> None:
    changes = ("workload.warehouses=40", "sampling_fraction=0.25", "workload.arrivals.clients=80")
    whole, sampled = (build(tiny("raid5", 3, *some)).storage.devices[0] for some in (changes[::2], changes))
    assert isinstance(whole, RaidSet)
    assert isinstance(sampled, RaidSet)
    for before, after in zip(whole.disks, sampled.disks, strict=True):
        assert isinstance(before, RotatingDevice)
        assert isinstance(after, RotatingDevice)
        assert (before.capacity_bytes, after.capacity_bytes) == (70 * GIB, 17.5 * GIB)


CACHE = "machine.disks.controller_cache={mib: 64, source: 'assumption: for tests'}"


@pytest.mark.parametrize(
    ("level", "count", "part_mib"), [("raid0", 4, 16), ("raid10", 4, 32), ("raid5", 4, 32), ("raid6", 6, 32)]
)
def test_each_disk_has_its_part_of_the_controllers_cache(level: str, count: int, part_mib: float) -> None:
    """What a disk holds of a write takes as much of its part, copies and parity too: data has 64 MiB in all."""
    device = build(tiny(level, count, CACHE)).storage.data_disk
    assert isinstance(device, CachingDevice)
    assert (device.cache_bytes, device.destages_among, device.in_cache_ns) == (part_mib * KIB * KIB, 64, 40_000)


@pytest.mark.parametrize(
    ("level", "overrides", "said"),
    [
        ("independent", (CACHE,), "machine.disks.controller_cache: got independent disks; a RAID set has one"),
        ("raid0", (CACHE, "machine.disks.disk=nvme"), "has no arm, which alone it is modelled for"),
        ("raid0", (CACHE, "machine.disks.disk.write_cache_mib=8"), "which turns those of its drives off; set it to 0"),
        ("raid0", ("machine.disks.controller_cache={mib: 64}",), "source: missing"),
    ],
)
def test_a_cache_where_none_can_be(level: str, overrides: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as refused:
        tiny(level, 4, *overrides)
    assert said in str(refused.value)
    assert build(tiny("raid0", 4, CACHE)).storage.data_disk != build(tiny("raid0", 4)).storage.data_disk
