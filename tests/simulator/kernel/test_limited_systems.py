"""Cloud volumes in whole systems: both engines' trajectories, rates of saturated volumes, and what a result says."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.simulator.form import FlashDevice, Pool, RateLimit, System
from oltpsim.simulator.form.plain import plain_of
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import Result, read_result, result_json
from tests.simulator.kernel.test_engine import EXAMPLES, MOST_EVENTS, SEEDS, SOAK, TIED, with_writer
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, limited_systems
from tests.simulator.twins import Finished, differences, of_few_events, shortened, with_value

MS, SECOND = 1_000_000, 1_000_000_000
VOLUME = FlashDevice("disk 1", MS, MS, 32)
GP2 = RateLimit("requests", per_s=100, burst_per_s=300, credits=1000, credits_at_start=1000, unit_bytes=1 << 18)
CAP = RateLimit("requests", per_s=100, burst_per_s=100, unit_bytes=1 << 18)


def reading(
    *limits: RateLimit, seconds: int = 20, shared: tuple[RateLimit, ...] | None = None, disks: int = 1
) -> System:
    """Sixteen clients that do nothing but read pages which no cache holds."""
    touch = ("touch", "popular", 0, MS // 100)
    system = dataclasses.replace(
        TIED, think=("constant", 0, 0), hot_pages=20_000, groups=1, classes=((1, (("cpu", 1000, 0, 0), touch, touch)),),
        clients=16, cores=16, pool=Pool(50, "lru", 50), daemons=with_writer(50), requests_per_device=16,
        volume_limits=shared,
        devices=tuple(dataclasses.replace(VOLUME, name=f"disk {n + 1}", limits=limits) for n in range(disks)),
    )  # fmt: skip
    return shortened(model_of_system(system), seconds * SECOND)


# One trajectory


@pytest.mark.uncounted
def test_both_engines_give_one_trajectory_and_limits_are_felt() -> None:
    seen: Counter[str] = Counter()

    @settings(EXAMPLES, max_examples=SOAK // 2 or 100)
    @given(system=limited_systems(), seed=SEEDS)
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        engines: list[Finished] = []
        assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed, finished=engines) == []
        ((engine, _),) = engines
        figures = engine.kernel.figures()
        seen["waited"] += any(limiter.closed_ps > 0 for limiter in figures.counters.limiters)
        seen["ran out"] += any(limiter.out_since_ns is not None for limiter in figures.levels.limiters)
        seen["shared"] += system.volume_limits is not None
        seen["two stages"] += any(len(stages) > 1 for stages in engine.system.limiters.stages)
        every = [limit for device in system.devices for limit in getattr(device, "limits", ())]
        seen["apart"] += any(limit.direction != "both" for limit in every)
        seen["in slices"] += any(limit.slice_ns for limit in every)
        seen["in a set"] += any(device.kind == "raid" for device in system.devices)

    both_engines_agree()
    assert (
        min(seen[name] for name in ("waited", "ran out", "shared", "two stages", "in a set", "apart", "in slices")) > 10
    ), seen


def test_a_kernel_that_has_fewer_credits_is_another_trajectory() -> None:
    def halve_credits(limit: RateLimit) -> RateLimit:
        return dataclasses.replace(limit, credits=limit.credits / 2, credits_at_start=limit.credits_at_start / 2)

    model = reading(GP2, seconds=8)
    assert differences(model, 1) == []
    assert differences(model, 1, with_value("system.storage.devices.0.limits.0", halve_credits))


@pytest.mark.uncounted
def test_a_kernel_that_counts_reads_at_a_cap_of_writes_is_another_trajectory() -> None:
    model = reading(dataclasses.replace(CAP, direction="write"), seconds=8)
    assert differences(model, 1) == []
    assert differences(model, 1, with_value("system.storage.devices.0.limits.0.direction", lambda _: "read"))


# Rates of saturated volumes, and what the result says


def limit_of(result: Result) -> tuple[float, float, bool, float]:
    """Utilisation, credits left, whether they ran out and after how long, of the first disk's first limit."""
    one = result.devices[0].limits[0]
    return one.utilisation, one.credits_left, one.ran_out, one.credits_lasted_s


def test_a_saturated_volume_does_what_it_may() -> None:
    """1,000 credits are gone after 1,000 / (300 - 100) = 5 s; 300 reads/s until then and 100 afterwards."""
    result = simulate(reading(GP2), 1)
    utilisation, left, ran_out, lasted_s = limit_of(result)
    assert ran_out
    assert lasted_s == pytest.approx(5.0, abs=0.02)
    assert result.devices[0].reads_per_s * 20 == pytest.approx(1000 + 20 * 100, abs=5)
    assert utilisation == pytest.approx(1.0, abs=1e-3)
    assert left == 0
    after = simulate(
        dataclasses.replace(
            reading(GP2), interval=dataclasses.replace(TIED.interval, warm_up_ns=6 * SECOND, duration_ns=10 * SECOND)
        ),
        1,
    )
    assert after.devices[0].reads_per_s == pytest.approx(100, rel=2e-3)
    assert after.devices[0].utilisation == pytest.approx(1.0, abs=2e-3)
    assert result.bottleneck.name == "disk 1 (cap of 100 to 300 requests/s)"
    assert any("credits ran out after 0.0833 min; sustained rate, 100 requests/s" in line for line in result.warnings)
    assert read_result(result_json(result)) == result


def test_a_cap_of_reads_lets_through_as_many_in_slices_as_without_and_one_of_writes_stops_none() -> None:
    for slice_ns in (0, 100 * MS, 300 * MS):
        result = simulate(reading(dataclasses.replace(CAP, direction="read", slice_ns=slice_ns)), 1)
        assert result.devices[0].reads_per_s == pytest.approx(100, rel=2e-2)
        assert result.bottleneck.name == "disk 1 (cap of 100 reads/s)"
    free = simulate(reading(dataclasses.replace(CAP, direction="write")), 1)
    assert free.devices[0].reads_per_s > 1000


def test_credits_that_last_are_left() -> None:
    """300/s for 4 s spend 800 of 1,000; the twin with half the bucket runs dry."""
    utilisation, left, ran_out, lasted_s = limit_of(simulate(reading(GP2, seconds=4), 1))
    assert (ran_out, lasted_s) == (False, 4.0)
    assert left == pytest.approx(200 - 16, abs=1), "those that wait have taken theirs"
    assert utilisation == pytest.approx(1.0, abs=1e-3)
    half = dataclasses.replace(GP2, credits_at_start=500.0)
    assert limit_of(simulate(reading(half, seconds=4), 1))[2:] == (True, pytest.approx(2.5, abs=0.02))


def test_volumes_behind_one_cap_share_it() -> None:
    """Two volumes of 100/s each get 150/s together; the cap of both is what stops them."""
    shared = (dataclasses.replace(CAP, per_s=150.0, burst_per_s=150.0),)
    both = simulate(reading(CAP, disks=2, shared=shared), 1)
    assert sum(device.reads_per_s for device in both.devices) == pytest.approx(150, rel=5e-3)
    assert both.volume_limits[0].utilisation == pytest.approx(1.0, abs=1e-3)
    assert both.bottleneck.name == "all volumes (cap of 150 requests/s)"
    apart = simulate(reading(CAP, disks=2), 1)
    assert sum(device.reads_per_s for device in apart.devices) > 190
    assert apart.volume_limits == []
    assert apart.bottleneck.name.startswith("disk ")


def test_the_wait_is_the_devices_response_and_none_of_its_service() -> None:
    """Sixteen clients at 100/s: 160 ms each (Little), of which 1 ms is served; no law is broken."""
    result = simulate(reading(CAP), 1)
    device = result.devices[0]
    assert device.mean_service_s == pytest.approx(1e-3)
    assert device.mean_queue == pytest.approx(16, rel=0.04), "some clients wait for the same page"
    assert device.mean_response_s == pytest.approx(device.mean_queue / 100, rel=0.01)
    assert not result.broken_laws
    free = simulate(reading(dataclasses.replace(CAP, per_s=1e6, burst_per_s=1e6)), 1).devices[0]
    assert free.mean_response_s == pytest.approx(1e-3, rel=0.1)


def test_without_limits_nothing_is_said_and_nothing_changes() -> None:
    """A device whose limits are never reached gives the times of one that has none; and JSON without their keys."""
    wide = RateLimit("requests", 1e16, 1e16)
    model = reading(wide)
    plain = dataclasses.replace(model, storage=dataclasses.replace(model.storage, devices=(VOLUME,)))
    ours, theirs = simulate(model, 1), simulate(plain, 1)
    assert ours.classes == theirs.classes
    assert "limits" not in result_json(theirs)
    assert "limits" in result_json(ours)
    assert not VOLUME.limits
    assert "limit" not in str(plain_of(plain.storage)), "the system's hash is made of this"


@settings(max_examples=10, deadline=None)
@given(scale=st.floats(1.0, 4.0), more=st.floats(0.0, 2000.0))
def test_a_larger_cap_is_never_slower(scale: float, more: float) -> None:
    """Rates of whole runs, up to what the order of ends changes."""
    larger = dataclasses.replace(
        GP2, per_s=100 * scale, burst_per_s=300 * scale, credits=1000 + more, credits_at_start=1000 + more
    )
    slow, fast = (simulate(reading(limit, seconds=8), 1).transactions_per_s for limit in (GP2, larger))
    assert fast >= 0.995 * slow
