"""What a run owes: stocks that grow are worth a share of the disks' time, and of the rate if they are near it."""

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from oltpsim.simulator.form import NS_PER_S, PS_PER_S, Daemon, DaemonStep, RateLimit, System
from oltpsim.simulator.results import CacheLevels, DeviceResult
from oltpsim.simulator.results.recording.balance import Imbalance, imbalances
from oltpsim.simulator.results.recording.statistics import batch_means
from oltpsim.simulator.results.recording.steady_rate import rate_estimates
from oltpsim.simulator.results.snapshot import LogCounters, Window
from tests.simulator.results.recording.test_statistics import autoregressive

SECONDS = 100
EVEN = autoregressive(0.0, SECONDS, 1)[0]


def window(
    dirty: float = 0.0, from_s: int = 0, limiter: tuple[float, float] | None = None, out_s: float = -1
) -> Window:
    """Snapshots of 100 s from a time on; `dirty` pages more each second; a limiter's missing time at begin and end."""
    missing_s = limiter or (0.0, 0.0)

    @dataclass
    class Anything:
        at_ns: int
        levels: Any
        counters: int = 0

    def levels(at_s: int) -> Any:
        share = (at_s - from_s) / SECONDS
        full_s = at_s + missing_s[0] + (missing_s[1] - missing_s[0]) * share
        limit = cast(Any, type("Level", (), {"full_at_ps": int(full_s * PS_PER_S), "out_since_ns": None}))
        if out_s >= 0:
            limit.out_since_ns = int(out_s * NS_PER_S)
        return cast(
            Any,
            type(
                "Levels",
                (),
                {
                    "pool": CacheLevels(10_000, 10_000, 5_000, 10_000),
                    "page_cache": CacheLevels(10_000, 10_000, int(1000 + dirty * (at_s - from_s)), 10_000),
                    "limiters": (limit,) if limiter else (),
                },
            ),
        )

    every = [Anything(at_s * NS_PER_S, levels(at_s)) for at_s in range(from_s, from_s + SECONDS + 1)]
    seen = Window(cast(Any, every), from_s * NS_PER_S)
    seen.counters = cast(Any, type("Counters", (), {"log": LogCounters(0, 0, 0)}))
    return seen


def system(*daemons: Daemon, limits: tuple[RateLimit, ...] = ()) -> System:
    storage = type("Storage", (), {"data_devices": 1})
    limiters = type("Limiters", (), {"limits": limits})
    return cast(System, type("System", (), {"storage": storage, "daemons": daemons, "limiters": limiters}))


def disk(utilisation: float) -> DeviceResult:
    """100 requests a second."""
    return DeviceResult("disk 1", "disk", 60.0, 40.0, utilisation, 1.0, 0.001, 0.01, {})


def checkpointer(interval_s: int, spread_s: int = 0) -> Daemon:
    return Daemon(
        "checkpointer",
        (
            DaemonStep("every", (interval_s * NS_PER_S,)),
            DaemonStep("write_dirty", (0, spread_s * NS_PER_S)),
            DaemonStep("note_checkpoint"),
        ),
    )


def worth(found: list[Imbalance]) -> float:
    return max((each.rate_fraction for each in found), default=0.0)


@pytest.mark.parametrize("grown", [25.0, -25.0])
def test_pages_put_off_take_their_part_of_the_disks_time(grown: float) -> None:
    """25 pages a second beside 100 requests, on a disk that is busy all the time: 25 requests of 125 are owed."""
    found = imbalances(system(), window(grown), [disk(1.0)])
    assert worth(found) == pytest.approx(25 / 125 if grown > 0 else 25 / 100, rel=0.01)
    assert found[0].reason.startswith(f"dirty pages {'grow' if grown > 0 else 'shrink'} by 2,5")


def test_idle_disks_can_be_owed_anything() -> None:
    assert worth(imbalances(system(), window(25.0), [disk(0.4)])) == 0.0
    assert worth(imbalances(system(), window(25.0), [disk(0.5)])) == pytest.approx(0.125 / 0.625, rel=0.01)
    idle = replace(disk(0.0), reads_per_s=0.0, writes_per_s=0.0)
    assert imbalances(system(), window(25.0), [idle]) == []


@pytest.mark.parametrize(
    ("interval_s", "spread_s", "from_s", "seen"),
    [
        (400, 0, 0, 0.0),
        (100, 0, 50, 1.0),
        (25, 0, 50, 4.0),
        (80, 0, 50, 1.0),
        (80, 0, 70, 2.0),
        (100, 50, 75, 1.0),
    ],
)
def test_checkpoints_seen_beside_those_due(interval_s: int, spread_s: int, from_s: int, seen: float) -> None:
    """6,000 dirty pages each, 10,000 requests in 100 s; of one that is spread its share in the interval."""
    found = imbalances(system(checkpointer(interval_s, spread_s)), window(from_s=from_s), [disk(1.0)])
    owed = (SECONDS / interval_s - seen) * 6_000 / 10_000
    assert worth(found) == pytest.approx(abs(owed) / (1.0 + max(owed, 0.0)), abs=1e-9)


def test_checkpoints_that_the_log_begins_are_seen_at_its_rate() -> None:
    """Every 400 s, or after so much log: at 10 bytes a second 4,000 are 400 s, and 250 are 25 s, four in 100 s."""
    logging = window(from_s=50)
    logging.counters = cast(Any, type("Counters", (), {"log": LogCounters(1000, 10, 10)}))

    def by_log(log_bytes: int) -> Daemon:
        steps = DaemonStep("every_or_logged", (400 * NS_PER_S, log_bytes)), DaemonStep("begin_checkpoint")
        return replace(checkpointer(400), steps=(*steps, *checkpointer(400).steps[1:]))

    rare, often = (imbalances(system(by_log(log_bytes)), logging, [disk(1.0)]) for log_bytes in (10**18, 250))
    assert "no checkpoint in the 100 s that are counted, where one comes every 400 s" in [each.reason for each in rare]
    assert worth(often) == pytest.approx(0.0, abs=1e-9)


def test_no_checkpoint_is_said() -> None:
    found = imbalances(system(checkpointer(400)), window(), [disk(1.0)])
    assert "no checkpoint in the 100 s that are counted, where one comes every 400 s" in [each.reason for each in found]


GP2 = RateLimit("requests", 100.0, 3000.0, credits=5_400_000.0, credits_at_start=5_400_000.0)


def test_credits() -> None:
    """Spent at twice the rate at which they come back: half of the requests would be too many without them."""
    [found] = _of_limits(window(limiter=(0.0, 100.0)))
    assert found.rate_fraction == pytest.approx(0.5)
    assert "fall and would be gone 5.4e+04 s later" in found.reason
    [out] = _of_limits(window(limiter=(0.0, 100.0), out_s=40.0))
    assert out.rate_fraction == pytest.approx(29 / 30)
    assert "ran out within what is counted" in out.reason
    assert _of_limits(window(limiter=(0.0, 100.0), out_s=40.0, from_s=50)) == [], "they had gone before"
    assert _of_limits(window(limiter=(50.0, 20.0))) == [], "they come back"
    even = replace(GP2, burst_per_s=100.0)
    assert imbalances(system(limits=(even,)), window(limiter=(0.0, 9.0)), [disk(0.0)]) == []


def _of_limits(seen: Window) -> list[Imbalance]:
    return imbalances(system(limits=(GP2,)), seen, [disk(0.0)])


def test_an_even_rate_that_lives_on_a_stock_has_no_interval() -> None:
    """What 60 s of a 400-IOPS volume are; its twin, worth less than half of what chance does, has one."""
    rate, later, since_s = rate_estimates(EVEN, 1.0, 0.0, 50.1, [Imbalance(0.2, "dirty pages grow by 2,500")])
    assert rate.method == later.method == "not steady: dirty pages grow by 2,500"
    assert (rate.mean, rate.low, since_s) == (50.1, None, None)
    chance = batch_means(EVEN).half_width / 50.0
    assert chance < 0.01
    rate, later, since_s = rate_estimates(EVEN, 1.0, 0.0, 50.1, [Imbalance(0.009, "dirty pages grow by 90")])
    assert (rate.is_steady, later.is_steady, since_s) == (True, True, 0.0)
    assert rate.half_width == pytest.approx(batch_means(EVEN).half_width)


def test_what_is_cut_off_is_counted_or_not() -> None:
    """A beginning that differs: without an interval where it is counted, with one where it is warm-up."""
    rates = EVEN.copy()
    rates[:30] -= 30.0
    rate, later, since_s = rate_estimates(rates, 2.0, 0.0, 41.0, [])
    assert not rate.is_steady
    assert (later.is_steady, since_s) == (True, pytest.approx(60.0, abs=8.0))
    rate, _, _ = rate_estimates(rates, 2.0, 70.0, 50.0, [])
    assert rate.is_steady
