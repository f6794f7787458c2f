"""Both engines on one model: what they leave behind, and every difference between the two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from oltpsim.simulator.form import DaemonStep, IntArray, System, Table
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.reference import ReferenceEngine
from oltpsim.simulator.reference.arrivals import PoissonArrivals
from oltpsim.simulator.reference.cache import Cache, ClockCache
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.daemons import DaemonTimes
from oltpsim.simulator.reference.record import ReferenceRecorder
from oltpsim.simulator.reference.stations import Story
from oltpsim.simulator.reference.terminals import TerminalQueue
from oltpsim.simulator.results import result_json


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
    events = record_of(engine, "system")["events"]
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


def record_of(engine: KernelEngine, table: str, row: int = 0) -> dict[str, int]:
    """A row of what the kernel reports."""
    columns, rows = engine.kernel.read(table)
    return dict(zip(columns, rows[row].tolist(), strict=True))


def rows_of(engine: KernelEngine, table: str) -> list[list[int]]:
    """All rows of what the kernel reports."""
    rows: list[list[int]] = engine.kernel.read(table).rows.tolist()
    return rows


def _ends(reference: TracedReference, kernel: KernelEngine) -> Iterator[str]:
    ends = [tuple(row) for row in rows_of(kernel, "trace")]
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
    program, clients = engine.system.program, len(engine.system.client_registers)
    seen = [count for (count,) in rows_of(engine, "seen")]
    remembered = [page for (page,) in rows_of(engine, "windows")]
    windows = [
        remembered[start + group * length :][: min(seen[first + group], length)]
        for start, length, groups, first in program.windows.tolist()
        for group in range(groups)
    ]
    tasks, system = rows_of(engine, "tasks"), record_of(engine, "system")
    held: list[list[int]] = [[] for _ in range(clients)]
    for client, lock in rows_of(engine, "locks_held"):
        held[client].append(lock)
    streams = engine.kernel.read("streams").rows.view(np.uint64)
    arrivals = engine.kernel.read("arrival_streams").rows[:, 0].view(np.uint64).tolist()
    return {
        **_kernel_tier("pool", engine, 0),
        **_kernel_tier("page cache", engine, 1),
        "counters": [value for (value,) in rows_of(engine, "counters")],
        "pages reached by appends": [value for (value,) in rows_of(engine, "high")][:-1],
        "pages remembered": windows,
        "pages seen": seen,
        "put aside": [page for (page,) in rows_of(engine, "put_aside")],
        "lock owners": {lock: owner for lock, (owner,) in enumerate(rows_of(engine, "locks")) if owner >= 0},
        "locks held": held,
        "registers": rows_of(engine, "registers"),
        "classes": [task[0] for task in tasks],
        "CPU debts": [task[1:4] for task in tasks],
        "log bytes": [task[4] for task in tasks],
        "frames chosen": [task[5] for task in tasks],
        "rolled back": [bool(task[6]) for task in tasks],
        "streams": streams.tolist(),
        "table counts": rows_of(engine, "tables"),
        "usage": [system[name] for name in ("user_ns", "client_ns", "system_ns", "writer_ns", "write_back_ns")],
        "arrival stream": arrivals[:1] if engine.system.arrivals_per_s else [],
        "terminal streams": arrivals[1:] if engine.system.terminals else [],
    }


def _kernel_tier(name: str, engine: KernelEngine, tier: int) -> dict[str, Any]:
    table = "page_cache" if tier else "pool"
    slots, cache = rows_of(engine, f"{table}_slots"), record_of(engine, "caches", tier)
    pages = [slot[0] for slot in slots]
    by_clock = not tier and engine.system.pool.replacement == "clock"
    by_age = rows_of(engine, "page_cache_by_age") if tier else [[slot[0]] for slot in slots if slot[2]]
    return {
        f"{name}: pages": pages,
        f"{name}: order": [s[1] for s in slots]
        if by_clock
        else [page for (page,) in rows_of(engine, f"{table}_by_use")],
        f"{name}: hand": cache["hand"] if by_clock else 0,
        f"{name}: dirty": [tuple(row) for row in by_age],
        f"{name}: busy": [bool(slot[3]) for slot in slots],
        f"{name}: memory": [] if tier else [slot[4] - 1 for slot in slots],
        f"{name}: resident": (0, 0) if tier else (cache["resident_pages"], cache["resident_hand"]),
        f"{name}: writes in flight": cache["writes_in_flight"],
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
    for number, (row, own) in enumerate(zip(rows_of(engine, "classes"), reference.classes, strict=True)):
        counted = [own.completed, own.rolled_back, own.total_ns, *own.spent_ns, *own.histogram]
        columns = [place for place, (one, other) in enumerate(zip(row, counted, strict=True)) if one != other]
        if columns:
            yield f"columns {columns[:9]} of class {number}"
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
    system = record_of(engine, "system")
    pending = int(engine.kernel.read("devices").rows[:, engine.kernel.read("devices").columns.index("length")].sum())
    return system["requests"] - system["requests_free"] - pending


def with_table(name: str, change: Callable[[Table], None]) -> type[KernelEngine]:
    """A kernel's engine that is handed one table of the system changed, of which the reference engine knows nothing."""

    class Tampered(KernelEngine):
        def tables(self, seed: int) -> dict[str, Table]:
            tables = super().tables(seed)
            columns, rows = tables[name]
            changed = Table(columns, rows.copy())
            change(changed)
            return tables | {name: changed}

    return Tampered


def with_counter(place: int) -> type[KernelEngine]:
    """A kernel's engine in which one counter begins one higher; `place`: among all counters of the program."""

    def change(counters: Table) -> None:
        counters.rows[place] += 1

    return with_table("counters", change)


def column_of(engine: KernelEngine, table: str, column: str) -> IntArray:
    """A column of what the kernel reports, by row."""
    columns, rows = engine.kernel.read(table)
    return rows[:, columns.index(column)]
