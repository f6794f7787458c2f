"""Caps with credits: starts by hand, against plain arithmetic, and the laws that no sequence of requests breaks."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.simulator.form import FlashDevice, RateLimit, Storage, minutes_of_credits
from oltpsim.simulator.form.limiters import limiters_of
from oltpsim.simulator.reference.limits import RateLimiter, admit
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import new_devices

MS, SECOND, KIB = 1_000_000, 1_000_000_000, 1024
CAP = RateLimit("requests", 1000, 1000, unit_bytes=256 * KIB)
BURST = RateLimit("requests", 100, 1000, 2, 2, 256 * KIB)
MIB = RateLimit("mib", 1, 1)
Request = tuple[float, int]
"""asked at, in ms; size in KiB"""


def storage_of(devices: tuple[FlashDevice, ...]) -> Storage:
    return Storage(devices, len(devices), 0, 8192, 0, 0, 1 << 20, 0, 1, 1, 16)


def starts_ms(requests: list[Request], *limits: RateLimit) -> list[float]:
    """When requests start, in ms."""
    limiters = [RateLimiter(limit) for limit in limits]
    return [at + admit(limiters, size * KIB, round(at * MS)) / MS for at, size in requests]


@pytest.mark.parametrize(
    ("limits", "requests", "starts"),
    [
        ([CAP], [(0, 8), (0, 8), (0, 8), (10, 8), (10.25, 8)], [0, 1, 2, 10, 11]),
        # two credits, and the one that any bucket lets start: three at 1,000/s, then 100/s
        ([BURST], [(0, 8)] * 6, [0, 1, 2, 10, 20, 30]),
        # 15 ms of rest are one credit and a half
        ([BURST], [(0, 8)] * 4 + [(35, 8), (35, 8), (35, 8)], [0, 1, 2, 10, 35, 36, 40]),
        # half of them at the start: one credit
        ([replace(BURST, credits_at_start=1)], [(0, 8)] * 4, [0, 1, 10, 20]),
        ([replace(BURST, credits_at_start=0)], [(10, 8)] * 3, [10, 11, 20]),
        # a request of 600 KiB counts as three of 256
        ([CAP], [(0, 600), (0, 256), (0, 257), (0, 8)], [0, 3, 4, 6]),
        ([replace(CAP, unit_bytes=16 * KIB)], [(0, 16), (0, 32), (0, 8)], [0, 1, 3]),
        # two in each slice of 2 ms, at its beginning; what a slice leaves is gone
        ([replace(CAP, slice_ns=2 * MS)], [(0, 8)] * 5 + [(7, 8), (9, 8), (9, 8)], [0, 0, 2, 2, 4, 7, 9, 9]),
        # a slice in which less than a request comes in: each waits for a whole one
        ([replace(CAP, per_s=250, burst_per_s=250, slice_ns=2 * MS)], [(0, 8)] * 3, [0, 4, 8]),
        # MiB are counted by the byte
        ([MIB], [(0, 512), (0, 256), (0, 1)], [0, 500, 750]),
        ([RateLimit("mib", 1, 4, 0.5, 0.5)], [(0, 256)] * 5, [0, 62.5, 125, 250, 500]),
        # the slower of two limits
        ([CAP, MIB], [(0, 8), (0, 1), (0, 1), (0, 512), (0, 8)], [0, 7.8125, 8.8125, 9.8125, 509.8125]),
    ],
)  # fmt: skip
def test_starts_by_hand(limits: list[RateLimit], requests: list[Request], starts: list[float]) -> None:
    assert starts_ms(requests, *limits) == pytest.approx(starts, abs=2e-6)


def ends_ms(device: FlashDevice, requests: list[tuple[float, int, int]]) -> list[float]:
    return served_ms((device,), requests)


def test_reads_and_writes_wait_for_caps_of_their_own() -> None:
    """Of one channel, which a write that waits for its cap leaves to the reads; with a joint cap they take turns."""
    reads, writes = replace(CAP, direction="read"), replace(CAP, per_s=100, burst_per_s=100, direction="write")
    both = [(0.0, 0, 1), (0.0, 0, 1), (0.0, 0, 0), (0.0, 0, 0), (0.0, 0, 0)]
    apart = FlashDevice("disk 1", MS // 10, MS // 10, 1, limits=(reads, writes))
    assert ends_ms(apart, both) == pytest.approx([0.1, 10.1, 0.2, 1.1, 2.1])
    joint = replace(apart, limits=(replace(CAP, per_s=1000),))
    assert ends_ms(joint, both) == pytest.approx([0.1, 1.1, 2.1, 3.1, 4.1])
    shared = [
        *ends_ms(replace(apart, limits=()), both[:1]),
        *served_ms((replace(apart, limits=()),), both, (reads, writes)),
    ]
    assert shared == pytest.approx([0.1, 0.1, 10.1, 0.2, 1.1, 2.1])


def test_a_bucket_of_another_size_gives_other_starts() -> None:
    assert starts_ms([(0, 8)] * 6, replace(BURST, credits=3, credits_at_start=3)) != starts_ms([(0, 8)] * 6, BURST)


def served_ms(
    devices: tuple[FlashDevice, ...], requests: list[tuple[float, int, int]], shared: tuple[RateLimit, ...] = ()
) -> list[float]:
    """Ends in ms of requests (at ms, device, write)."""
    env = Environment()
    storage = storage_of(devices)
    limits = limiters_of(storage, shared)
    stations = new_devices(env, storage, [RateLimiter(limit) for limit in limits.limits], limits.stages)
    done = [0.0] * len(requests)

    def one(number: int, at: float, device: int, write: int) -> Story:
        yield env.timeout(round(at * MS))
        yield stations[device].submit(0, 8192, write, "test")
        done[number] = env.now / MS

    for number, request in enumerate(requests):
        env.process(one(number, *request))
    env.run()
    return done


SLOW, QUICK = replace(CAP, per_s=100.0, burst_per_s=100.0), FlashDevice("disk", 2 * MS, 3 * MS, 10)


def test_a_request_waits_for_its_limits_and_is_then_served() -> None:
    assert served_ms((replace(QUICK, limits=(CAP,)),), [(0, 0, 0), (0, 0, 1), (0, 0, 0)]) == [2, 4, 4]
    assert served_ms((QUICK,), [(0, 0, 0), (0, 0, 1), (0, 0, 0)]) == [2, 3, 2]


def test_what_waits_has_been_taken_in_and_what_has_not_is_sorted() -> None:
    """One request in the volume, reads before writes outside: the write that is in waits, the read goes next."""
    device = replace(QUICK, parallel=1, reads_per_write=5, limits=(SLOW,))
    assert served_ms((device,), [(0, 0, 1), (0, 0, 1), (0, 0, 0)]) == [3, 23, 12]
    assert served_ms((replace(device, reads_per_write=0),), [(0, 0, 1), (0, 0, 1), (0, 0, 0)]) == [3, 13, 22]


def test_a_volume_that_waits_for_itself_holds_up_no_other() -> None:
    """Behind one cap of 1,000/s: three requests to a volume of 100/s, and one to another volume among them."""
    devices = replace(QUICK, limits=(SLOW,)), replace(QUICK, limits=(CAP,))
    asked = [(0, 0, 0), (0, 0, 0), (0, 0, 0), (0.5, 1, 0)]
    assert served_ms(devices, asked, (CAP,)) == [2, 12, 22, 3]
    assert served_ms(devices, asked) == [2, 12, 22, 2.5]
    one_stage = [RateLimiter(SLOW), RateLimiter(CAP)]
    together = [admit(one_stage, 8192, round(at * MS)) / MS + at for at, *_ in asked]
    assert together[3] == 30, "if requests passed both at once, the other volume would wait in the first one's queue"


sizes = st.sampled_from([1, 8, 16, 64, 256, 300, 1024])
asked = st.lists(st.tuples(st.integers(0, 30), sizes), min_size=1, max_size=60)
limits = st.builds(
    lambda of, per_s, burst, bucket, share, unit: RateLimit(
        of, per_s, per_s * burst if bucket else per_s, bucket, bucket * share, unit if of == "requests" else 1
    ),
    st.sampled_from(["requests", "mib"]),
    st.sampled_from([0.7, 30.0, 100.0, 1234.5]),
    st.sampled_from([1.0, 1.7, 10.0]),
    st.sampled_from([0.0, 1.0, 7.5, 40.0]),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.sampled_from([4 * KIB, 16 * KIB, 256 * KIB]),
)


def taken(limit: RateLimit, size: int) -> Fraction:
    """Credits that a request of so many KiB takes."""
    return Fraction(size, 1024) if limit.of == "mib" else Fraction(-(-size * KIB // limit.unit_bytes))


def plain_starts_s(requests: list[Request], limit: RateLimit) -> list[Fraction]:
    """By a bucket that is filled and emptied, in exact arithmetic: one may be in debt by what it took last."""
    kept, at, free = Fraction(limit.credits_at_start), Fraction(0), Fraction(0)
    starts = []
    for asked_ms, size in requests:
        start = max(Fraction(asked_ms) / 1000, free)
        there = min(kept + (start - at) * Fraction(limit.per_s), Fraction(limit.credits))
        if there < 0:
            start, there = start - there / Fraction(limit.per_s), Fraction(0)
        kept, at = there - taken(limit, size), start
        free = start + taken(limit, size) / Fraction(limit.burst_per_s)
        starts.append(start)
    return starts


@settings(max_examples=200, deadline=None)
@given(gaps=asked, limit=limits)
def test_starts_are_those_of_a_bucket(gaps: list[tuple[int, int]], limit: RateLimit) -> None:
    requests = [
        (float(at), size) for at, size in zip(accumulate(gap for gap, _ in gaps), [s for _, s in gaps], strict=True)
    ]
    found = starts_ms(requests, limit)
    assert found == pytest.approx(
        [float(start * 1000) for start in plain_starts_s(requests, limit)], rel=1e-9, abs=3e-6
    )


@settings(max_examples=100, deadline=None)
@given(gaps=asked, limit=limits, more=st.floats(1.0, 3.0))
def test_laws_of_limits(gaps: list[tuple[int, int]], limit: RateLimit, more: float) -> None:
    """In any time the burst rate's worth and one, from the start the credits and one; more is never later."""
    requests = [
        (float(at), size) for at, size in zip(accumulate(gap for gap, _ in gaps), [s for _, s in gaps], strict=True)
    ]
    starts = starts_ms(requests, limit)
    units = [0.0, *accumulate(float(taken(limit, size)) for _, size in requests)]
    ns = 1e-9 * limit.burst_per_s * 2 + 1e-9
    for i, begin in enumerate(starts):
        assert units[i] <= limit.credits_at_start + limit.per_s * begin / 1000 + ns * (i + 1), (
            "from time 0, before this"
        )
        for j in range(i + 1, len(starts)):
            assert units[j] - units[i] <= limit.burst_per_s * (starts[j] - begin) / 1000 + ns * (j - i)
    larger = replace(
        limit, per_s=limit.per_s * more, burst_per_s=limit.burst_per_s * more,
        credits=limit.credits * more, credits_at_start=limit.credits_at_start * more,
    )  # fmt: skip
    assert all(ours <= theirs + 2e-6 for ours, theirs in zip(starts_ms(requests, larger), starts, strict=True))


def test_the_laws_hold_tightly() -> None:
    """A flood gets the credits, the one that always starts, and what is refilled: not one fewer."""
    starts = starts_ms([(0.0, 8)] * 400, replace(BURST, credits=200, credits_at_start=200))
    out = 200 / (1000 - 100) * 1000
    before = sum(start < out for start in starts)
    assert before == pytest.approx(out, abs=2)
    assert sum(out < start <= out + 1000 for start in starts) == 100


def test_minutes_of_credits() -> None:
    """A volume of 600 GB of Amazon's gp2: 5.4 million credits, 1,800/s, bursts of 3,000/s: 75 minutes."""
    gp2 = RateLimit("requests", 1800, 3000, 5.4e6, 5.4e6, 256 * KIB)
    assert minutes_of_credits(gp2, 3000) == pytest.approx(75)
    assert minutes_of_credits(gp2, 1e6) == pytest.approx(75), "more than the burst rate is never let through"
    assert minutes_of_credits(gp2, 2100) == pytest.approx(300)
    assert minutes_of_credits(gp2, 3000, credits_now=5.4e5) == pytest.approx(7.5)
    assert minutes_of_credits(gp2, 1800) is None
    assert minutes_of_credits(replace(gp2, credits=0, credits_at_start=0, burst_per_s=1800), 9000) is None


def test_minutes_of_credits_are_those_of_the_clocks() -> None:
    limit = replace(BURST, credits=300, credits_at_start=300)
    requests = [(2.5 * n, 8) for n in range(2000)]
    starts = starts_ms(requests, limit)
    late = next(at for (at, _), start in zip(requests, starts, strict=True) if start > at + 1e-6)
    minutes = minutes_of_credits(limit, 400)
    assert minutes is not None
    assert late / 60_000 == pytest.approx(minutes, rel=0.01)
