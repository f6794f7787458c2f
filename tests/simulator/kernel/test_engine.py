"""The kernel's trajectory is the reference engine's: every end of a transaction, every page, every counter.

Hypothesis draws small systems of every kind of part (systems.py), and scenarios of TPC-C; both engines run them.
CI always draws the same ones. To draw others, and more of them, for as long as you like:

    OLTPSIM_SOAK_EXAMPLES=5000 .venv/bin/pytest -n 0 tests/simulator/kernel/test_engine.py
"""

import dataclasses
import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from oltpsim.simulator.form import (
    OPERATIONS,
    PPM,
    Assembler,
    CachingDevice,
    Costs,
    Daemon,
    FlashDevice,
    Interval,
    Log,
    PageCache,
    Pool,
    RaidSet,
    RotatingDevice,
    Sharing,
    System,
    Writing,
)
from oltpsim.simulator.form.daemon import DAEMON_OPERATIONS
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.reference.daemons import Daemons
from oltpsim.simulator.reference.device import REWRITE, Request
from oltpsim.simulator.reference.page_writes import PageWriter
from oltpsim.simulator.reference.write_cache import CachingStation
from oltpsim.simulator.results import ACTIVITIES
from oltpsim.simulator.results.recording import MOST_SERIES_STEPS
from tests.simulator.conftest import make_model
from tests.simulator.daemons import checkpointer, write_back, writer
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import (
    RAID_SETS,
    DrawnSystem,
    any_systems,
    caching_systems,
    controlled_systems,
    flushing_systems,
    worked_systems,
)
from tests.simulator.tpcc_systems import tpcc_models
from tests.simulator.twins import Finished, differences, of_few_events, requests_lost, shortened, with_value

MS = 1_000_000
SOAK = int(os.environ.get("OLTPSIM_SOAK_EXAMPLES", "0"))
EXAMPLES = settings(
    max_examples=SOAK or 300,
    derandomize=not SOAK,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # making a failing example smaller would run it for minutes
    suppress_health_check=list(HealthCheck),
)
MOST_EVENTS = 3_000
ARM = RotatingDevice("arm", 1 << 31, 6 * MS, 1 << 19, MS, 4 * MS, 9 * MS, MS // 5, 4, "look")
FLASH = FlashDevice("flash", 2 * MS, 3 * MS, 2)
# Eight clients that think for the same 5 ms and change pages, with contention wherever there can be some
TIED = DrawnSystem(
    think=("constant", 5 * MS, 0), arrivals_per_s=0.0, groups=2, rows_per_page=2, hot_pages=60, grown_pages=20,
    fanout=20, window=5,
    classes=((1, (("cpu", MS, 0, 0), ("touch", "popular", 1, 0), ("lock", "lock 1"), ("touch", "next row", 1, MS),
                  ("touch", "popular", 1, 0), ("section", "mutex 1", MS), ("log", 500))),),
    clients=8, cores=2, servers=1, handover_ns=MS, pool=Pool(20, "lru", 15),
    cache=PageCache(20, 10, 70, False), devices=(FLASH,), own_log=False, swap_cluster_pages=3,
    merged_pages=2, requests_per_device=2, log=Log(True, MS // 2),
    costs=Costs(100_000, 100_000, 100_000, 100_000), direct_io=False, interval=Interval("cold", 0, 1000 * MS),
    daemons=(write_back(40 * MS, 20 * MS), writer(10, 5), checkpointer(400 * MS, 100 * MS)),
)  # fmt: skip
SEEDS = st.integers(1, 2**31)


def with_writer(pages: int) -> tuple[Daemon, ...]:
    """The daemons of TIED, with a writer of other marks."""
    return TIED.daemons[0], writer(pages, pages), TIED.daemons[2]


PURPOSES = ("data read", "eviction write", "swap in", "swap out", "write-back", "log", "writer")
OF_CLEANERS = ("write_tail", "write_aged", "every_or_evicted", "merge")
IN_TESTS_OF_THEIR_OWN = (*OF_CLEANERS, "write_unused")
SCHEDULERS = ("fcfs", "look", "c-look")


def what_happened(system: DrawnSystem, finished: Finished) -> set[str]:
    """Names of whatever took place in a run: parts that have served something, operations that were executed."""
    engine = finished.kernel
    model, last = engine.system, engine.record.snapshots[-1].counters
    at_work = [
        device for device, counted in zip(model.storage.with_disks, last.devices, strict=True) if counted.completed
    ]
    arms = [device for device in at_work if isinstance(device, RotatingDevice)]
    happened = {f"{device.scheduler} {device.queue_depth > 1}" for device in arms}
    happened |= {device.kind for device in at_work}
    happened |= {f"copies {one.copies} parities {one.parities}" for one in at_work if isinstance(one, RaidSet)}
    happened |= {"write cache"} if any(isinstance(one, CachingDevice) for one in arms) else set()
    happened |= {system.pool.replacement, f"direct {system.direct_io}", f"durable {system.log.durable}"}
    happened |= {model.interval.start, f"open {system.think is None}", f"own log {model.storage.log_device > 0}"}
    classes = engine.record.classes
    happened |= {name for number, name in enumerate(ACTIVITIES) if any(each.spent_ns[number] for each in classes)}
    happened |= {purpose for device in last.devices for purpose in device.by_purpose}
    happened |= {"rollback"} if any(each.rolled_back for each in classes) else set()
    happened |= {"checkpoint"} if engine.record.checkpoints_ns else set()
    happened |= {"handover"} if any(section.waits for section in last.sections) else set()
    happened |= {"dirty eviction"} if last.page_cache.dirty_evictions else set()
    happened |= {"threads slow each other"} if system.sharing else set()
    happened |= {"several pages in one write"} if system.writing != Writing() and system.direct_io else set()
    happened |= {"pushed"} if system.writing.pushed and not system.direct_io else set()
    happened |= {"tables on their own devices"} if system.by_table else set()
    happened |= {"limits"} if any(limiter.closed_ps for limiter in last.limiters) else set()
    happened |= {"fair queueing"} if any(last.devices[one].completed for one in model.scheduled_devices) else set()
    happened |= {"terminals"} if model.terminals and last.ended else set()
    happened |= {"interrupts"} if model.interrupts and last.pool.misses else set()
    happened |= {"fixed work"} if model.work else set()
    happened |= {"lead-in"} if model.interval.lead_in_transactions else set()
    happened |= {"no daemons"} if not model.daemons else set()
    happened |= {"two writers"} if sum(any(each.operands("await_dirty")) for each in model.daemons) > 1 else set()
    happened |= {f"daemon {name}" for name in finished.reference.daemon_steps}
    return happened | {f"operation {name}" for name in finished.reference.executed}


EVERYTHING = {
    *(f"operation {name}" for name in OPERATIONS),
    *(f"daemon {name}" for name in DAEMON_OPERATIONS if name not in IN_TESTS_OF_THEIR_OWN),
    "no daemons", "two writers", "threads slow each other", "several pages in one write", "pushed",
    "tables on their own devices", "limits", "write cache", "fair queueing", "terminals", "interrupts", "fixed work",
    *ACTIVITIES, *PURPOSES, "rotating", "flash", "raid", "lru", "clock", "cold", "after_load", "warm",
    "after_prewarm", "lead-in", "rollback", "checkpoint", "handover", "dirty eviction",
    *(f"copies {copies} parities {parities}" for _, copies, parities in RAID_SETS),
    *(f"{scheduler} {several}" for scheduler in SCHEDULERS for several in (True, False)),
    *(f"{word} {choice}" for word in ("direct", "durable", "open", "own log") for choice in (True, False)),
}  # fmt: skip


@pytest.mark.uncounted
def test_random_systems_give_one_trajectory_and_show_every_part_at_work() -> None:
    """Any part, any policy; and what the systems are drawn for does happen in at least two of a hundred."""
    happened: Counter[str] = Counter()

    @EXAMPLES
    @given(system=any_systems(), seed=SEEDS)
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        model = of_few_events(model_of_system(system), seed, MOST_EVENTS)
        assert differences(model, seed, finished=engines) == []
        happened.update(what_happened(system, engines.pop()))

    engines: list[Finished] = []
    both_engines_agree()
    rare = {name: happened[name] for name in EVERYTHING if happened[name] < EXAMPLES.max_examples / 50}
    assert not rare, "draw more of these"


@settings(EXAMPLES, max_examples=30)
@given(system=st.one_of(any_systems(), worked_systems(), flushing_systems()), seed=SEEDS)
def test_some_random_systems_have_their_branches_counted(system: DrawnSystem, seed: int) -> None:
    """Of every kind a few, since counting takes many times as long as simulating."""
    assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []


@pytest.mark.uncounted
@settings(EXAMPLES, max_examples=SOAK // 4 or 50)
@given(system=worked_systems(), seed=SEEDS)
def test_fixed_work_on_threads_gives_one_trajectory(system: DrawnSystem, seed: int) -> None:
    """The run ends after the same event, and bursts are as long, whoever is busy when they start."""
    assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []


@pytest.mark.uncounted
def test_flushing_by_age_gives_one_trajectory_and_shows_all_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubled batches and victims, a clean victim first, groups of two writes, commits that wait for log space.

    By buffered I/O too, where batches and victims go through the page cache, and files are flushed behind them.
    """
    met: Counter[str] = Counter()
    log_space_freed, page_of_each_file = Daemons.log_space_freed, PageWriter._page_of_each_file

    def noted_files(writer: PageWriter, runs: list[range]) -> list[int]:
        met["synced files"] += not writer.system.direct_io
        return page_of_each_file(writer, runs)

    def noted(daemons: Daemons) -> Any:
        met["full log"] += 1
        return log_space_freed(daemons)

    @settings(EXAMPLES, max_examples=SOAK // 2 or 100)
    @given(system=flushing_systems(), seed=SEEDS)
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        model = of_few_events(model_of_system(system), seed, MOST_EVENTS)
        finished: list[Finished] = []
        assert differences(model, seed, finished=finished) == []
        met.update(finished[0].reference.daemon_steps)
        devices = () if model.direct_io else finished[0].kernel.record.snapshots[-1].counters.devices
        met.update(f"synced {purpose}" for device in devices for purpose in device.by_purpose)

    monkeypatch.setattr(Daemons, "log_space_freed", noted)
    monkeypatch.setattr(PageWriter, "_page_of_each_file", noted_files)
    both_engines_agree()
    synced = [f"synced {what}" for what in ("files", "doublewrite", "write-back", "eviction write")]
    assert min(met[name] for name in (*OF_CLEANERS, "full log", *synced)) > 10, met


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
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []

    monkeypatch.setattr(CachingStation, "_feed", noted)
    monkeypatch.setattr(CachingStation, "_end_read", noted_read)
    both_engines_agree()
    assert min(met[name] for name in ("many", "kept behind those", "waits for room", "reads beside it", "parity")) > 50


def test_controllers_caches_give_one_trajectory_and_show_all_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room, writes that join, parity that waits for the arm and not for whoever writes."""
    met: Counter[str] = Counter()
    feed, joined = CachingStation._feed, CachingStation._join_cached_write

    def noted(station: CachingStation) -> None:
        feed(station)
        met["many"] += len(station.destaging) > 1
        met["waits for room"] += bool(station.waiting_writes)
        met["parity"] += any(one.request.write == REWRITE for one in station.destaging)

    def noted_join(station: CachingStation, request: Request) -> bool:
        is_joined = joined(station, request)
        met["joined"] += is_joined
        return is_joined

    @settings(EXAMPLES, max_examples=SOAK // 4 or 50)
    @given(system=controlled_systems(), seed=SEEDS)
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        assert differences(of_few_events(model_of_system(system), seed, MOST_EVENTS), seed) == []

    monkeypatch.setattr(CachingStation, "_feed", noted)
    monkeypatch.setattr(CachingStation, "_join_cached_write", noted_join)
    both_engines_agree()
    assert min(met[name] for name in ("many", "waits for room", "parity")) > 50, met
    assert met["joined"] > 10, met


@pytest.mark.uncounted
@settings(EXAMPLES, max_examples=SOAK // 10 or 20)
@given(model=tpcc_models(), seed=SEEDS)
def test_tpcc_gives_one_trajectory(model: System, seed: int) -> None:
    """Scenarios as users write them, through specs and `build`."""
    assert differences(model, seed) == []


TAMPERED = {
    "nothing": (KernelEngine, True),
    "a flash read of 1 ns more": (with_value("system.storage.devices.0.read_ns"), False),
    "a handover of 1 ns more": (with_value("system.sections.0.handover_ns"), False),
    "a flush of 1 ns more": (with_value("system.log.flush_overhead_ns"), False),
    "a miss of 1 ns more": (with_value("system.costs.miss_ns"), False),
    "another random stream": (with_value("streams.0.0"), False),
    "one row more": (with_value("counters.0"), False),
    "another burst longer by a millionth": (with_value("system.sharing", lambda _: Sharing((PPM, PPM + 1))), False),
    "a page cache of one page more": (with_value("system.page_cache.pages"), False),
    "swap that begins a byte later": (with_value("system.storage.swap_start_bytes"), True),
    "one page more in flight": (with_value("system.page_cache.in_flight_pages"), True),
}


@pytest.mark.parametrize(("engine", "same"), TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_system_is_noticed(engine: type[KernelEngine], same: bool) -> None:
    """One nanosecond, one count, one page; a limit that is never reached and flash's addresses change nothing."""
    assert (differences(model_of_system(TIED), 1, engine) == []) is same


def filling(rows: int, **parts: Any) -> System:
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
    finished: list[Finished] = []
    assert differences(model, 4, finished=finished) == []
    assert finished[0].kernel.kernel.state().requests > 5_000


@pytest.mark.parametrize("direct_io", [False, True])
def test_a_checkpoint_that_takes_no_cpu_time_is_written_batch_by_batch(direct_io: bool) -> None:
    """Thousands of dirty buffers meet a page cache that has to give up a dirty page for each."""
    parts = {"pool_pages": 10_000, "cache_pages": 3000, "dirty_limit_pages": 20_000, "checkpoint_s": 0.15}
    assert differences(filling(100, direct_io=direct_io, **parts), 4) == []


def test_an_hour_needs_no_more_memory_than_a_second() -> None:
    """No request leaks, none is made where one is free, and the series has its bounded number of steps."""
    system = dataclasses.replace(TIED, think=("exponential", 400 * MS, 0), devices=(FLASH,))
    hour = shortened(model_of_system(system), 3600 * 1000 * MS)
    engine = KernelEngine(hour, 1)
    engine.run(None)
    assert engine.kernel.figures().counters.ended > 20_000
    assert len(engine.record.snapshots) <= MOST_SERIES_STEPS + 2
    assert engine.kernel.state().requests < 200
    assert requests_lost(engine) == 0
