"""What single quantities of a machine do to its rate: by which factor each is another than measured, and its effect.

At a given rate the engine gives misses, reads, writes, processor time and device times of a transaction. Each quantity
that was measured is met by one factor, found in causal order: how many pages the pool lacks (by its effective size),
what of them is read from the device, writes, processor time, and the device's time for a request. Then every subset of
the factors is solved, and a factor's effect is that on the logarithm of the rate, averaged over all orders in which
they can be put in (Shapley, Contributions to the Theory of Games II (1953), 307-317): the effects depend on no order
and sum to that of all factors together.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from oltpsim.simulator.analytic.equations import Solution, at_rate, policy_at, rates, solve
from oltpsim.simulator.analytic.reading import Parameters, Workload, stacked
from oltpsim.simulator.form import FloatArray, RotatingDevice, System

MISSES_PART, READS_PART, WRITES_PART = "pool misses", "reads per transaction", "writes per transaction"
CPU_PART, DEVICE_PART = "CPU per transaction", "device service"
FARTHEST = 32.0
"""how far a factor is looked for, either way"""
GRID, REFINED = 49, 3
SAME = 1e-4
"""logarithm below which measured and model are the same"""
SMALL = 0.05
"""pages or requests of a transaction: fewer are next to none"""


@dataclass(frozen=True)
class RateFactor:
    """One quantity, per transaction, times in s. `effect`: of its factor on the logarithm of the rate."""

    name: str
    measured: float
    model: float
    effect: float


@dataclass(frozen=True)
class _AtRate:
    """Machines at a given rate."""

    p: Parameters
    solution: Solution


@dataclass(frozen=True)
class _Quantity:
    """What it is, and how a factor changes it."""

    name: str
    figure: Callable[[_AtRate], FloatArray]
    multiplied: Callable[[Parameters, FloatArray], Parameters]
    small: float = 0.0
    """added before logarithms are taken"""


def rate_factors(
    system: System, workload: Workload, parameters: Parameters, per_s: float, measured: Mapping[str, float]
) -> list[RateFactor]:
    """The measured quantities in causal order, by their names. `per_s`: transactions of the mix, as measured."""
    arm = isinstance(system.storage.data_disk, RotatingDevice)
    quantities = [
        _Quantity(MISSES_PART, lambda at: at.solution.misses, _smaller_pool, SMALL),
        _Quantity(READS_PART, _reads, lambda p, f: replace(p, read_factor=p.read_factor * f), SMALL),
        _Quantity(WRITES_PART, _writes, lambda p, f: replace(p, write_factor=p.write_factor * f), SMALL),
        _Quantity(CPU_PART, _cpu_s, lambda p, f: replace(p, cpu_speed=p.cpu_speed / f)),
        _Quantity(DEVICE_PART, _busy_per_request_s if arm else lambda at: at.solution.disk_read_s, _slower_device),
    ]
    policy, p = policy_at(parameters, system.pool.replacement), parameters
    factors: list[tuple[_Quantity, float]] = []
    figures: list[tuple[str, float, float]] = []
    for quantity in [each for each in quantities if each.name in measured]:
        target = measured[quantity.name]
        factor, figure = _factor(workload, policy, p, quantity, target, per_s)
        figures.append((quantity.name, target, figure))
        factors.append((quantity, factor))
        p = quantity.multiplied(p, np.array([factor]))
    effects = _effects(workload, policy, parameters, factors)
    return [RateFactor(*figure, effect) for figure, effect in zip(figures, effects, strict=True)]


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
        apart_page_s=p.apart_page_s * factor,
        append_page_s=p.append_page_s * factor,
        again_s=p.again_s * factor,
        swap_read_s=p.swap_read_s * by,
        swap_write_s=p.swap_write_s * by,
        log_first_s=p.flush_overhead_s + (p.log_first_s - p.flush_overhead_s) * shared,
        log_again_s=p.flush_overhead_s + (p.log_again_s - p.flush_overhead_s) * shared,
    )


def _reads(at: _AtRate) -> FloatArray:
    return at.solution.reads_mean + at.solution.faults_mean


def _writes(at: _AtRate) -> FloatArray:
    """With the log's, where it lies on a data device."""
    shared = (at.p.log_own <= 0) & (at.p.durable > 0)
    logged = np.where(shared, at.solution.flushes_per_s / at.solution.rate, 0.0)
    return np.maximum(at.solution.requests, at.solution.victims_mean) + logged


def _cpu_s(at: _AtRate) -> FloatArray:
    s = at.solution
    alone = s.cpu_mean_s + s.section_mean_s + s.background_cpu_s
    return alone * s.slowdown + s.handing_over / np.maximum(s.rate, 1e-12)


def _busy_per_request_s(at: _AtRate) -> FloatArray:
    others = np.maximum(at.p.data_devices - at.p.disks_per_file, 0.0)
    busy = at.p.disks_per_file * at.solution.first_busy + others * at.solution.disk_busy
    return busy / np.maximum(at.solution.rate * (_reads(at) + _writes(at)), 1e-12)


def _at_rate(w: Workload, policy: str, p: Parameters, per_s: float | None) -> _AtRate:
    """Everything that follows if the machines do `per_s` transactions of the mix; None: as many as each can do."""
    p = p.filled()
    return _AtRate(p, solve(w, p, policy) if per_s is None else at_rate(w, p, policy, np.full(len(p), per_s)))


def _factor(
    w: Workload, policy: str, p: Parameters, quantity: _Quantity, target: float, per_s: float
) -> tuple[float, float]:
    """The factor at which the model's figure is the measured one, or the nearest that can be; and the figure without.

    A device that was busy all the time tells nothing at the measured rate, where any slower one is as busy. But it was
    what the rate depended on, so that figures are those of each machine at its own rate.
    """

    def figures(machines: Parameters, at_per_s: float | None) -> FloatArray:
        return quantity.figure(_at_rate(w, policy, machines, at_per_s))

    def log(figure: FloatArray) -> FloatArray:
        found: FloatArray = np.log(figure + quantity.small + 1e-12)
        return found

    wanted = float(log(np.array(max(target, 0.0))))
    low, high = -math.log(FARTHEST), math.log(FARTHEST)
    here, most = figures(stacked([p, quantity.multiplied(p, np.array([FARTHEST]))]), per_s)
    at_per_s = per_s if wanted < log(most) - SAME else None
    if at_per_s is None:
        (here,) = figures(p, None)
    if abs(log(here) - wanted) < SAME:
        return 1.0, float(here)
    for _ in range(REFINED):
        factors = np.linspace(low, high, GRID)
        machines = quantity.multiplied(p.repeated(GRID), np.exp(factors))
        logs = np.maximum.accumulate(log(figures(machines, at_per_s)))
        above = int(np.clip(np.searchsorted(logs, wanted), 1, GRID - 1))
        low, high = float(factors[above - 1]), float(factors[above])
    return math.exp((low + high) / 2.0), float(here)


def _effects(w: Workload, policy: str, p: Parameters, factors: list[tuple[_Quantity, float]]) -> list[float]:
    """Shapley values of the factors: their shares of the change of the rate's logarithm."""
    count = len(factors)
    subsets = [frozenset(subset) for size in range(count + 1) for subset in combinations(range(count), size)]
    machines = []
    for subset in subsets:
        machine = p
        for number in sorted(subset):
            quantity, factor = factors[number]
            machine = quantity.multiplied(machine, np.array([factor]))
        machines.append(machine)
    worth = dict(zip(subsets, np.log(rates(w, stacked(machines), policy)).tolist(), strict=True))
    weight = [math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count) for size in range(count)]
    return [
        math.fsum(
            weight[len(subset)] * (worth[subset | {number}] - worth[subset])
            for subset in subsets
            if number not in subset
        )
        for number in range(count)
    ]
