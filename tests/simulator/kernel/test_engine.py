"""The kernel's trajectory is the reference engine's: every end of a transaction, every page, every counter.

Hypothesis draws small systems of every kind of part (systems.py), and scenarios of TPC-C; both engines run them.
CI always draws the same ones. To draw others, and more of them, for as long as you like:

    OLTPSIM_SOAK_EXAMPLES=5000 .venv/bin/pytest -n 0 tests/simulator/kernel/test_engine.py
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from simulator.kernel.calendar import HEAP_COUNT
from simulator.kernel.columns import Kernel
from simulator.kernel.growth import grown as grown_from_kernel
from simulator.kernel.state import COSTS, MISS_NS

from simulator.errors import InternalError
from simulator.form import (
    Assembler,
    Checkpoint,
    Costs,
    FlashDevice,
    Interval,
    Log,
    Model,
    PageCache,
    Pool,
    RotatingDevice,
)
from simulator.kernel import KernelEngine
from simulator.kernel import columns as ks
from simulator.kernel.engine import run
from simulator.reference.device import REWRITE
from simulator.reference.write_cache import CachingStation
from simulator.results import ACTIVITIES
from simulator.results.recording import MOST_SERIES_STEPS
from tests.simulator.conftest import make_model
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import RAID_SETS, System, caching_systems, systems, worked_systems
from tests.simulator.tpcc_systems import tpcc_models
from tests.simulator.twins import differences, of_few_events, requests_lost, shortened

MS = 1_000_000
SOAK = int(os.environ.get("OLTPSIM_SOAK_EXAMPLES", "0"))
EXAMPLES = settings(
    max_examples=SOAK or 200,
    derandomize=not SOAK,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # making a failing example smaller would run it for minutes
    suppress_health_check=list(HealthCheck),
)
MOST_EVENTS = 10_000
ARM = RotatingDevice("arm", 1 << 31, 6 * MS, 1 << 19, MS, 4 * MS, 9 * MS, MS // 5, 4, "look")
FLASH = FlashDevice("flash", 2 * MS, 3 * MS, 2)
# Eight clients that think for the same 5 ms and change pages, with contention wherever there can be some
TIED = System(
    think=("constant", 5 * MS, 0), arrivals_per_s=0.0, groups=2, rows_per_page=2, hot_pages=60, grown_pages=20,
    fanout=20, window=5,
    classes=((1, (("cpu", MS, 0, 0), ("touch", "popular", 1, 0), ("lock", "lock 1"), ("touch", "next row", 1, MS),
                  ("touch", "popular", 1, 0), ("section", "mutex 1", MS), ("log", 500))),),
    clients=8, cores=2, servers=1, handover_ns=MS, pool=Pool(20, "lru", 15, 10, 5),
    cache=PageCache(20, 10, 20 * MS, 40 * MS, 70, False), devices=(FLASH,), own_log=False, swap_cluster_pages=3,
    merged_pages=2, requests_per_device=2, log=Log(True, MS // 2), checkpoint=Checkpoint(400 * MS, 100 * MS),
    costs=Costs(100_000, 100_000, 100_000, 100_000), direct_io=False, interval=Interval("cold", 0, 1000 * MS),
)  # fmt: skip
SEEDS = st.integers(1, 2**31)


def what_happened(system: System, engine: KernelEngine) -> set[str]:
    """Names of whatever took place in a run."""
    kernel, model = engine.kernel, engine.model
    happened = {f"{device.scheduler} {device.queue_depth > 1}" for device in model.storage.with_disks
                if isinstance(device, RotatingDevice)}  # fmt: skip
    happened |= {device.kind for device in model.storage.devices}
    happened |= {f"copies {one.copies} parities {one.parities}" for one in model.storage.devices if one.kind == "raid"}
    happened |= {system.pool.replacement, f"direct {system.direct_io}", f"durable {system.log.durable}"}
    happened |= {model.interval.start, f"open {system.think is None}", f"own log {model.storage.log_device > 0}"}
    spent = kernel.classes[:, ks.CLASS_SPENT : ks.HISTOGRAM].sum(axis=0)
    happened |= {name for name, ns in zip(ACTIVITIES, spent, strict=True) if ns}
    served = kernel.devices[:, ks.BY_PURPOSE : ks.BY_PURPOSE + len(ks.PURPOSES)].sum(axis=0)
    happened |= {name for name, count in zip(ks.PURPOSES, served, strict=True) if count}
    happened |= {"reads first"} if kernel.devices[:, ks.READS_AHEAD].any() else set()
    happened |= {"rollback"} if kernel.classes[:, ks.ROLLED].any() else set()
    happened |= {"checkpoint"} if kernel.facts[ks.CHECKPOINTS_DONE] else set()
    happened |= {"handover"} if kernel.stations[kernel.facts[ks.SECTIONS_FROM] :, ks.WAITS].any() else set()
    happened |= {"dirty eviction"} if engine.record.snapshots[-1].counters.page_cache.dirty_evictions else set()
    return happened


EVERYTHING = {
    *ACTIVITIES, *ks.PURPOSES, "rotating", "flash", "raid", "lru", "clock", "cold", "after_load", "warm", "rollback",
    "checkpoint", "handover", "dirty eviction", "reads first",
    *(f"copies {copies} parities {parities}" for _, copies, parities in RAID_SETS),
    *(f"{scheduler} {several}" for scheduler in ks.SCHEDULERS for several in (True, False)),
    *(f"{word} {choice}" for word in ("direct", "durable", "open", "own log") for choice in (True, False)),
}  # fmt: skip


def test_random_systems_give_one_trajectory_and_show_every_part_at_work() -> None:
    """Any part, any policy; and what the systems are drawn for does happen in at least two of a hundred."""
    happened: Counter[str] = Counter()

    @EXAMPLES
    @given(system=systems(), seed=SEEDS)
    def both_engines_agree(system: System, seed: int) -> None:
        model = of_few_events(model_of_system(system), seed, MOST_EVENTS)
        assert differences(model, seed, engines.append) == []
        happened.update(what_happened(system, engines.pop()))

    engines: list[KernelEngine] = []
    both_engines_agree()
    rare = {name: happened[name] for name in EVERYTHING if happened[name] < EXAMPLES.max_examples / 50}
    assert not rare, "draw more of these"


@settings(EXAMPLES, max_examples=SOAK // 4 or 50)
@given(system=worked_systems(), seed=SEEDS)
def test_fixed_work_on_threads_gives_one_trajectory(system: System, seed: int) -> None:
    """The run ends after the same event, and bursts are as long, whoever is busy when they start."""
    assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []


def test_write_caches_give_one_trajectory_and_show_all_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Early acknowledgement, room, turns of reads and cached writes, parity that is read first."""
    met: Counter[str] = Counter()
    feed, end_read = CachingStation._feed, CachingStation._end_read

    def noted(station: CachingStation) -> None:
        feed(station)
        now = {"many": len(station.destaging) > 1, "kept behind those": bool(station.cached),
               "waits for room": bool(station.waiting_writes),
               "reads beside it": bool(station.waiting_writes and station.held)}  # fmt: skip
        met.update(name for name, is_so in now.items() if is_so)

    def noted_read(station: CachingStation, chosen: int, service_ns: int) -> None:
        met["parity"] += station.held[chosen].request.write == REWRITE
        end_read(station, chosen, service_ns)

    @settings(EXAMPLES, max_examples=SOAK // 4 or 50)
    @given(system=caching_systems(), seed=SEEDS)
    def both_engines_agree(system: System, seed: int) -> None:
        assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []

    monkeypatch.setattr(CachingStation, "_feed", noted)
    monkeypatch.setattr(CachingStation, "_end_read", noted_read)
    both_engines_agree()
    assert min(met[name] for name in ("many", "kept behind those", "waits for room", "reads beside it", "parity")) > 50


@settings(EXAMPLES, max_examples=SOAK // 10 or 20)
@given(model=tpcc_models(), seed=SEEDS)
def test_tpcc_gives_one_trajectory(model: Model, seed: int) -> None:
    """Scenarios as users write them, through specs and `build`."""
    assert differences(model, seed) == []


def swapped_ties(engine: KernelEngine) -> None:
    """Of two clients that stop thinking at the same instant the later one goes first."""
    run(engine.state, engine.kernel, MS, engine.margin)
    calendar = engine.kernel.calendar
    ties = np.flatnonzero(calendar.times[: calendar.clock[HEAP_COUNT]] == 5 * MS)
    calendar.keys[ties[:2]] = calendar.keys[ties[1::-1]]


def added(place: Callable[[KernelEngine], Any], *index: int) -> Callable[[KernelEngine], None]:
    """One more in one entry of an array."""

    def change(engine: KernelEngine) -> None:
        place(engine)[index] += 1

    return change


def kernel_array(name: str) -> Callable[[KernelEngine], Any]:
    return lambda engine: getattr(engine.kernel, name)


def state_array(name: str) -> Callable[[KernelEngine], Any]:
    return lambda engine: getattr(engine.state, name)


def swapped_starts(engine: KernelEngine) -> None:
    """Two clients start in the other order."""
    urgent = engine.kernel.calendar.urgent
    urgent[:2] = urgent[1::-1]


TAMPERED = {
    "nothing": (lambda _: None, True),
    "two events of one time in the other order": (swapped_ties, False),
    "two clients start in the other order": (swapped_starts, False),
    "a flash read of 1 ns more": (added(kernel_array("devices"), 0, ks.READ_TIME), False),
    "a handover of 1 ns more": (added(kernel_array("stations"), 1, ks.HANDOVER), False),
    "a flush of 1 ns more": (added(kernel_array("facts"), ks.FLUSH_OVERHEAD), False),
    "a miss of 1 ns more": (added(state_array("tables"), COSTS, MISS_NS), False),
    "another random stream": (added(state_array("streams"), 0), False),
    "one row more": (added(state_array("counters"), 0), False),
    "one transaction more": (added(kernel_array("facts"), ks.ENDED), False),
    "another burst of 1 ns more": (added(kernel_array("longer_ppm"), 2), False),
    "one byte of log more": (added(kernel_array("facts"), ks.LOG_WRITTEN), False),
    "one lock wait more": (added(kernel_array("facts"), ks.LOCK_WAITS), False),
    "1 ns of response time more": (added(kernel_array("classes"), 0, ks.TOTAL_NS), False),
    "1 ns of device time more": (added(kernel_array("devices"), 0, ks.SERVICE_NS), False),
    "one page more in flight": (added(kernel_array("facts"), ks.MOST_IN_FLIGHT), True),
}


@pytest.mark.parametrize(("change", "same"), TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_kernel_is_noticed(change: Callable[[KernelEngine], None], same: bool) -> None:
    """One nanosecond, one count, one exchange of events; a limit that is never reached changes nothing."""
    assert (differences(model_of_system(TIED), 1, change) == []) is same


class CrampedEngine(KernelEngine):
    """Asks for more room whenever the number of pending requests rises, far too early."""

    growths = 0

    @property
    def margin(self) -> int:
        """Free requests below which there is not enough room."""
        return len(self.kernel.requests) - 2 * self.growths if self.growths < 5 else self.enough

    @margin.setter
    def margin(self, enough: int) -> None:
        self.enough = enough


@pytest.mark.parametrize("arrivals_per_s", [0.0, 1500.0])
@pytest.mark.parametrize("scheduler", ["fcfs", "look"])
def test_more_room_on_the_way_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, scheduler: str, arrivals_per_s: float
) -> None:
    """Requests and arrivals that find their arrays full: these are copied, and the run goes on as if nothing was."""
    grown_from: list[int] = []

    def grown(kernel: Kernel) -> Kernel:
        grown_from.append(len(kernel.requests))
        CrampedEngine.growths += 1
        return grown_from_kernel(kernel)

    def narrow(engine: KernelEngine) -> None:
        engine.kernel = engine.kernel._replace(arrived=np.zeros((4, 2), dtype=np.int64))

    monkeypatch.setattr("simulator.kernel.columns.requests_margin", lambda _: 100)
    monkeypatch.setattr("simulator.kernel.engine.grown", grown)
    monkeypatch.setattr(CrampedEngine, "growths", 0)
    arm = dataclasses.replace(ARM, scheduler=scheduler)
    think = None if arrivals_per_s else TIED.think
    system = dataclasses.replace(TIED, devices=(arm, FLASH), think=think, arrivals_per_s=arrivals_per_s)
    assert differences(model_of_system(system), 1, narrow, CrampedEngine) == []
    assert len(grown_from) >= (7 if arrivals_per_s else 3)
    assert grown_from == [400 << i for i in range(len(grown_from))]


def filling(rows: int, **parts: Any) -> Model:
    """One client that appends pages, `rows` in a transaction, and after one of sixteen looks at the first page."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    row, zero, count, chances = asm.register("row"), asm.register("zero"), asm.register("count"), asm.stream("chances")
    grown = asm.region("grown", 1, 30_000, 1)
    insert = asm.reference("insert", "append", grown, zero, row=row, appended_pages=0)
    first, counter = asm.reference("first", "row", grown, zero, row=zero), asm.counter("rows", 1, 0)
    asm.begin_class("fill")
    asm.emit("cpu", MS, 0, 0)
    asm.emit("set", count, rows)
    again, after = asm.label(), asm.label()
    asm.place(again)
    asm.emit("take", row, counter, zero, 1)
    asm.emit("touch", insert, 1, 0)
    asm.emit("loop", count, again)
    asm.emit("maybe", 15 << 28, chances, after)
    asm.emit("touch", first, 0, 0)
    asm.place(after)
    asm.emit("commit")
    asm.emit("end")
    flash = FlashDevice("flash", MS // 10, MS // 10, 1)
    return make_model(asm, duration_s=2, expire_s=5, devices=(flash,), **parts)


def test_thousands_of_swap_outs_at_once() -> None:
    """Buffers that lost their memory before the first of them is asked for again are written then, all at once."""
    model = filling(600, pool_pages=12_000, resident_pages=500)
    engine = KernelEngine(model, 4)
    engine.run(None)
    assert len(engine.kernel.requests) > len(KernelEngine(model, 4).kernel.requests)
    assert differences(model, 4) == []


@pytest.mark.parametrize("direct_io", [False, True])
def test_a_checkpoint_that_takes_no_cpu_time_is_written_batch_by_batch(direct_io: bool) -> None:
    """Thousands of dirty buffers meet a page cache that has to give up a dirty page for each."""
    parts = {"pool_pages": 10_000, "cache_pages": 3000, "dirty_limit_pages": 20_000, "checkpoint_s": 0.15}
    assert differences(filling(100, direct_io=direct_io, **parts), 4) == []


def test_an_event_of_more_requests_than_there_is_room_for_is_an_error() -> None:
    """Without this, requests would vanish. A transaction that fills so many pages without any wait is none of ours."""
    parts = {"pool_pages": 10, "cache_pages": 10, "dirty_limit_pages": 20_000}
    with pytest.raises(InternalError, match="one event has submitted more"):
        KernelEngine(filling(8000, **parts), 1).run(None)


def test_an_hour_needs_no_more_memory_than_a_second() -> None:
    """No array grows, no request leaks, and the series has its bounded number of steps."""
    system = dataclasses.replace(TIED, think=("exponential", 400 * MS, 0), devices=(FLASH,))
    hour = shortened(model_of_system(system), 3600 * 1000 * MS)
    engine = KernelEngine(hour, 1)
    before = sizes(engine)
    engine.run(None)
    assert engine.record.ended > 20_000
    assert len(engine.record.snapshots) <= MOST_SERIES_STEPS + 2
    after = sizes(engine)
    assert {name: size for name, size in after.items() if size != before[name]} == {}
    assert requests_lost(engine) == 0


def sizes(engine: KernelEngine) -> dict[str, int]:
    """Bytes of every array, without the table of checkpoints, which is as long as the run from the start."""
    kernel, state = engine.kernel, engine.state
    arrays = kernel._asdict() | kernel.calendar._asdict() | state._asdict() | state.tiers._asdict()
    return {name: array.nbytes for name, array in arrays.items() if isinstance(array, np.ndarray)}
