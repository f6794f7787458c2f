"""Why a model's rate is not the measured one: the gap, split into what the record tells of the run.

At the measured rate the analytic engine gives misses, reads, writes, processor time and device times of a transaction.
Each that the record tells too is put into the model by one factor, found in causal order: how many pages the pool lacks
(by its effective size), what of them is read from the device, writes, processor time, and the device's time for a
request. Then every subset of the factors is solved, and a factor's part is its effect on the logarithm of the rate,
averaged over all orders in which they can be put in (Shapley, Contributions to the Theory of Games II (1953), 307-317):
the parts depend on no order and sum to what all factors together explain. The rest is not told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from calibration.fit import (
    NEXT_TO_NOTHING,
    READS,
    AnalyticInput,
    AnalyticReader,
    FigureChoice,
    Gap,
    GapPart,
    data_devices,
    measured_rates,
)
from calibration.records import Device, RunRecord
from models.scenario import ScenarioSpec
from simulator.analytic import (
    Demands,
    Parameters,
    Pool,
    Residence,
    Traffic,
    at_stations,
    demands_of,
    pool_of,
    solve,
    stacked,
    traffic,
)
from simulator.form import FloatArray, RotatingDevice

MISSES_PART, READS_PART, WRITES_PART = "pool misses", "reads per transaction", "writes per transaction"
CPU_PART, DEVICE_PART = "CPU per transaction", "device service"
CONTENTION = "contention"
"""no observable of a record tells it: it is in what is not told"""
FARTHEST = 32.0
"""how far a factor is looked for, either way"""
GRID, REFINED = 49, 3
SAME = 1e-4
"""logarithm below which measured and model are the same"""
PAGE_ROUNDS = 2
"""until it is known what the background writer takes for a page"""
SMALL = NEXT_TO_NOTHING[READS]


@dataclass(frozen=True)
class MeasuredDemands:
    """What a record tells of a transaction of the mix; None if it doesn't. Times in s."""

    per_s: float
    """transactions of the mix"""
    misses: float | None
    reads: float | None
    writes: float | None
    cpu_s: float | None
    request_s: float | None
    """an arm's busy time for a request, or the response of a read of a device that serves several at once"""


@dataclass(frozen=True)
class _At:
    """Machines at a given rate."""

    p: Parameters
    rate: FloatArray
    pool: Pool
    traffic: Traffic
    demands: Demands
    residence: Residence


@dataclass(frozen=True)
class _Knob:
    """One quantity of the model: what it is, and how a factor changes it."""

    name: str
    figure: Callable[[_At], FloatArray]
    turn: Callable[[Parameters, FloatArray], Parameters]
    small: float = 0.0
    """added before logarithms are taken"""


def measured_demands(record: RunRecord, scenario: ScenarioSpec, choice: FigureChoice) -> MeasuredDemands:
    """What the record has. A figure that the mapping doesn't use counts here: it is not fitted, but it was measured."""
    _, per_s = measured_rates(record, scenario.workload.mix.new_order)
    resources = record.resources
    user, system = resources.cpu_user_fraction, resources.cpu_system_fraction
    devices = data_devices(record, choice, [])
    reads = _sum([each.reads_per_s.value if each.reads_per_s else None for each in devices])
    writes = _sum([each.writes_per_s.value if each.writes_per_s else None for each in devices])
    arm = scenario.machine.disks.disk.kind == "rotating"
    return MeasuredDemands(
        per_s=per_s,
        misses=resources.buffer_reads_per_s.value / per_s if resources.buffer_reads_per_s else None,
        reads=None if reads is None else reads / per_s,
        writes=None if writes is None else writes / per_s,
        cpu_s=(user.value + system.value) * scenario.machine.cpu.threads / per_s if user and system else None,
        request_s=_busy_each_s(devices, reads, writes) if arm else _response_s(devices),
    )


def explain_gap(record: RunRecord, scenario: ScenarioSpec, choice: FigureChoice, model_per_min: float) -> Gap:
    """The gap of one run. `scenario`: with the calibrated values; `model_per_min`: what the model says, in new orders.

    Raises InputError if there is no such machine.
    """
    measured, _ = measured_rates(record, scenario.workload.mix.new_order)
    seen, point = measured_demands(record, scenario, choice), AnalyticReader().point(scenario)
    targets = {
        MISSES_PART: seen.misses,
        READS_PART: seen.reads,
        WRITES_PART: seen.writes,
        CPU_PART: seen.cpu_s,
        DEVICE_PART: seen.request_s,
    }
    if seen.misses is None and point.model.direct_io:
        targets[MISSES_PART] = seen.reads  # no page cache: what the pool lacks is read
    found, p = [], point.parameters
    for knob in _knobs(point):
        target = targets[knob.name]
        if target is None:
            continue
        here = float(knob.figure(_at_rate(point, p, seen.per_s))[0])
        factor = _factor(point, p, knob, target, seen.per_s)
        p = knob.turn(p, np.array([factor]))
        found.append((knob, factor, target, here))
    logs = _shapley(point, [(knob, factor) for knob, factor, _, _ in found])
    parts = [
        GapPart(name=knob.name, log=0.0 - log, measured=target, model=here, note=_note(knob, targets, seen))
        for (knob, _, target, here), log in zip(found, logs, strict=True)
    ]
    gap = math.log(model_per_min / measured)
    return Gap(
        name=record.name,
        measured=measured,
        model=model_per_min,
        log=gap,
        parts=tuple(parts),
        not_told_log=gap - math.fsum(part.log for part in parts),
        not_told=(*(name for name, target in targets.items() if target is None), CONTENTION),
    )


def _note(knob: _Knob, targets: dict[str, float | None], seen: MeasuredDemands) -> str | None:
    if knob.name == MISSES_PART and seen.misses is None:
        return "by the device's reads: with direct I/O every miss is one"
    if knob.name == READS_PART and targets[MISSES_PART] is None:
        return "with the pool's misses, which the record doesn't tell"
    return None


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _busy_each_s(devices: list[Device], reads: float | None, writes: float | None) -> float | None:
    """Utilisation law: busy share = requests/s x service."""
    busy = _sum([each.utilisation_fraction.value if each.utilisation_fraction else None for each in devices])
    if busy is None or reads is None or writes is None or reads + writes <= 0:
        return None
    return busy / (reads + writes)


def _response_s(devices: list[Device]) -> float | None:
    """Mean over all reads."""
    counts = [each.reads_per_s.value if each.reads_per_s else 0.0 for each in devices]
    times = [each.read_await_ms.value / 1000.0 if each.read_await_ms else None for each in devices]
    if not sum(counts) or None in times:
        return None
    return sum(count * (time or 0.0) for count, time in zip(counts, times, strict=True)) / sum(counts) or None


def _knobs(point: AnalyticInput) -> list[_Knob]:
    """In causal order: each is found with those before it put in."""
    arm = isinstance(point.model.storage.data_disk, RotatingDevice)
    return [
        _Knob(MISSES_PART, lambda at: at.pool.misses.sum(axis=1), _smaller_pool, SMALL),
        _Knob(READS_PART, _reads, lambda p, f: replace(p, read_factor=p.read_factor * f), SMALL),
        _Knob(WRITES_PART, _writes, lambda p, f: replace(p, write_factor=p.write_factor * f), SMALL),
        _Knob(CPU_PART, _cpu_s, lambda p, f: replace(p, cpu_speed=p.cpu_speed / f)),
        _Knob(DEVICE_PART, _busy_per_request_s if arm else lambda at: at.residence.disk_read_s, _slower_device),
    ]


def _smaller_pool(p: Parameters, factor: FloatArray) -> Parameters:
    """A pool of 1 / factor of the size: the factor rises with the misses."""
    return replace(
        p,
        buffers=p.buffers / factor,
        resident=p.resident / factor,
        dirty_high=p.dirty_high / factor,
        dirty_low=p.dirty_low / factor,
    )


def _slower_device(p: Parameters, factor: FloatArray) -> Parameters:
    """Data, swap on it, and the log if it lies there too."""
    by = factor[:, None]
    shared = np.where(p.log_own > 0, 1.0, factor)
    return replace(
        p,
        read_s=p.read_s * by,
        write_s=p.write_s * by,
        page_transfer_s=p.page_transfer_s * factor,
        again_s=p.again_s * factor,
        swap_read_s=p.swap_read_s * by,
        swap_write_s=p.swap_write_s * by,
        log_first_s=p.flush_overhead_s + (p.log_first_s - p.flush_overhead_s) * shared,
        log_again_s=p.flush_overhead_s + (p.log_again_s - p.flush_overhead_s) * shared,
    )


def _reads(at: _At) -> FloatArray:
    return at.demands.mean.reads + at.demands.mean.faults


def _writes(at: _At) -> FloatArray:
    """With the log's, where it lies on a data device."""
    shared = (at.p.log_own <= 0) & (at.p.durable > 0)
    logged = np.where(shared, at.residence.flushes / at.rate, 0.0)
    return np.maximum(at.traffic.requests, at.demands.mean.victims) + logged


def _cpu_s(at: _At) -> FloatArray:
    alone = at.demands.mean.cpu_s + at.demands.mean.section_s + at.demands.background_cpu_s
    return alone * at.residence.slowdown + at.residence.handing_over / np.maximum(at.rate, 1e-12)


def _busy_per_request_s(at: _At) -> FloatArray:
    others = np.maximum(at.p.data_devices - at.p.disks_per_file, 0.0)
    busy = at.p.disks_per_file * at.residence.first_busy + others * at.residence.disk_busy
    return busy / np.maximum(at.rate * (_reads(at) + _writes(at)), 1e-12)


def _at_rate(point: AnalyticInput, p: Parameters, per_s: float) -> _At:
    """Everything that follows if the machines do `per_s` transactions of the mix."""
    w, policy, p = point.workload, point.model.pool.replacement, p.filled()
    pool, rate = pool_of(w, w.table(policy), p), np.full(len(p), per_s)

    def found(page_s: FloatArray) -> _At:
        t = traffic(w, w.table(policy), p, pool, rate, page_s)
        d = demands_of(w, p, pool, t)
        return _At(p, rate, pool, t, d, at_stations(w, p, d, t, rate))

    at = found(np.zeros(len(p)))
    for _ in range(PAGE_ROUNDS):
        at = found(at.residence.page_s)
    return at


def _factor(point: AnalyticInput, p: Parameters, knob: _Knob, target: float, per_s: float) -> float:
    """The factor at which the model's figure is the measured one, or the nearest that can be."""
    wanted = math.log(max(target, 0.0) + knob.small + 1e-12)
    low, high = -math.log(FARTHEST), math.log(FARTHEST)
    here = math.log(float(knob.figure(_at_rate(point, p, per_s))[0]) + knob.small + 1e-12)
    if abs(here - wanted) < SAME:
        return 1.0
    for _ in range(REFINED):
        factors = np.linspace(low, high, GRID)
        figures = knob.figure(_at_rate(point, knob.turn(p.repeated(GRID), np.exp(factors)), per_s))
        logs = np.maximum.accumulate(np.log(figures + knob.small + 1e-12))
        above = int(np.clip(np.searchsorted(logs, wanted), 1, GRID - 1))
        low, high = float(factors[above - 1]), float(factors[above])
    return math.exp((low + high) / 2.0)


def _shapley(point: AnalyticInput, factors: list[tuple[_Knob, float]]) -> list[float]:
    """Each factor's part of the change of the rate's logarithm."""
    count = len(factors)
    subsets = [frozenset(some) for size in range(count + 1) for some in combinations(range(count), size)]
    machines = []
    for some in subsets:
        p = point.parameters
        for number in sorted(some):
            knob, factor = factors[number]
            p = knob.turn(p, np.array([factor]))
        machines.append(p)
    with np.errstate(over="ignore"):
        rates = np.log(solve(point.workload, stacked(machines), point.model.pool.replacement).rate)
    worth = dict(zip(subsets, rates.tolist(), strict=True))
    weight = [math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count) for size in range(count)]
    return [
        math.fsum(weight[len(some)] * (worth[some | {number}] - worth[some]) for some in subsets if number not in some)
        for number in range(count)
    ]
