"""Both engines on one model: what they leave behind, and every difference between the two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from oltpsim.simulator.form import DaemonStep, IntArray, SeededRun, StartState, System
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.reference import ReferenceEngine
from oltpsim.simulator.reference.arrivals import PoissonArrivals
from oltpsim.simulator.reference.cache import Cache, ClockCache
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.daemons import DaemonTimes
from oltpsim.simulator.reference.record import ReferenceRecorder
from oltpsim.simulator.reference.stations import Story
from oltpsim.simulator.reference.terminals import TerminalQueue
from oltpsim.simulator.results import ClassRecorder, result_json


class TracedReference(ReferenceEngine):
    """The reference engine; `ends` has (time, client, class, response time) of every transaction, in order.

    `executed`: the names of operations that were; `daemon_steps`: of those of daemons that had something to do.
    """

    def __init__(self, model: System, seed: int) -> None:
        super().__init__(model, seed)
        self.ends: list[tuple[int, ...]] = []
        self.numbers: dict[Any, int] = {}
        self.count = self.record.end
        self.executed: set[str] = set()
        computes = self.interpreter._computes

        def noted(client: Client, operation: Any) -> bool:
            self.executed.add(operation[0])
            return computes(client, operation)

        self.daemon_steps: set[str] = set()
        take = self.daemons.take

        def noted_step(step: DaemonStep, times: DaemonTimes) -> Story:
            before = self.seen_by_daemons()
            yield from take(step, times)
            if self.seen_by_daemons() != before:
                self.daemon_steps.add(step.operation)

        setattr(self.daemons, "take", noted_step)  # noqa: B010 - a method is replaced on purpose
        setattr(self.interpreter, "_computes", noted)  # noqa: B010 - it is asked first of every operation
        setattr(self.record, "end", self.end)  # noqa: B010 - a method is replaced on purpose

    def seen_by_daemons(self) -> tuple[int, ...]:
        """What their steps change: time, dirty pages, writes in flight, log flushes, checkpoints, pages in the log."""
        daemons = self.daemons
        in_flight, done = self.page_cache.writes_in_flight, len(daemons.checkpoints_ns)
        whole = len(self.pool.images.logged)
        return self.env.now, daemons.dirty_pages, in_flight, self.log.flushes, done, whole

    def client(self, client: Client) -> Story:
        """A client's life, from which on its number is known."""
        self.numbers[self.env.active_process] = client.number
        yield from super().client(client)

    def end(self, transaction_class: int, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """Note and count the end of a transaction."""
        client = self.numbers[self.env.active_process]
        self.ends.append((self.env.now, client, transaction_class, response_ns))
        self.count(transaction_class, response_ns, spent_ns, rolled_back)


def shortened(model: System, duration_ns: int) -> System:
    """The same model with another interval."""
    return dataclasses.replace(model, interval=dataclasses.replace(model.interval, duration_ns=duration_ns))


def of_few_events(model: System, seed: int, most_events: int) -> System:
    """The model, shorter or with less work if the kernel meets more events than the reference engine gets through."""
    engine = KernelEngine(model, seed)
    engine.run(None)
    events = engine.kernel.figures().events
    if events <= most_events:
        return model
    if model.work:
        fewer = max(model.work.main_per_client * most_events // events, 1)
        return dataclasses.replace(model, work=dataclasses.replace(model.work, main_per_client=fewer))
    return shortened(model, max(model.interval.duration_ns * most_events // events, 1_000_000_000))


def run_reference(model: System, seed: int) -> TracedReference:
    """A finished run of the reference engine."""
    engine = TracedReference(model, seed)
    engine.run(None)
    return engine


class Finished(NamedTuple):
    """Both engines after a run."""

    kernel: KernelEngine
    reference: TracedReference


def differences(
    model: System, seed: int, engine: type[KernelEngine] = KernelEngine, finished: list[Finished] | None = None
) -> list[str]:
    """What differs between the two engines' runs, in words; nothing if all is well.

    Compared: the end of every transaction, the whole state, all counters at all steps of the time series, the
    histograms, and the result as JSON. Both are added to `finished`.
    """
    reference = run_reference(model, seed)
    kernel = engine(model, seed, traced=len(reference.ends) + 1)
    kernel.run(None)
    if finished is not None:
        finished.append(Finished(kernel, reference))
    return [*_ends(reference, kernel), *_states(reference, kernel), *_records(reference.record, kernel)]


def ends_of(engine: KernelEngine) -> list[tuple[int, ...]]:
    """What the kernel has traced: (time, client, class, response time) of ends of transactions."""
    return [tuple(row) for row in engine.kernel.figures().ends.tolist()]


def _ends(reference: TracedReference, kernel: KernelEngine) -> Iterator[str]:
    ends = ends_of(kernel)
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
    """What the kernel reports of its state, by the names of `reference_contents`."""
    program, values, state = engine.system.program, engine.kernel.values(), engine.kernel.state()
    figures = engine.kernel.figures()
    seen, remembered = values.seen[:, 0].tolist(), values.remembered[:, 0].tolist()
    windows = [
        remembered[start + group * length :][: min(seen[first + group], length)]
        for start, length, groups, first in program.windows.tolist()
        for group in range(groups)
    ]
    clients = state.clients.tolist()
    held: list[list[int]] = [[] for _ in clients]
    for client, lock in state.locks_held.tolist():
        held[client].append(lock)
    by_clock = engine.system.pool.replacement == "clock"
    resident = figures.levels.pool.resident_pages, state.resident_hand
    return {
        **_kernel_tier("pool", state.pool, state.pool_by_use, by_clock),
        "pool: hand": state.pool_hand if by_clock else 0,
        "pool: dirty": [(page,) for page, _, dirty, *_ in state.pool.tolist() if dirty],
        "pool: memory": (state.pool[:, 4] - 1).tolist(),
        "pool: resident": resident,
        "pool: writes in flight": 0,
        **_kernel_tier("page cache", state.page_cache, state.page_cache_by_use, False),
        "page cache: hand": 0,
        "page cache: dirty": [tuple(row) for row in state.page_cache_by_age.tolist()],
        "page cache: memory": [],
        "page cache: resident": (0, 0),
        "page cache: writes in flight": state.writes_in_flight,
        "counters": values.counters[:, 0].tolist(),
        "pages reached by appends": values.high[:-1, 0].tolist(),
        "pages remembered": windows,
        "pages seen": seen,
        "put aside": state.put_aside[:, 0].tolist(),
        "lock owners": {lock: owner for lock, (owner,) in enumerate(state.lock_owners.tolist()) if owner >= 0},
        "locks held": held,
        "registers": values.registers.tolist(),
        "classes": [client[0] for client in clients],
        "CPU debts": [client[1:4] for client in clients],
        "log bytes": [client[4] for client in clients],
        "frames chosen": [client[5] for client in clients],
        "rolled back": [bool(client[6]) for client in clients],
        "streams": values.streams.view(np.uint64).tolist(),
        "table counts": [list(dataclasses.astuple(table)) for table in figures.counters.tables],
        "usage": list(dataclasses.astuple(figures.counters.cpu_time)),
        "arrival stream": [state.arrival_stream % 2**64] if engine.system.arrivals_per_s else [],
        "terminal streams": state.terminal_streams[:, 0].view(np.uint64).tolist() if engine.system.terminals else [],
    }


def _kernel_tier(name: str, slots: IntArray, by_use: IntArray, by_clock: bool) -> dict[str, Any]:
    return {
        f"{name}: pages": slots[:, 0].tolist(),
        f"{name}: order": slots[:, 1].tolist() if by_clock else by_use[:, 0].tolist(),
        f"{name}: busy": [bool(busy) for busy in slots[:, 3].tolist()],
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
        "page cache: order": engine.page_cache.by_use,
        "page cache: memory": [],
        "page cache: resident": (0, 0),
        "page cache: writes in flight": engine.page_cache.writes_in_flight,
        "counters": program.counters,
        "pages reached by appends": program.references.high[:-1],
        "pages remembered": [window.pages for window in windows],
        "pages seen": [window.seen for window in windows],
        "put aside": engine.pool.waiting.pages,
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
    }  # fmt: skip


def _reference_tier(name: str, cache: Cache) -> dict[str, Any]:
    by_clock = isinstance(cache, ClockCache)
    by_age = [(frame.page, since_ms) for frame, since_ms in cache.dirty_since_ms.items()]
    in_slots = [(frame.page,) for frame in cache.frames if frame in cache.dirty_since_ms]
    return {
        f"{name}: pages": [frame.page for frame in cache.frames],
        f"{name}: order": [
            frame.usage if by_clock else frame.page
            for frame in (cache.frames if by_clock else cache.in_order_of_replacement())
        ],
        f"{name}: hand": cache.hand if isinstance(cache, ClockCache) else 0,
        f"{name}: dirty": in_slots if name == "pool" else by_age,
        f"{name}: busy": [frame.busy for frame in cache.frames],
    }


def _records(reference: ReferenceRecorder, engine: KernelEngine) -> Iterator[str]:
    kernel = engine.record
    for ours, theirs in zip(kernel.snapshots, reference.snapshots, strict=True):
        if ours != theirs:
            yield f"counters at {ours.at_ns} ns: {list(_unequal('', ours, theirs))[:4]}"
            break
    for number, (ours, theirs) in enumerate(zip(kernel.classes, reference.classes, strict=True)):
        columns = [name for name in ClassRecorder.__slots__ if getattr(ours, name) != getattr(theirs, name)]
        if columns:
            yield f"{', '.join(columns)} of class {number}"
    result = dataclasses.replace(kernel.result(), engine="reference")
    if result_json(result) != result_json(reference.result()):
        yield "the results as JSON"
    # fixed work ends amid an instant, when a request may be done and nobody has been told yet
    lost = 0 if engine.system.work else requests_lost(engine)
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
    state, levels = engine.kernel.state(), engine.kernel.figures().levels
    return state.requests - state.free_requests - sum(device.length for device in levels.devices)


def with_value(path: str, change: Callable[[Any], Any] = lambda value: value + 1) -> type[KernelEngine]:
    """A kernel's engine that is handed another value in one place, of which the reference engine knows nothing.

    `path`: from SeededRun or StartState on, by names of fields and places in tuples, as in system.cpu.slice_ns.
    """

    class Tampered(KernelEngine):
        def passed(self, seed: int, traced: int) -> tuple[SeededRun, StartState]:
            run, start = super().passed(seed, traced)
            names = path.split(".")
            if hasattr(run, names[0]):
                return changed(run, names, change), start
            return run, changed(start, names, change)

    return Tampered


def changed(value: Any, path: list[str], change: Callable[[Any], Any]) -> Any:
    """A value with another one at a path in it."""
    if not path:
        return change(value)
    name, *rest = path
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **{name: changed(getattr(value, name), rest, change)})
    if isinstance(value, np.ndarray):
        array = value.copy()
        array[int(name)] = changed(array[int(name)], rest, change)
        return array
    place = int(name)
    return (*value[:place], changed(value[place], rest, change), *value[place + 1 :])


def with_counter(place: int) -> type[KernelEngine]:
    """A kernel's engine in which one counter begins one higher; `place`: among all counters of the program."""
    return with_value(f"counters.{place}")
