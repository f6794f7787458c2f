"""Both engines on one model: what they leave behind, and every difference between the two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from simulator.form import Model
from simulator.kernel import KernelEngine
from simulator.kernel import caches as kc
from simulator.kernel import columns as ks
from simulator.kernel import state as kst
from simulator.kernel.calendar import EVENTS
from simulator.kernel.record import KernelRecorder
from simulator.reference import ReferenceEngine
from simulator.reference.arrivals import PoissonArrivals
from simulator.reference.cache import Cache, ClockCache
from simulator.reference.client import Client
from simulator.reference.record import ReferenceRecorder
from simulator.reference.stations import Story
from simulator.reference.terminals import TerminalQueue
from simulator.results import result_json

Change = Callable[[KernelEngine], None]


class TracedReference(ReferenceEngine):
    """The reference engine; `ends` has (time, client, class, response time) of every transaction, in order."""

    def __init__(self, model: Model, seed: int) -> None:
        super().__init__(model, seed)
        self.ends: list[tuple[int, ...]] = []
        self.numbers: dict[Any, int] = {}
        self.count = self.record.end
        setattr(self.record, "end", self.end)  # noqa: B010 - a method is replaced on purpose

    def client(self, client: Client) -> Story:
        """A client's life, from which on its number is known."""
        self.numbers[self.env.active_process] = client.number
        yield from super().client(client)

    def end(self, transaction_class: int, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """Note and count the end of a transaction."""
        client = self.numbers[self.env.active_process]
        self.ends.append((self.env.now, client, transaction_class, response_ns))
        self.count(transaction_class, response_ns, spent_ns, rolled_back)


def shortened(model: Model, duration_ns: int) -> Model:
    """The same model with another interval."""
    return dataclasses.replace(model, interval=dataclasses.replace(model.interval, duration_ns=duration_ns))


def of_few_events(model: Model, seed: int, most_events: int) -> Model:
    """The model, shorter or with less work if the kernel meets more events than the reference engine gets through."""
    engine = KernelEngine(model, seed)
    engine.run(None)
    events = int(engine.kernel.calendar.clock[EVENTS])
    if events <= most_events:
        return model
    if model.work:
        fewer = max(model.work.main_per_client * most_events // events, 1)
        return dataclasses.replace(model, work=dataclasses.replace(model.work, main_per_client=fewer))
    return shortened(model, max(model.interval.duration_ns * most_events // events, 1_000_000_000))


def run_reference(model: Model, seed: int) -> TracedReference:
    """A finished run of the reference engine."""
    engine = TracedReference(model, seed)
    engine.run(None)
    return engine


def differences(
    model: Model, seed: int, change: Change | None = None, engine: type[KernelEngine] = KernelEngine
) -> list[str]:
    """What differs between the two engines' runs, in words; nothing if all is well.

    Compared: the end of every transaction, the whole state, all counters at all steps of the time series, the
    histograms, and the result as JSON. `change` may do something to the kernel before it runs.
    """
    reference = run_reference(model, seed)
    kernel = engine(model, seed, traced=len(reference.ends) + 1)
    if change is not None:
        change(kernel)
    kernel.run(None)
    return [*_ends(reference, kernel), *_states(reference, kernel), *_records(reference.record, kernel.record)]


def _ends(reference: TracedReference, kernel: KernelEngine) -> Iterator[str]:
    ends = [tuple(row) for row in kernel.kernel.trace[: kernel.kernel.facts[ks.TRACED]].tolist()]
    if ends == reference.ends:
        return
    same = 0
    while same < min(len(ends), len(reference.ends)) and ends[same] == reference.ends[same]:
        same += 1
    ours, theirs = ends[same : same + 2], reference.ends[same : same + 2]
    yield f"after {same} of {len(reference.ends)} ends the kernel has {ours}, the reference {theirs}"


def _states(reference: ReferenceEngine, kernel: KernelEngine) -> Iterator[str]:
    """Whatever the engines hold at the end, by what it means: caches, program, clients, locks."""
    ours, theirs = kernel_contents(kernel), reference_contents(reference)
    for name in sorted(set(ours) | set(theirs)):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: {_first_difference(ours.get(name), theirs.get(name))}"


def _first_difference(ours: Any, theirs: Any) -> str:
    """Where two lists part, or both values."""
    if not isinstance(ours, list) or not isinstance(theirs, list) or len(ours) != len(theirs):
        return f"{ours} {theirs}"
    place = next(place for place, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other)
    return f"first at {place}: {ours[place]} {theirs[place]}"


def kernel_contents(engine: KernelEngine) -> dict[str, Any]:
    """What the kernel's arrays hold, by the names of `reference_contents`."""
    state, program = engine.state, engine.model.program
    high = len(program.counters)
    seen = high + len(program.initial_high)
    windows = [
        state.numbers[start + group * length :][: min(state.counters[seen + first + group], length)].tolist()
        for start, length, groups, first in program.windows.tolist()
        for group in range(groups)
    ]
    client = state.client
    owners = state.numbers[state.tables[kst.PLACES, kst.LOCK_OWNERS] :].tolist()
    debts = [kst.USER_DEBT, kst.SYSTEM_DEBT, kst.CLIENT_DEBT]
    return {
        **_kernel_tier("pool", engine, kc.POOL),
        **_kernel_tier("page cache", engine, kc.CACHE),
        "counters": state.counters[:high].tolist(),
        "pages reached by appends": state.counters[high : seen - 1].tolist(),
        "pages remembered": windows,
        "pages seen": state.counters[seen:].tolist(),
        "lock owners": {lock: owner for lock, owner in enumerate(owners) if owner >= 0},
        "locks held": [row[kst.FIRST_LOCK :][: row[kst.LOCKS_HELD]].tolist() for row in client],
        "registers": client[:, kst.REGISTERS :].tolist(),
        "classes": client[:, kst.CLASS].tolist(),
        "CPU debts": client[:, debts].tolist(),
        "log bytes": client[:, kst.LOG_BYTES].tolist(),
        "frames chosen": client[:, kst.VICTIM].tolist(),
        "rolled back": client[:, kst.ROLLED_BACK].astype(bool).tolist(),
        "streams": state.streams.tolist(),
        "table counts": state.table_counts.tolist(),
        "usage": state.usage.tolist(),
        "arrival stream": engine.kernel.arrival_stream.tolist() if engine.model.arrivals_per_s else [],
        "terminal streams": engine.kernel.terminals.streams[:-1].tolist() if engine.model.terminals else [],
        "outbox": int(state.outbox[0]),
    }


def _kernel_tier(name: str, engine: KernelEngine, tier: int) -> dict[str, Any]:
    tiers = engine.state.tiers
    head, first = tiers.head[tier].tolist(), int(tiers.head[tier, kc.FIRST_SLOT])
    slots = tiers.slots[first : first + head[kc.USED]].tolist()

    def walked(slot: int, column: int) -> list[int]:
        numbers = []
        while slot >= 0:
            numbers.append(slot - first)
            slot = int(tiers.slots[slot, column])
        return numbers

    by_clock = head[kc.POLICY] == kc.CLOCK
    return {
        f"{name}: pages": [slot[kc.PAGE] for slot in slots],
        f"{name}: where": {page: int(slot) - first for page, slot in enumerate(tiers.where[tier]) if slot >= 0},
        f"{name}: order": [slot[kc.USAGE] for slot in slots] if by_clock else walked(head[kc.OLDEST], kc.PREVIOUS),
        f"{name}: hand": head[kc.HAND] - first if by_clock else 0,
        f"{name}: dirty": [(slot, slots[slot][kc.SINCE]) for slot in walked(head[kc.DIRTY_FIRST], kc.NEWER_DIRTY)],
        f"{name}: busy": [bool(slot[kc.FLAGS] & kc.BUSY) for slot in slots],
        f"{name}: memory": [slot[kc.RESIDENCE] for slot in slots] if tier == kc.POOL else [],
        f"{name}: resident": (head[kc.RESIDENT], head[kc.RESIDENT_HAND]) if tier == kc.POOL else (0, 0),
        f"{name}: writes in flight": head[kc.WRITES_IN_FLIGHT],
    }


def reference_contents(engine: ReferenceEngine) -> dict[str, Any]:
    """What the reference engine's parts hold."""
    program, clients, memory = engine.interpreter, engine.interpreter.clients, engine.pool.memory
    windows = [window for windows in program.references.windows for window in windows]
    cpu, arrivals = engine.cpu, engine.arrivals
    return {
        **_reference_tier("pool", engine.pool.cache),
        "pool: memory": [int(frame.memory) for frame in engine.pool.cache.frames],
        "pool: resident": (memory.resident_pages, memory.hand),
        "pool: writes in flight": 0,
        **_reference_tier("page cache", engine.page_cache.cache),
        "page cache: memory": [],
        "page cache: resident": (0, 0),
        "page cache: writes in flight": engine.page_cache.writes_in_flight,
        "counters": program.counters,
        "pages reached by appends": program.references.high[:-1],
        "pages remembered": [window.pages for window in windows],
        "pages seen": [window.seen for window in windows],
        "lock owners": {lock: client.number for lock, client in engine.locks.owners.items()},
        "locks held": [client.locks_held for client in clients],
        "registers": [client.registers for client in clients],
        "classes": [client.transaction_class for client in clients],
        "CPU debts": [[client.user_ns, client.system_ns, client.client_ns] for client in clients],
        "log bytes": [client.log_bytes for client in clients],
        "frames chosen": [-1 if each.frame_chosen is None else each.frame_chosen.number for each in clients],
        "rolled back": [client.rolled_back for client in clients],
        "streams": [[stream.state for stream in client.streams] for client in clients],
        "table counts": [
            [each.references, each.pool_hits, each.page_cache_hits, each.disk_reads, each.created]
            for each in program.references.regions
        ],
        "usage": [
            cpu.transaction_ns, cpu.client_program_ns, cpu.system_calls_ns, cpu.background_writer_ns, cpu.write_back_ns,
        ],
        "arrival stream": [arrivals.stream.state] if isinstance(arrivals, PoissonArrivals) else [],
        "terminal streams": (
            [each.state for each in arrivals.users.streams] if isinstance(arrivals, TerminalQueue) else []
        ),
        "outbox": 0,
    }  # fmt: skip


def _reference_tier(name: str, cache: Cache) -> dict[str, Any]:
    by_clock = isinstance(cache, ClockCache)
    return {
        f"{name}: pages": [frame.page for frame in cache.frames],
        f"{name}: where": {page: frame.number for page, frame in cache.where.items()},
        f"{name}: order": [
            frame.usage if by_clock else frame.number
            for frame in (cache.frames if by_clock else cache.in_order_of_replacement())
        ],
        f"{name}: hand": cache.hand if isinstance(cache, ClockCache) else 0,
        f"{name}: dirty": [(frame.number, since_ms) for frame, since_ms in cache.dirty_since_ms.items()],
        f"{name}: busy": [frame.busy for frame in cache.frames],
    }


def _records(reference: ReferenceRecorder, kernel: KernelRecorder) -> Iterator[str]:
    for ours, theirs in zip(kernel.snapshots, reference.snapshots, strict=True):
        if ours != theirs:
            yield f"counters at {ours.at_ns} ns: {list(_unequal('', ours, theirs))[:4]}"
            break
    for number, (row, own) in enumerate(zip(kernel.engine.kernel.classes, reference.classes, strict=True)):
        counted = [own.completed, own.rolled_back, own.total_ns, *own.spent_ns, *own.histogram]
        columns = [place for place, (one, other) in enumerate(zip(row, counted, strict=True)) if one != other]
        if columns:
            yield f"columns {columns[:9]} of class {number}"
    result = dataclasses.replace(kernel.result(), engine="reference")
    if result_json(result) != result_json(reference.result()):
        yield "the results as JSON"
    lost = requests_lost(kernel.engine)
    if lost:
        yield f"{lost} device requests are neither free nor pending"


def _unequal(name: str, ours: object, theirs: object) -> Iterator[tuple[str, object, object]]:
    """Fields that differ, by their path."""
    if dataclasses.is_dataclass(ours):
        for field in dataclasses.fields(ours):
            yield from _unequal(f"{name}.{field.name}", getattr(ours, field.name), getattr(theirs, field.name))
    elif isinstance(ours, tuple) and isinstance(theirs, tuple):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _unequal(f"{name}[{number}]", one, other)
    elif ours != theirs:
        yield name, ours, theirs


def requests_lost(engine: KernelEngine) -> int:
    """Requests that leaked: at a stop of the series each one is free or at a device."""
    kernel = engine.kernel
    pending = int(kernel.devices[:, ks.QUEUE_LENGTH].sum())
    return len(kernel.requests) - int(kernel.facts[ks.FREE_REQUESTS]) - pending
