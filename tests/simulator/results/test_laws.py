"""Laws of every run: same seed same bytes, sums that add up, and more hardware that is never slower."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from oltpsim.simulator import kernel
from oltpsim.simulator.form import FlashDevice, RotatingDevice, System
from oltpsim.simulator.reference import ReferenceEngine, simulate
from oltpsim.simulator.reference.record import ReferenceRecorder
from oltpsim.simulator.results import Result, result_json

MS = 1_000_000
ModelOf = Callable[..., System]
FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # making a failing example smaller would run it for minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
ARM = RotatingDevice("arm", 1 << 34, 6 * MS, 1 << 19, MS // 2, 4 * MS, 9 * MS, MS // 5, 4, "look")


def flash(read_ms: float, write_ms: float = 0.5, parallel: int = 1) -> FlashDevice:
    return FlashDevice("disk", round(read_ms * MS), round(write_ms * MS), parallel)


machines = st.fixed_dictionaries(
    {
        "clients": st.integers(1, 6),
        "cores": st.integers(1, 3),
        "pool_pages": st.integers(20, 200),
        "resident_pages": st.sampled_from([15, 200]),
        "cache_pages": st.integers(10, 200),
        "dirty_limit_pages": st.integers(5, 50),
        "replacement": st.sampled_from(["lru", "clock"]),
        "durable": st.booleans(),
        "direct_io": st.booleans(),
        "devices": st.sampled_from([(flash(1.0),), (ARM,), (flash(0.5, 0.2, 4), flash(0.5, 0.2, 4))]),
        "think_ns": st.sampled_from([0, 5 * MS]),
        "requests_per_device": st.integers(1, 8),
        "warm_up_s": st.sampled_from([0, 1]),
        "merged_pages": st.integers(1, 4),
    }
)


@given(parts=machines, seed=st.integers(1, 2**31))
@FEW
def test_every_run_obeys_all_laws_and_its_seed(busy: ModelOf, parts: dict[str, Any], seed: int) -> None:
    """No law broken; the same seed gives the same bytes and another seed another run."""
    result = simulate(busy(**parts), seed)
    assert result.broken_laws == []
    assert len(result.laws) >= 8
    assert result_json(simulate(busy(**parts), seed)) == result_json(result)
    other = simulate(busy(**parts), seed + 1)
    assert result_json(dataclasses.replace(other, seed=seed)) != result_json(result)
    assert other.broken_laws == []


def rate(model: System) -> float:
    """Transactions a second over two seeds, by the engine whose trajectory is the same in less time."""
    return sum(kernel.simulate(model, seed).transactions_per_s for seed in (1, 2)) / 2


PATIENT = settings(FEW, max_examples=4)
NOISE = 0.03
clients_and_pages = {"clients": st.integers(1, 6), "pool_pages": st.integers(30, 80)}


@given(parts=st.fixed_dictionaries(clients_and_pages), device=st.sampled_from(["flash", "arm"]))
@PATIENT
def test_a_faster_disk_is_never_slower(busy: ModelOf, parts: dict[str, Any], device: str) -> None:
    if device == "flash":
        slow, fast = flash(3.0), flash(2.0)
    else:
        slow, fast = (dataclasses.replace(ARM, seek_average_ns=ns, seek_full_ns=2 * ns) for ns in (8 * MS, 4 * MS))  # type: ignore[assignment]
    before = rate(busy(devices=(slow,), **parts))
    assert rate(busy(devices=(fast,), **parts)) > before * (1 - NOISE)
    assert rate(busy(devices=(flash(30.0),), **parts)) < before * (1 - NOISE), "a disk that is slower is noticed"


@given(clients=st.integers(1, 6), replacement=st.sampled_from(["lru", "clock"]), pages=st.integers(20, 50))
@PATIENT
def test_more_memory_is_never_slower(busy: ModelOf, clients: int, replacement: str, pages: int) -> None:
    parts = {"clients": clients, "replacement": replacement, "devices": (flash(1.0),), "direct_io": True}
    small, large, all_of_it = (rate(busy(pool_pages=n, **parts)) for n in (pages, pages + 30, 300))
    assert large > small * (1 - NOISE)
    assert all_of_it > small * (1 + NOISE), "memory for everything is noticed"


@given(clients=st.integers(1, 5), cores=st.integers(1, 3))
@PATIENT
def test_more_clients_are_never_slower_where_nobody_contends(network: ModelOf, clients: int, cores: int) -> None:
    """And no more than one client's rate times their number."""
    visits = [("server", "exponential", 2 * MS, 0)]
    parts = {"think_s": 0.01, "servers": {"server": cores}, "duration_s": 20}
    one, some, more = (rate(network(visits, clients=n, **parts)) for n in (1, clients, clients + 1))
    assert more > some * (1 - NOISE)
    assert some <= clients * one * (1 + NOISE)
    assert more < 2.5 * some, "a rate that doubles twice would be noticed"


def tampered(model: System, change: Callable[[ReferenceRecorder], None]) -> Result:
    """The result of a run whose record is changed before it is added up."""
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    change(engine.record)
    return engine.record.result()


def counted_wrongly(part: str, name: str, by: int) -> Callable[[ReferenceRecorder], None]:
    """Add to a counter of the last snapshot: of the first device, of a part by name, or (no part) of the whole."""

    def more(value: Any) -> Any:
        return replace(value, **{name: getattr(value, name) + by})

    def change(record: ReferenceRecorder) -> None:
        last = record.snapshots[-1]
        if not part:
            counters = more(last.counters)
        elif part == "device":
            counters = replace(last.counters, devices=(more(last.counters.devices[0]), *last.counters.devices[1:]))
        else:
            counters = replace(last.counters, **{part: more(getattr(last.counters, part))})
        record.snapshots[-1] = replace(last, counters=counters)

    return change


def time_lost(record: ReferenceRecorder) -> None:
    record.classes[0].spent_ns[0] += record.classes[0].completed * MS


def one_response_forgotten(record: ReferenceRecorder) -> None:
    record.classes[0].total_ns //= 2


@pytest.mark.parametrize(
    ("change", "law"),
    [
        (counted_wrongly("device", "reads", 3), "arrivals = completions"),
        (counted_wrongly("device", "arrived", -3), "arrivals = completions"),
        (counted_wrongly("device", "response_ns", 10**9), "disk: Little"),
        (counted_wrongly("device", "busy_ns", 3 * 10**9), "disk utilisation <= 1"),
        (counted_wrongly("pool", "evictions", 6), "pages in = pages out"),
        (counted_wrongly("pool", "hits", -12), "pages in = pages out"),
        (counted_wrongly("", "in_system_ns", 4 * 10**9), "Little: number in system"),
        (counted_wrongly("", "cpu_busy_ns", 4 * 10**9), "cpu utilisation <= 1"),
        (time_lost, "change: times sum"),
        (one_response_forgotten, "change: times sum"),
    ],
)
def test_a_wrong_count_breaks_a_law(busy: ModelOf, change: Callable[[ReferenceRecorder], None], law: str) -> None:
    model = busy(devices=(flash(1.0),))
    assert tampered(model, lambda _: None).broken_laws == []
    broken = [each.name for each in tampered(model, change).broken_laws]
    assert any(law in name for name in broken), broken
