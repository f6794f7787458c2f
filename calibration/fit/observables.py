"""Figures by which a model is held against a run: on a log scale, each with its noise.

In a closed system without errors response time and rate say the same (Little's law), so that the response counts only
where arrivals are open. A figure at its end of scale, such as a CPU at 100 %, says "at least so much": it is a censored
observation (Tobin 1958), here with the normal density's one-sided square in place of its tail.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import NormalDist, fmean, stdev
from typing import Any, Self

import numpy as np

from oltpsim.calibration.records import (
    MeasuredDevice,
    MeasuredSeries,
    Observed,
    RunRecord,
    mean_response_s,
    sum_observed,
)
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.analytic import Parameters, Solution, Workload
from oltpsim.simulator.form import FloatArray
from oltpsim.simulator.results import Result


class FigureKind(StrEnum):
    """Kind of figure by which a model is held against a run: its name, and what is known of its logarithm beforehand.

    assumption: standard deviations between runs of one machine (`noise_sd`, where neither record nor repeats tell it),
    and of what the model misses before any run is seen (`missed_sd`; of rates and CPU shares what the fit of the 42
    published rows has measured: 11 and 19 %). `negligible` is added before the logarithm: a figure far
    below it isn't told from none. From `end_of_scale` on a share says no more than that it is there.
    """

    noise_sd: float
    missed_sd: float
    negligible: float
    end_of_scale: float

    RATE = "new orders/min", 0.03, 0.11
    """of another job than transactions the figure that it is measured by, in its own unit"""
    CPU = "CPU user + system share", 0.05, 0.19, 0.01, 0.97
    READS = "reads per transaction", 0.05, 0.15, 0.05
    WRITES = "writes per transaction", 0.2, 0.3, 0.05
    MISSES = "pool misses per transaction", 0.05, 0.1, 0.05
    FLUSHES = "log flushes per transaction", 0.15, 0.1, 0.05
    BUSY = "device busy share", 0.05, 0.1, 0.01, 0.99
    RESPONSE = "mean response s", 0.05, 0.1

    def __new__(
        cls, name: str, noise_sd: float, missed_sd: float, negligible: float = 0.0, end_of_scale: float = math.inf
    ) -> Self:
        """A kind whose value is its name."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.noise_sd, kind.missed_sd = noise_sd, missed_sd
        kind.negligible, kind.end_of_scale = negligible, end_of_scale
        return kind

    def log(self, value: Any) -> Any:
        """Logarithm of a figure, or of an array of them, that a fit compares."""
        return np.log(value + self.negligible)


RUN_TO_RUN = 0.02
"""assumption: what one run differs from the next by, beside the noise within it"""
BATCHES = 6
ASSUMPTION, BY_SERIES = "assumption", "the run's series, and 2 % between runs (assumption)"
SIGMAS_OF_95_PERCENT = 1.959963984540054


@dataclass(frozen=True)
class Observation:
    """Observed figure of a run. `sd` is the standard deviation of its logarithm; `at_least`: censored from above."""

    kind: FigureKind
    value: float
    sd: float
    at_least: bool
    noise: str
    """where `sd` is from"""

    @property
    def log(self) -> float:
        """The logarithm that a fit compares."""
        return math.log(self.value + self.kind.negligible)

    @property
    def is_noise_assumed(self) -> bool:
        """Whether what runs differ by is assumed: repeats know better, a mapping file has said what it knows."""
        return self.noise in {ASSUMPTION, BY_SERIES}

    def value_at(self, log: float) -> float:
        """The figure that has a logarithm."""
        return math.exp(log) - self.kind.negligible


@dataclass(frozen=True)
class FigureChoice:
    """Mapping file's choice among a run's figures."""

    censored: frozenset[FigureKind] = frozenset()
    unused: frozenset[FigureKind] = frozenset()
    data_devices: tuple[str, ...] | None = None
    noise: Mapping[FigureKind, tuple[float, str]] = field(default_factory=dict)
    """standard deviation of a kind's logarithm, and its source"""


def engine_logs(w: Workload, p: Parameters, s: Solution) -> dict[FigureKind, FloatArray]:
    """Logarithms of each kind of figure by the analytic engine, (configurations,)."""
    flushes = s.log.flushes_per_s / s.rate
    shared_flushes = np.where(p.log.has_own_device > 0, 0.0, flushes)
    work_s = (s.cpu.path_s + s.cpu.section_s + s.cpu.background_s) * s.cpu.slowdown
    figures = {
        FigureKind.RATE: s.rate * 60.0 * w.mix[w.main_class],
        FigureKind.CPU: np.minimum((s.rate * work_s + s.cpu.handing_over) / p.cpu.processors, 1.0),
        FigureKind.READS: s.paging.reads + s.paging.faults,
        FigureKind.WRITES: np.maximum(s.writes.requests, s.paging.victims) + shared_flushes,
        FigureKind.MISSES: s.pool.misses,
        FigureKind.FLUSHES: flushes,
        FigureKind.BUSY: s.disks.first_busy,
        FigureKind.RESPONSE: s.response_s,
    }
    return {kind: kind.log(value) for kind, value in figures.items()}


def observations(
    record: RunRecord, scenario: ScenarioSpec, choice: FigureChoice
) -> tuple[list[Observation], list[str]]:
    """Figures of a record that the scenario's model has too, and those left out, with the reason."""
    left_out: list[str] = []
    share = scenario.workload.main_share
    rate, per_s = measured_rates(record, share)
    sd, noise = _rate_noise(record)
    figures = [Observation(FigureKind.RATE, rate, sd, False, noise)]
    resources = record.resources
    busy_share = _busy_processors(record, scenario)
    if busy_share is not None:
        figures.append(_observed(FigureKind.CPU, busy_share))
    if scenario.job is not None:
        return [each for each in figures if each.kind not in choice.unused], left_out
    devices = measured_devices(record, choice, left_out)
    if devices:
        for kind, values in (
            (FigureKind.READS, [each.reads_per_s for each in devices]),
            (FigureKind.WRITES, [each.writes_per_s for each in devices]),
        ):
            total = sum_observed(values)
            if total is not None:
                figures.append(_observed(kind, total / per_s))
        busy = [each.utilisation_fraction for each in devices]
        array = scenario.machine.disks
        if array.disk.kind == "rotating" and array.layout is not None and busy[0] is not None:
            left_out.append(
                f"{FigureKind.BUSY}: a RAID set counts as busy while any of its disks is; "
                "the model knows how busy each is"
            )
        elif array.disk.kind == "rotating" and busy[0] is not None:
            figures.append(_observed(FigureKind.BUSY, max(each.value for each in busy if each is not None)))
    counted: tuple[tuple[FigureKind, Observed | None], ...] = (
        (FigureKind.MISSES, resources.buffer_reads_per_s),
        (FigureKind.FLUSHES, resources.log_flushes_per_s if scenario.database.log.commit == "durable" else None),
    )
    figures += [_observed(kind, value.value / per_s) for kind, value in counted if value is not None]
    if scenario.workload.arrivals.kind == "open" and record.outcome.mean_ms is not None:
        figures.append(_observed(FigureKind.RESPONSE, max(record.outcome.mean_ms.value / 1000.0, 1e-9)))
    used = []
    for each in figures:
        if each.kind in choice.unused:
            left_out.append(f"{each.kind}: the mapping says not to use it")
            continue
        sd, noise = choice.noise.get(each.kind, (each.sd, each.noise))
        at_least = each.at_least or each.kind in choice.censored
        used.append(replace(each, sd=sd, noise=noise, at_least=at_least))
    return used, left_out


def _busy_processors(record: RunRecord, scenario: ScenarioSpec) -> float | None:
    """Share of the machine's processors that was busy, where it is known.

    Where clients have others, and the server's processes were told apart, it is theirs alone: interrupts and the
    kernel's own threads aren't in it, which the model's figure has.
    """
    resources, cores = record.resources, record.environment.cores
    group = resources.process_groups.get("database")
    alone = None if scenario.machine.network.clients_on_server else group
    if alone and cores and alone.cpu_user_cores and alone.cpu_system_cores:
        return min((alone.cpu_user_cores.value + alone.cpu_system_cores.value) / cores.value, 1.0)
    if resources.cpu_user_fraction and resources.cpu_system_fraction:
        return resources.cpu_user_fraction.value + resources.cpu_system_fraction.value
    return None if resources.cpu_busy_fraction is None else resources.cpu_busy_fraction.value


def measured_rates(record: RunRecord, new_order_share: float) -> tuple[float, float]:
    """New orders per minute and transactions of the whole mix per second; one from the other if only one is known.

    Of another job its figure, twice.
    """
    orders, every = record.outcome.new_orders_per_minute, record.outcome.transactions_per_s
    if record.outcome.job_figure is not None:
        return record.outcome.job_figure.value, record.outcome.job_figure.value
    rate = orders.value if orders else (every.value if every else 0.0) * 60.0 * new_order_share
    return rate, every.value if every else rate / 60.0 / new_order_share


def _observed(kind: FigureKind, value: float) -> Observation:
    full = value >= kind.end_of_scale
    return Observation(kind, kind.end_of_scale if full else value, kind.noise_sd, full, ASSUMPTION)


def measured_devices(record: RunRecord, choice: FigureChoice, notes: list[str]) -> list[MeasuredDevice]:
    """The devices that hold the data; none, and why in `notes`, if that can't be said."""
    devices = record.resources.devices
    if choice.data_devices is not None:
        return [devices[name] for name in choice.data_devices if name in devices]
    if len(devices) > 1:
        notes.append(
            f"devices: the record has {', '.join(devices)}, and one may lie on another; name those that hold the data "
            "in the mapping file, as data_devices"
        )
        return []
    return list(devices.values())


def _rate_noise(record: RunRecord) -> tuple[float, str]:
    """From the means of batches of the rate's series, with what runs differ by; of a whole run the assumption.

    Batch means: Law and Kelton, Simulation Modeling and Analysis, 9.5.3. A whole run drifts while it gets warm.
    """
    series: MeasuredSeries | None = record.outcome.series.get("new_orders_per_minute")
    if series is None or record.window.kind == "whole" or len(series.values) < 2 * BATCHES:
        return FigureKind.RATE.noise_sd, ASSUMPTION
    length = len(series.values) // BATCHES
    means = [fmean(series.values[-(k + 1) * length : len(series.values) - k * length]) for k in range(BATCHES)]
    within = stdev(means) / math.sqrt(BATCHES) / max(fmean(means), 1e-9)
    return math.hypot(within, RUN_TO_RUN), BY_SERIES


def simulated_figures(result: Result) -> dict[FigureKind, float]:
    """Every kind of figure of a run. Devices are those that hold data, with the log if it lies on one of them."""
    per_s = result.transactions_per_s
    sets = [device for device in result.devices if device.kind == "raid"]
    disks = sets or [device for device in result.devices if device.name.startswith("disk")]
    misses = sum(table.page_cache_hits + table.disk_reads for table in result.tables) / result.duration_s
    return {
        FigureKind.RATE: result.rate_per_min.mean,
        FigureKind.CPU: result.cpu.utilisation,
        FigureKind.READS: sum(disk.reads_per_s for disk in disks) / per_s,
        FigureKind.WRITES: sum(disk.writes_per_s for disk in disks) / per_s,
        FigureKind.MISSES: misses / per_s,
        FigureKind.FLUSHES: result.log.flushes_per_s / per_s,
        FigureKind.BUSY: max(disk.utilisation for disk in disks),
        FigureKind.RESPONSE: mean_response_s(result),
    }


def simulated_noise(result: Result) -> dict[FigureKind, float]:
    """Noise of figures of runs of this length: standard deviations of logarithms, by batch means.

    A rate without an interval has that of its batches, steady or not. Of kinds with a course over time. Law and Kelton,
    Simulation Modeling and Analysis, 9.5.3.
    """
    rate, series = result.rate_per_min, result.series
    steps = max(int(result.duration_s / series.step_s), 1)
    measured = {name: values[-steps:] for name, values in series.values.items()}
    cpu = [user + system for user, system in zip(measured["cpu_user"], measured["cpu_system"], strict=True)]
    disks = [values for name, values in measured.items() if name.startswith("disk ") and name.endswith(" utilisation")]
    of_rate = rate.log_half_width / NormalDist().inv_cdf(0.5 + rate.confidence / 2.0)
    if not math.isfinite(of_rate):
        of_rate = _relative(measured[series.rate_key])
    return {
        FigureKind.RATE: of_rate,
        FigureKind.RESPONSE: of_rate,
        FigureKind.CPU: _relative(cpu),
        FigureKind.BUSY: _relative(max(disks, key=fmean)),
    }


def _relative(values: list[float]) -> float:
    """Standard deviation of the mean over the mean, by batches."""
    length = len(values) // BATCHES
    if not length or fmean(values) <= 0:
        return 0.0
    means = [fmean(values[at * length : (at + 1) * length]) for at in range(BATCHES)]
    return stdev(means) / math.sqrt(BATCHES) / fmean(values)
