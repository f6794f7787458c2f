"""Fair queueing before a device (CFQ): both engines' trajectory, and queues whose figures are known."""

import dataclasses
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from oltpsim.simulator.form import FairQueueing, FlashDevice, RaidSet, System
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.reference.fair_queueing import FairQueue
from tests.simulator.kernel.test_engine import EXAMPLES, MOST_EVENTS, SEEDS, SOAK
from tests.simulator.reference.test_fair_queueing import CFQ
from tests.simulator.results.recording.test_devices import disk, reading
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, fair_systems
from tests.simulator.twins import differences, of_few_events, with_value

MS = 1_000_000


def fair(model: System, rules: FairQueueing = CFQ) -> System:
    return dataclasses.replace(model, fair_queueing=rules)


# One trajectory


def test_both_engines_give_one_trajectory_and_turns_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()
    queues: list[FairQueue] = []
    begin = FairQueue.__init__

    def noted(queue: FairQueue, *arguments: Any) -> None:
        begin(queue, *arguments)
        queues.append(queue)

    monkeypatch.setattr(FairQueue, "__init__", noted)

    @settings(EXAMPLES, max_examples=SOAK // 2 or 140)
    @given(system=fair_systems(), seed=SEEDS)
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        queues.clear()
        assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []
        seen["waits"] += any(queue.turns for queue in queues)
        seen["an owner of several waits"] += any(owner.waiting for queue in queues for owner in queue.owners.values())
        seen["in a set"] += any(isinstance(device, RaidSet) for device in system.devices)
        seen["with an arm"] += any(device.kind == "rotating" for device in system.devices)

    both_engines_agree()
    for what in ("waits", "an owner of several waits", "in a set", "with an arm"):
        assert seen[what] > 5, seen


def test_a_kernel_with_another_quantum_or_slice_is_another_trajectory(busy_writer: System) -> None:
    def are_noticed_if_hastier(column: str) -> bool:
        hastier = with_value(f"system.fair_queueing.{column}", lambda value: value // 4)
        return bool(differences(busy_writer, 1, hastier))

    assert differences(busy_writer, 1) == []
    assert are_noticed_if_hastier("quantum")
    assert are_noticed_if_hastier("background_slice_ns")


@pytest.fixture
def busy_writer() -> System:
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


def test_results_of_runs_with_turns_break_no_law() -> None:
    result = simulate(fair(reading(20, 4, write=1)), 1)
    assert not result.broken_laws
