"""What is for sale: cloud machines by size, volumes with their rules, and their caps."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.models.catalogue import (
    VolumeSpec,
    catalogue_names,
    read_entry,
    volume_specs,
)
from oltpsim.models.input.quantities import UNITS
from oltpsim.models.machine import FlashDiskSpec, RateLimitSpec
from oltpsim.simulator.errors import InputError

MB_IN_MIB = UNITS["transfer rate"]["MB/s"] / UNITS["transfer rate"]["MiB/s"]


def test_sizes_of_a_family_have_the_familys_keys_and_their_own() -> None:
    small, large = read_entry("instances", "i4i.large"), read_entry("instances", "i4i.32xlarge")
    assert (small.vcpus, small.memory_gib, large.vcpus, large.memory_gib) == (2, 16, 128, 1024)
    assert small.cpu.relative_speed == large.cpu.relative_speed == 6.72
    assert small.local_disks is not None
    assert large.local_disks is not None
    assert (small.local_disks.count, large.local_disks.count) == (1, 8)
    assert small.local_disks.disk.capacity_gib < large.local_disks.disk.capacity_gib
    assert read_entry("instances", "m8g.large").cpu.threads_per_core == 1
    assert read_entry("instances", "m7i.large").local_disks is None


def test_bigger_sizes_of_a_family_have_more_of_everything() -> None:
    families: dict[str, list[str]] = {}
    for name in catalogue_names("instances"):
        if "metal" not in name:  # which is as large as the largest
            family = name.split(".")[0] if "." in name else re.sub(r"\d+(?=[a-z]*_v|$)", "", name, count=1)
            family += name[-1] * name.startswith(("cx", "cpx", "cax", "ccx"))  # whose last digit is the generation
            families.setdefault(family, []).append(name)
    assert len(families) > 200
    for names in families.values():
        found = sorted((read_entry("instances", name) for name in names), key=lambda each: each.memory_gib)
        for less, more in itertools.pairwise(found):
            assert less.vcpus <= more.vcpus
            assert less.memory_gib < more.memory_gib
            assert (less.volume_requests_per_s or 0) <= (more.volume_requests_per_s or 0)
            assert (less.volume_mib_per_s or 0) <= (more.volume_mib_per_s or 0)


def test_an_instances_caps_have_credits_for_thirty_minutes() -> None:
    requests, mib = read_entry("instances", "m7i.large").volume_limits()
    assert (requests["of"], requests["per_s"], requests["burst_per_s"]) == ("requests", 3600, 40_000)
    assert requests["credits"] == 1800 * (40_000 - 3600)
    assert mib["per_s"] == pytest.approx(81.25 * MB_IN_MIB)
    assert mib["per_s"] != pytest.approx(81.25), "the provider's table is in MB"
    steady = read_entry("instances", "m7i.8xlarge").volume_limits()
    assert all("burst_per_s" not in each and "credits" not in each for each in steady)
    assert read_entry("instances", "cloud-vm-2009").volume_limits() == []


def test_caps_are_valid_limits_of_machines_and_disks() -> None:
    for instance in (read_entry("instances", name) for name in catalogue_names("instances")):
        limits = [RateLimitSpec.model_validate(each) for each in instance.volume_limits()]
        assert len({limit.of for limit in limits}) == len(limits)
    for volume in volume_specs().values():
        for size_gib in sorted({min(max(size, volume.least_gib), volume.most_gib) for size in (0, 50, 1000, 1e9)}):
            disk = FlashDiskSpec.model_validate(volume.disk(size_gib))
            per_s = next(limit.burst_per_s or limit.per_s for limit in disk.limits if limit.of == "requests")
            alone = disk.parallel_requests / max(disk.read_latency_us, disk.write_latency_us) * 1e6
            assert alone > 0.99 * per_s, "the cap limits, not the requests in flight"


def disk_of(volume: str, *what: float) -> tuple[FlashDiskSpec, dict[str, dict[str, float]]]:
    keys = read_entry("volumes", volume).disk(*what)
    return FlashDiskSpec.model_validate(keys), {each["of"]: each for each in keys["limits"]}


@pytest.mark.parametrize(("size_gib", "requests", "burst", "mib"), [
    (20, 100, 3000, 128), (100, 300, 3000, 128), (200, 600, 3000, 150), (334, 1002, 3000, 250), (1000, 3000, None, 250),
    (2000, 6000, None, 250), (5334, 16_000, None, 250), (16_384, 16_000, None, 250),
])  # fmt: skip
def test_gp2_grows_with_its_size_and_bursts_while_it_is_small(
    size_gib: float, requests: float, burst: float | None, mib: float
) -> None:
    disk, limits = disk_of("gp2", size_gib)
    assert disk.capacity_gib == size_gib
    assert limits["requests"]["per_s"] == requests
    assert limits["requests"].get("burst_per_s") == burst
    assert limits["requests"].get("credits") == (None if burst is None else 5_400_000)
    assert limits["mib"]["per_s"] == pytest.approx(mib, rel=0.003)


@pytest.mark.parametrize(("size_gib", "requests", "burst"), [
    (128, 5, 31.25), (1024, 40, 250), (2048, 80, 500), (6144, 240, 500), (12_800, 500, None), (16_384, 500, None),
])  # fmt: skip
def test_st1_and_its_bursts_grow_with_its_size(size_gib: float, requests: float, burst: float | None) -> None:
    """The table of AWS's guide; a request of up to 1 MiB is one of 1 MiB."""
    disk, limits = disk_of("st1", size_gib)
    assert limits["requests"]["per_s"] == requests
    assert limits["requests"].get("burst_per_s") == burst
    assert limits["requests"].get("credits") == (None if burst is None else 1024 * size_gib)
    assert limits["requests"]["unit_kib"] == 1024
    assert limits["mib"]["per_s"] == 500
    gp2 = disk_of("gp2", size_gib)[1]["requests"]
    assert gp2.get("credits") in (None, 5_400_000), "the negative twin: one bucket for all sizes"
    assert disk.read_latency_us > 10_000


def test_more_of_gp3_and_io2_can_be_bought_up_to_the_rules() -> None:
    assert {of: each["per_s"] for of, each in disk_of("gp3", 100)[1].items()} == {"requests": 3000, "mib": 125}
    assert {of: each["per_s"] for of, each in disk_of("gp3", 100, 16_000, 1000)[1].items()} == {
        "requests": 16_000,
        "mib": 1000,
    }
    assert disk_of("io2", 64, 64_000)[1]["mib"]["per_s"] == 4000
    assert disk_of("io2", 64, 1000)[1]["mib"]["per_s"] == 256


@pytest.mark.parametrize(("volume", "what", "message"), [
    ("gp3", (10, 6000), "gp3: 6000 requests/s for a volume of 10 GiB; allowed: 3000 to 5000 requests/s"),
    ("gp3", (100, 2000), "gp3: 2000 requests/s for a volume of 100 GiB; allowed: 3000 to 50000 requests/s"),
    ("gp3", (100, 3000, 800), "gp3: 800 MiB/s for a volume with 3000 requests/s; allowed: 125 to 750 MiB/s"),
    ("gp2", (100, 3000), "gp2: 3000 requests/s for a volume of 100 GiB; allowed: 300 requests/s"),
    ("st1", (100,), "st1: a volume of 100 GiB; allowed: 125 to 16384 GiB"),
    ("gp2", (0.5,), "gp2: a volume of 0.5 GiB; allowed: 1 to 16384 GiB"),
    ("io2", (100, 1000, 500), "io2: 500 MiB/s for a volume with 1000 requests/s; allowed: 256 MiB/s"),
    ("io2", (10, 256_000), "allowed: 100 to 10000 requests/s"),
    ("io1", (100, 6000), "io1: 6000 requests/s for a volume of 100 GiB; allowed: 100 to 5000 requests/s"),
    ("gp3", (5, 2500), "gp3: 2500 requests/s for a volume of 5 GiB; allowed: 3000 requests/s"),
    ("azure-p10", (200,), "azure-p10: a volume of 200 GiB; allowed: 65 to 128 GiB"),
    ("azure-p30", (1000, 6000), "azure-p30: 6000 requests/s for a volume of 1000 GiB; allowed: 5000 requests/s"),
    ("azure-ultra", (100, 1000, 300), "MiB/s for a volume with 1000 requests/s; allowed: 0.953674 to 250 MiB/s"),
])  # fmt: skip
def test_what_isnt_for_sale_is_refused_with_what_is(volume: str, what: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_entry("volumes", volume).disk(*what)
    assert message in str(refused.value)


@pytest.mark.parametrize(("volume", "size_gib", "free", "most"), [
    ("gp3", 1, 3000, 3000), ("gp3", 5, 3000, 3000), ("gp3", 7, 3000, 3500), ("gp3", 1000, 3000, 80_000),
    ("io2", 4, 100, 4000), ("io1", 1000, 100, 50_000), ("io1", 16_384, 100, 64_000), ("gp2", 200, 600, 600),
    ("azure-p20", 512, 2300, 2300), ("azure-premium-ssd-v2", 2, 3000, 3000), ("azure-ultra", 4, 100, 4000),
    ("hyperdisk-balanced", 1000, 3000, 160_000),
])  # fmt: skip
def test_what_a_volume_has_for_nothing_is_there_at_any_size(volume: str, size_gib: float, free: int, most: int) -> None:
    assert read_entry("volumes", volume).requests_for_sale(size_gib) == (free, most)


def test_azures_small_tiers_burst_for_thirty_minutes() -> None:
    for tier, burst in (("p10", 3500), ("p15", 3500), ("p20", 3500), ("p30", None), ("p80", None)):
        _, limits = disk_of(f"azure-{tier}", read_entry("volumes", f"azure-{tier}").most_gib)
        for of in ("requests", "mib"):
            one = limits[of]
            assert ("credits" in one) == (burst is not None)
            if burst is not None:
                assert one["credits"] / (one["burst_per_s"] - one["per_s"]) == pytest.approx(1800, rel=1e-3)
        assert limits["requests"].get("burst_per_s") == burst


@given(st.sampled_from(["gp2", "gp3", "io2"]), st.floats(4, 16_000), st.floats(1, 1.5))
def test_a_larger_volume_never_does_less(name: str, size_gib: float, factor: float) -> None:
    volume: VolumeSpec = read_entry("volumes", name)
    less, more = (volume.disk(size)["limits"] for size in (size_gib, min(size_gib * factor, volume.most_gib)))
    assert all(a["per_s"] <= b["per_s"] for a, b in zip(less, more, strict=True))
