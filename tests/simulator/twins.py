"""Both engines on one model: what they leave behind, and every difference between the two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from simulator.form import Model
from simulator.kernel import KernelEngine
from simulator.kernel import columns as ks
from simulator.kernel.calendar import EVENTS
from simulator.kernel.record import KernelRecorder
from simulator.reference import ReferenceEngine
from simulator.reference.record import ReferenceRecorder
from simulator.reference.stations import Story
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

    def client(self, number: int) -> Story:
        """A client's life, from which on its number is known."""
        self.numbers[self.env.active_process] = number
        yield from super().client(number)

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
    ours = kernel.state._asdict() | kernel.state.tiers._asdict()
    theirs = reference.state._asdict() | reference.state.tiers._asdict()
    for name in sorted(set(ours) - {"tiers"}):
        differs = np.argwhere(ours[name] != theirs[name])
        if len(differs):
            place = tuple(differs[0].tolist())
            yield f"{len(differs)} of {name}, first at {place}: {ours[name][place]} {theirs[name][place]}"


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
