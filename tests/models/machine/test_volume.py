"""Limits of cloud volumes in scenario files: what is refused, what the model is made of, what stays as it was."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from oltpsim.models.machine import FlashDiskSpec, RateLimitSpec, RotatingDiskSpec
from oltpsim.models.reading import load_scenario, scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FlashDevice, RaidSet, RateLimit
from oltpsim.simulator.form.plain import plain_of

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"
SOURCE = "assumption: for tests"
GP2 = {"of": "requests", "per_s": 1800, "burst_per_s": 3000, "credits": 5_400_000, "source": SOURCE}
INSTANCE = {"of": "mib", "per_s": 100, "source": SOURCE}
VOLUME = {
    "kind": "flash", "name": "volume", "capacity_gib": 600, "read_latency_us": 700, "write_latency_us": 800,
    "parallel_requests": 64, "source": SOURCE,
}  # fmt: skip


def limit(**changes: Any) -> RateLimitSpec:
    return RateLimitSpec.model_validate(GP2 | changes)


def tiny(disk: dict[str, Any] | None = None, **machine: Any) -> ScenarioSpec:
    """The tiny scenario on another disk, and with other keys of its machine."""
    known = load_scenario(TINY).model_dump(exclude_none=True)
    known["machine"] |= machine
    known["machine"]["disks"] |= {"disk": disk} if disk else {}
    return scenario_from_mapping(known, "tiny")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"of": "iops"}, "'requests' or 'mib'"),
        ({"direction": "reads"}, "'both', 'read' or 'write'"),
        ({"slice_ms": -1}, "greater than or equal to 0"),
        ({"per_s": 0}, "greater than or equal to 0.1"),
        ({"burst_per_s": 1000}, "burst_per_s: got 1000; at least per_s, 1800"),
        ({"credits": 0}, "credits: got 0 with a burst_per_s of 3000"),
        ({"credits": -1}, "greater than or equal to 0"),
        ({"credits": 1e10}, "credits: got 1e.10, which take 64 days to come back"),
        ({"credits_at_start_fraction": 20}, "is a share from 0 to 1; 20 looks like a percentage"),
        ({"credit": 5}, "Extra inputs are not permitted"),
        ({"source": ""}, "at least 1 character"),
    ],
)
def test_limits_that_make_no_sense(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        limit(**changes)


def test_their_sensible_twins() -> None:
    assert limit(burst_per_s=1800).credits == 5_400_000
    assert limit(burst_per_s=None, credits=0).unit_kib == 256
    assert limit(credits_at_start_fraction="20 %", unit_kib="16 KiB").credits_at_start_fraction == 0.2


def test_a_limit_as_the_engines_know_it() -> None:
    device = FlashDiskSpec.model_validate(VOLUME | {"limits": [GP2, INSTANCE]}).device("disk 1")
    assert isinstance(device, FlashDevice)
    assert device.limits == (
        RateLimit("requests", 1800, 3000, 5.4e6, 5.4e6, 1 << 18), RateLimit("mib", 100, 100, 0, 0, 1 << 18)
    )  # fmt: skip
    half = FlashDiskSpec.model_validate(VOLUME | {"limits": [GP2 | {"credits_at_start_fraction": 0.5}]}).device("x")
    assert isinstance(half, FlashDevice)
    assert half.limits[0].credits_at_start == 2.7e6
    assert device.limits[0].label("disk 1") == "disk 1 (cap of 1,800 to 3,000 requests/s)"
    assert device.limits[1].label("disk 1") == "disk 1 (cap of 100 MiB/s)"
    throttled = [
        {"of": "requests", "per_s": 400, "direction": each, "slice_ms": 100, "source": SOURCE}
        for each in ("read", "write")
    ]
    apart = FlashDiskSpec.model_validate(VOLUME | {"limits": throttled}).device("disk 1")
    assert isinstance(apart, FlashDevice)
    assert [one.label("disk 1") for one in apart.limits] == [
        "disk 1 (cap of 400 reads/s)", "disk 1 (cap of 400 writes/s)"
    ]  # fmt: skip
    assert {one.slice_ns for one in apart.limits} == {100_000_000}


def test_a_disk_without_limits_is_the_disk_that_it_was() -> None:
    """Its description, from which a model's hash is made, says nothing of limits."""
    device = FlashDiskSpec.model_validate(VOLUME).device("disk 1")
    assert type(device) is FlashDevice
    assert "limit" not in str(plain_of(device))
    plain, capped = build(tiny(VOLUME)), build(tiny(VOLUME, volume_limits=[INSTANCE]))
    assert plain.volume_limits is None
    assert plain.digest() != capped.digest() != build(tiny(VOLUME | {"limits": [GP2]})).digest()


def test_where_limits_are_in_the_model() -> None:
    model = build(tiny(VOLUME | {"limits": [GP2]}, volume_limits=[INSTANCE], log_disk=VOLUME))
    assert [isinstance(each, FlashDevice) and bool(each.limits) for each in model.storage.devices] == [True, False]
    assert model.volume_limits == (RateLimit("mib", 100, 100),)
    known = load_scenario(TINY).model_dump(exclude_none=True)
    known["machine"]["disks"] = {"disk": VOLUME | {"limits": [GP2]}, "count": 2, "level": "raid0"}
    raid = build(scenario_from_mapping(known, "tiny")).storage.devices[0]
    assert isinstance(raid, RaidSet)
    assert all(isinstance(disk, FlashDevice) and disk.limits for disk in raid.disks)


def test_an_arm_has_no_limits() -> None:
    said = r"machine\.volume_limits: machine\.disks\.disk has an arm \(small disk\), and limits hold for volumes"
    with pytest.raises(InputError, match=said):
        tiny(volume_limits=[INSTANCE])
    assert "limits" not in RotatingDiskSpec.model_fields
    assert tiny(VOLUME, volume_limits=[INSTANCE]).machine.volume_limits[0].per_s == 100
