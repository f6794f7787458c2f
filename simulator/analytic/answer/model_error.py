"""Model error: how far the formulas are from the kernel, as a function of the formulas' own figures.

Half the width of the interval of a figure's logarithm is a base plus a weighted sum of features, no weight below 0.
`python docs/build_analytic.py` fits the weights to simulated random systems and writes model_error.json, with the
coverage of the intervals by cross-validation (docs/analytic.md).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.analytic.equations import Solution
from oltpsim.simulator.analytic.reading import Parameters, Workload
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import FloatArray, IntArray, weighted_sum
from oltpsim.simulator.results import Estimate

ERROR_MODEL_FILE = Path(__file__).with_name("model_error.json")
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
"""percentiles with an error of their own, and their shares"""
FIGURES = ("rate", *PERCENTILES)
DECIDED_FACTOR, MOST_FACTOR = 2.0, 5.0
"""ratios of a percentile to the ends of its interval above which it decides no objective, and isn't printed"""
MOST_AMPLIFIED = 20.0
"""largest ratio of a response time's error to the rate's, which long think times make"""
RATE_ERROR = "error of the rate"
"""feature of percentiles alone"""
TINY = 1e-12


@dataclass(frozen=True)
class FigureErrors:
    """Half width of the interval of a figure's logarithm, by features."""

    base: float
    weights: Mapping[str, float]
    other_classes: float = 1.0
    """factor for classes but the main one, to which the weights are fitted"""

    def half_width(self, features: Mapping[str, FloatArray]) -> FloatArray:
        """Half widths of machines whose features have any one shape."""
        shape = next(iter(features.values())).shape
        return np.asarray(
            sum((weight * features[name] for name, weight in self.weights.items()), np.full(shape, self.base))
        )


@dataclass(frozen=True)
class ErrorModel:
    """Fitted errors of all figures. `sizes`: smallest and largest machine of the fit, by `sizes_of`."""

    systems: int
    confidence: float
    figures: Mapping[str, FigureErrors]
    sizes: Mapping[str, tuple[float, float]]

    def interval(self, rate: float, half_width: float) -> Estimate:
        """Interval of a rate in any unit."""
        low, high = rate * np.exp(-half_width), rate * np.exp(half_width)
        return Estimate(rate, float(low), float(high), self.confidence, f"model error on {self.systems:,} systems")

    def sds(self, half_widths: FloatArray) -> FloatArray:
        """Standard deviations that half widths stand for."""
        return half_widths / NormalDist().inv_cdf((1.0 + self.confidence) / 2.0)


@cache
def error_model() -> ErrorModel:
    """Model that is shipped, read once. Raises InternalError if it isn't one."""
    read = json.loads(ERROR_MODEL_FILE.read_text(encoding="utf-8"))
    try:
        figures = {name: FigureErrors(**read["figures"][name]) for name in FIGURES}
        sizes = {name: (float(low), float(high)) for name, (low, high) in read["sizes"].items()}
        model = ErrorModel(int(read["systems"]), float(read["confidence"]), figures, sizes)
    except (KeyError, TypeError, ValueError) as error:
        raise InternalError(f"{ERROR_MODEL_FILE.name}: {type(error).__name__}: {error}") from error
    if any(min(one.base, *one.weights.values(), 0.0) < 0.0 or one.base <= 0.0 for one in figures.values()):
        raise InternalError(f"{ERROR_MODEL_FILE.name}: a weight below 0, or a base that isn't above")
    return model


def rate_half_widths(w: Workload, p: Parameters, r: Solution) -> FloatArray:
    """Half widths of the intervals of rates' logarithms, (machines,)."""
    return error_model().figures["rate"].half_width(rate_features(w, p, r))[:, 0]


def percentile_half_widths(
    w: Workload, p: Parameters, r: Solution, classes: IntArray, shares: FloatArray, rate_half_width: FloatArray
) -> FloatArray:
    """Half widths of the intervals of percentiles' logarithms, (machines, classes, shares); they grow with the share.

    `rate_half_width`: of the machines' rates, (machines,).
    Between the percentiles of the model, and beyond them, they are interpolated by the logarithm of 1 - share.
    """
    model = error_model().figures
    features = percentile_features(w, p, r, classes, rate_half_width)
    is_main = classes == w.main_class
    widths = np.stack(
        [model[name].half_width(features) * np.where(is_main, 1.0, model[name].other_classes) for name in PERCENTILES],
        axis=-1,
    )
    widths = np.maximum.accumulate(widths, axis=-1)
    at, tails = -np.log(1.0 - shares), -np.log(1.0 - np.array([*PERCENTILES.values()]))
    right = np.clip(np.searchsorted(tails, at), 1, len(tails) - 1)
    part = np.clip((at - tails[right - 1]) / (tails[right] - tails[right - 1]), 0.0, 1.0)
    return np.asarray((1.0 - part) * widths[..., right - 1] + part * widths[..., right])


def sizes_of(p: Parameters) -> dict[str, FloatArray]:
    """Sizes of machines in which a prediction may leave the range of the fit, (machines,)."""
    return {
        "clients": p.clients.number,
        "hardware threads": p.cpu.processors,
        "data disks": p.storage.disks,
        "s between rounds of page cleaners": p.cleaners.round_s,
    }


def rate_features(w: Workload, p: Parameters, r: Solution) -> dict[str, FloatArray]:
    """Features by the mean transaction of the mix, (machines, 1), as far as they are felt by the rate."""
    felt = _sensitivity(p, r)[:, None]
    return {name: felt * values for name, values in _features(w, p, r, None).items()}


def _sensitivity(p: Parameters, r: Solution) -> FloatArray:
    """Relative change of the rate by that of the time spent in the system, (machines,), about.

    Closed, R / (R + Z) of clients who think for Z, more where a part is saturated; of arrivals only where connections
    run out. The square is an assumption: 1.5 to 4 fit as well.
    """
    busiest = np.maximum.reduce([r.disks.first_busy, r.cpu.busy, r.cpu.section_busy])
    closed = np.maximum(_inside(p, r), np.clip(busiest, 0.0, 1.0) ** 2)
    of_terminals = np.where(p.clients.terminals > 0, r.rate * r.response_s / np.maximum(p.clients.terminals, 1.0), 0.0)
    open_or_terminals = np.maximum(all_inside(p, r), np.minimum(of_terminals, 1.0))
    is_closed = (p.clients.arrivals_per_s <= 0) & (p.clients.terminals <= 0)
    return np.asarray(np.where(is_closed, closed, open_or_terminals))


def _inside(p: Parameters, r: Solution) -> FloatArray:
    """Share of clients, or of connections, that are in the system, (machines,)."""
    return np.clip(r.rate * r.response_s / p.clients.number, 0.0, 1.0)


def percentile_features(
    w: Workload, p: Parameters, r: Solution, classes: IntArray, rate_half_width: FloatArray
) -> dict[str, FloatArray]:
    """Features by the transactions of classes, (machines, classes).

    In a closed system N = X (R + Z): an error of the rate X is one of the response time R, (R + Z) / R times as large.
    """
    amplification = 1.0 / np.maximum(_inside(p, r), 1.0 / MOST_AMPLIFIED)
    amplified = np.where(p.clients.arrivals_per_s > 0, 1.0, amplification) * rate_half_width
    return _features(w, p, r, classes) | {RATE_ERROR: np.repeat(amplified[:, None], len(classes), axis=1)}


def all_inside(p: Parameters, r: Solution) -> FloatArray:
    """Chance that all connections are in use, (machines,): M/M/c, Sakasegawa 1977. 0 of clients without a queue."""
    queued = (p.clients.arrivals_per_s > 0) | (p.clients.terminals > 0)
    return np.asarray(np.where(queued, _inside(p, r) ** (np.sqrt(2.0 * (p.clients.number + 1.0)) - 1.0), 0.0))


def _features(w: Workload, p: Parameters, r: Solution, classes: IntArray | None) -> dict[str, FloatArray]:
    """Features of machines, none below 0."""

    def transaction(by_class: FloatArray) -> FloatArray:
        return by_class[:, classes] if classes is not None else weighted_sum(by_class, w.mix)[:, None]

    def column(of_machines: npt.NDArray[Any]) -> FloatArray:
        return of_machines.astype(np.float64)[:, None]

    total_s = np.maximum(transaction(r.classes.total_s), TINY)
    cpu, cpu_queue, lock, section, log, read, victim, fault = (
        np.clip(transaction(times_s) / total_s, 0.0, 1.0)
        for times_s in (
            r.classes.cpu_s,
            r.classes.cpu_queue_s,
            r.classes.lock_s,
            r.classes.section_queue_s,
            r.classes.log_s,
            r.classes.read_s,
            r.classes.victim_s,
            r.classes.fault_s,
        )
    )
    waits = np.maximum(transaction(r.classes.disk_reads + r.classes.victims + r.classes.faults), 0.0)
    stalled_s = column(np.where(r.disks.pause_s > 0, np.minimum(r.disks.stalled_s, r.disks.read_s), 0.0))
    arm, few = column(p.storage.is_flash <= 0), column(1.0 / np.maximum(p.clients.number, 1.0))
    direct, is_open = column(p.writing.direct), column(p.clients.arrivals_per_s > 0)
    busy, writes, heaps = (
        column(np.clip(each, 0.0, 1.0)) for each in (r.disks.first_busy, r.disks.writes_busy, r.disks.heaps)
    )
    shared_log = log * column((p.log.has_own_device <= 0) & (p.log.is_durable > 0))
    at_disks = np.minimum(read + victim + fault, 1.0)
    behind = np.log(np.maximum(r.pool.dirty / np.maximum(p.pool.dirty_high, 1.0), 1.0))
    by_writer, by_log = p.cleaners.number <= 0, np.isfinite(p.checkpoints.log_bytes)
    features = {
        "processors": column(np.clip(r.cpu.busy, 0.0, 1.0)),
        "wait for processors": cpu_queue,
        "hand-over of sections": column(np.minimum(r.cpu.handing_over / p.cpu.processors, 1.0)),
        "wait for sections": section,
        "row locks": lock,
        "row locks at busy disks": lock * busy,
        "page faults at busy disks": fault * busy,
        "victims": victim,
        "victims on arms": victim * arm,
        "log": log,
        "log behind writes": shared_log * writes,
        "log behind heaps": shared_log * heaps,
        "log behind flushes of an SSD": log * column(p.log.is_volatile),
        "log beside exclusive flushes": log * column(p.ssd.closed_s > 0),
        "full log": column(np.clip(r.log.full, 0.0, 1.0)),
        "reads behind writes": read * writes * (1.0 - arm),
        "reads behind writes on arms": read * writes * arm,
        "disks behind heaps": at_disks * heaps,
        "disks behind pauses": np.minimum(stalled_s * waits / total_s, 1.0),
        "rare waits for disks": at_disks * np.exp(-waits),
        "storms": (at_disks + shared_log) * writes,
        "write-back": (1.0 - direct) * writes * busy,
        "write-back in chunks": column(p.page_cache.chunk_pages > 0) * (1.0 - direct) * writes * busy,
        "whole pages in the log": column(r.log.images > 0) * busy,
        "checkpoints by log volume": column(by_log) * busy,
        "writer behind its mark": column(np.minimum(behind, 3.0) * by_writer) * direct * busy,
        "RAID": column((p.storage.copies > 1) | (p.storage.parities > 0)) * busy,
        "parity by direct I/O": column(p.storage.parities > 0) * direct * busy,
        "write cache of arms": column(p.write_cache.write_s > 0) * writes * busy,
        "few clients": (1.0 - cpu) * few,
        "few clients on arms": (at_disks + shared_log) * arm * few,
        "open arrivals at processors": is_open * cpu_queue,
        "open arrivals behind writes": is_open * (at_disks + shared_log) * writes,
        "open arrivals at row locks": is_open * lock,
        "connections": column(all_inside(p, r)),
    }
    return {
        name: values if values.shape == total_s.shape else np.broadcast_to(values, total_s.shape)
        for name, values in features.items()
    }
