"""Fair queueing before a device (CFQ): both engines' trajectory, and queues whose figures are known."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings

from simulator.form import FairQueueing, FlashDevice, Model, RaidSet
from simulator.kernel import KernelEngine, simulate
from simulator.kernel import columns as ks
from simulator.reference.raid import new_device
from simulator.reference.scheduler import FairQueue
from simulator.reference.stations import Environment
from tests.simulator.kernel.test_engine import EXAMPLES, MOST_EVENTS, SEEDS, SOAK
from tests.simulator.results.recording.test_devices import disk, reading
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import System, fair_systems
from tests.simulator.twins import differences, of_few_events

MS = 1_000_000
CFQ = FairQueueing(quantum=4, slice_ns=100 * MS, background_slice_ns=40 * MS)


def fair(model: Model, rules: FairQueueing = CFQ) -> Model:
    return dataclasses.replace(model, fair_queueing=rules)


# One trajectory


def test_both_engines_give_one_trajectory_and_turns_are_taken() -> None:
    seen: Counter[str] = Counter()

    @settings(EXAMPLES, max_examples=SOAK // 2 or 100)
    @given(system=fair_systems(), seed=SEEDS)
    def both_engines_agree(system: System, seed: int) -> None:
        engines: list[KernelEngine] = []
        assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed, engines.append) == []
        rows = engines[0].kernel.devices
        scheduled = rows[rows[:, ks.QUANTUM] > 0]
        seen["waits"] += bool((scheduled[:, ks.TURN_FIRST] != ks.NONE).any())
        seen["an owner of several waits"] += bool((scheduled[:, ks.OWNERS :: 3] != ks.NONE).any())
        seen["in a set"] += any(isinstance(device, RaidSet) for device in system.devices)
        seen["with an arm"] += any(device.kind == "rotating" for device in system.devices)

    both_engines_agree()
    for what in ("waits", "an owner of several waits", "in a set", "with an arm"):
        assert seen[what] > 5, seen


def test_a_kernel_with_another_quantum_or_slice_is_another_trajectory(busy_writer: Model) -> None:
    def hastier(column: int) -> None:
        def change(engine: KernelEngine) -> None:
            engine.kernel.devices[:, column] //= 4

        assert differences(busy_writer, 1, change)

    assert differences(busy_writer, 1) == []
    hastier(ks.QUANTUM)
    hastier(ks.BACKGROUND_SLICE)


@pytest.fixture
def busy_writer() -> Model:
    """Clients that change pages, which write-back takes to the device in heaps."""
    model = reading(8, 8, seconds=2, write=1)
    return fair(dataclasses.replace(model, direct_io=False), FairQueueing(8, 4 * MS, 4 * MS))


# Queues whose figures are known


@pytest.mark.parametrize("per_s", [300.0, 700.0])
def test_clients_are_served_one_by_one(per_s: float) -> None:
    """As M/D/1, however many the device could serve at once: mean response S + load S / 2 (1 - load), svctm = S."""
    model = reading(200, 8, per_s, seconds=40)
    one_by_one, at_once = disk(fair(model)), disk(model)
    load = one_by_one.reads_per_s * 1e-3
    assert one_by_one.mean_response_s == pytest.approx(1e-3 * (1 + load / 2 / (1 - load)), rel=0.04)
    assert one_by_one.occupied_per_request_s == pytest.approx(1e-3, rel=1e-3)
    assert at_once.mean_response_s == pytest.approx(1e-3, rel=0.01), "the twin without: all are served as they come"
    assert at_once.occupied_per_request_s == pytest.approx((1 - math.exp(-load)) / load * 1e-3, rel=0.02)


def test_a_device_that_never_rests_does_one_request_at_a_time_or_as_many_as_it_can() -> None:
    model = reading(50, 4)
    assert disk(fair(model)).reads_per_s == pytest.approx(1000, rel=0.01)
    assert disk(model).reads_per_s == pytest.approx(4000, rel=0.01)


def test_the_paper_s_service_times_are_one_latency_with_and_without_overlap() -> None:
    """S = 0.24 ms and 6,250 requests/s: svctm 0.125 ms and 78 % busy without, and nothing of the kind with CFQ."""
    model = reading(400, 64, 6250.0, seconds=5)
    flash = FlashDevice("disk 1", 240_000, 240_000, 64)
    model = dataclasses.replace(model, storage=dataclasses.replace(model.storage, devices=(flash,)))
    noop, cfq = disk(model), disk(fair(model))
    assert noop.occupied_fraction == pytest.approx(0.78, abs=0.01)
    assert noop.occupied_per_request_s == pytest.approx(0.125e-3, rel=0.02)
    assert noop.mean_queue == pytest.approx(1.5, rel=0.03)
    assert cfq.occupied_per_request_s == pytest.approx(0.24e-3, rel=1e-3)
    assert cfq.reads_per_s == pytest.approx(1 / 0.24e-3, rel=0.01), "it can't do more"


# Whose turn it is, on one device


class Bench:
    """One device of 1 ms; what was submitted ends at `ends`, in ms."""

    def __init__(self, rules: FairQueueing | None, parallel: int) -> None:
        self.env = Environment()
        self.station = new_device(self.env, FlashDevice("flash", MS, MS, parallel), 100)
        if rules:
            self.station.take_in = FairQueue(self.env, rules, self.station.take_in).add
        self.ends: dict[str, list[float]] = {"data read": [], "writer": [], "log": [], "write-back": []}

    def submit(self, purpose: str, count: int = 1) -> None:
        for _ in range(count):
            done = self.station.submit(0, 8192, int(purpose != "data read"), purpose)
            done.callbacks.append(lambda _: self.ends[purpose].append(self.env.now / MS))


def burst(rules: FairQueueing | None, readers: int = 1, parallel: int = 4, writes: int = 400) -> Bench:
    """A burst of the writer, and half a millisecond later some reads."""
    bench = Bench(rules, parallel)
    bench.submit("writer", writes)
    bench.env.run(until=MS // 2)
    bench.submit("data read", readers)
    bench.env.run()
    return bench


def test_a_burst_keeps_the_device_until_its_slice_is_over() -> None:
    """Four a millisecond for 40 ms; a read that came at 0.5 ms is done at 41. Another slice, another wait."""
    bench = burst(CFQ)
    assert bench.ends["data read"] == [41.0]
    assert sum(end <= 40 for end in bench.ends["writer"]) == 160
    assert bench.ends["writer"][-1] == 101.0, "it goes on where it was, behind the read"
    assert burst(dataclasses.replace(CFQ, background_slice_ns=10 * MS)).ends["data read"] == [11.0]
    assert burst(CFQ, writes=20).ends["data read"] == [6.0], "the burst is over before its slice is"


def test_reads_of_several_clients_are_a_turn_each_and_a_burst_is_one() -> None:
    """Four reads take 4 ms, one by one, between two slices of the writer: then nobody waits but the writer."""
    bench = burst(CFQ, readers=4)
    assert bench.ends["data read"] == [41.0, 42.0, 43.0, 44.0]
    assert [b - a for a, b in pairwise(bench.ends["writer"]) if b - a > 1] == [5.0]


def test_the_device_holds_a_quantum_of_its_owner() -> None:
    """Of 32 places a quantum of 4 leaves 28 empty; one of 16 makes the burst four times as short; none has all 32."""
    for quantum, lasts_ms in ((4, 100.0), (16, 25.0)):
        rules = FairQueueing(quantum, 100 * MS, 1000 * MS)
        assert burst(rules, readers=0, parallel=32).ends["writer"][-1] == lasts_ms
    assert burst(None, readers=0, parallel=32).ends["writer"][-1] == 13.0


def test_owners_take_turns_in_the_order_in_which_they_came() -> None:
    """The log's slice is that of a client; the writer's requests that come later join those that wait."""
    bench = Bench(CFQ, 4)
    for purpose, count in (("write-back", 8), ("log", 1), ("writer", 4), ("data read", 1), ("writer", 4)):
        bench.submit(purpose, count)
    bench.env.run()
    assert bench.ends == {
        "write-back": [1.0] * 4 + [2.0] * 4, "log": [3.0], "writer": [4.0] * 4 + [5.0] * 4, "data read": [6.0],
    }  # fmt: skip


def test_results_of_runs_with_turns_break_no_law() -> None:
    result = simulate(fair(reading(20, 4, write=1)), 1)
    assert not result.broken_laws
