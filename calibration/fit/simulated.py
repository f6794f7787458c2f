"""A simulated run's figures as a harness and monitors would count them: what a record's are compared with."""

from __future__ import annotations

import math
from statistics import fmean, stdev

from calibration.fit.observables import BATCHES, BUSY, CPU, FLUSHES, MISSES, RATE, READS, RESPONSE, WRITES
from simulator.results.result import Result

SIGMAS_OF_95_PERCENT = 1.959963984540054


def simulated_figures(result: Result) -> dict[str, float]:
    """Every kind of figure of a run. Devices are those that hold data, with the log if it lies on one of them."""
    per_s = result.transactions_per_s
    sets = [device for device in result.devices if device.kind == "raid"]
    disks = sets or [device for device in result.devices if device.name.startswith("disk")]
    misses = sum(table.page_cache_hits + table.disk_reads for table in result.tables) / result.duration_s
    done = sum(each.completed for each in result.classes)
    return {
        RATE: result.rate_per_min.mean,
        CPU: result.cpu.utilisation,
        READS: sum(disk.reads_per_s for disk in disks) / per_s,
        WRITES: sum(disk.writes_per_s for disk in disks) / per_s,
        MISSES: misses / per_s,
        FLUSHES: result.log.flushes_per_s / per_s,
        BUSY: max(disk.utilisation for disk in disks),
        RESPONSE: sum(each.mean_s * each.completed for each in result.classes) / done,
    }


def simulated_noise(result: Result) -> dict[str, float]:
    """What chance does to figures of runs of this length: standard deviations of logarithms, by batch means.

    Of kinds with a course over time. Law and Kelton, Simulation Modeling and Analysis, 9.5.3.
    """
    rate, series = result.rate_per_min, result.series
    steps = max(int(result.duration_s / series.step_s), 1)
    measured = {name: values[-steps:] for name, values in series.values.items()}
    cpu = [user + system for user, system in zip(measured["cpu_user"], measured["cpu_system"], strict=True)]
    disks = [values for name, values in measured.items() if name.startswith("disk ") and name.endswith(" utilisation")]
    of_rate = max(math.log(rate.high / rate.low), 0.0) / 2.0 / SIGMAS_OF_95_PERCENT if rate.low > 0 else 1.0
    return {RATE: of_rate, RESPONSE: of_rate, CPU: _relative(cpu), BUSY: _relative(max(disks, key=fmean))}


def _relative(values: list[float]) -> float:
    """Of the mean."""
    length = len(values) // BATCHES
    if not length or fmean(values) <= 0:
        return 0.0
    means = [fmean(values[at * length : (at + 1) * length]) for at in range(BATCHES)]
    return stdev(means) / math.sqrt(BATCHES) / fmean(values)
