"""A simulated run's figures as a harness and monitors would count them: what a record's are compared with."""

from __future__ import annotations

from calibration.observables import BUSY, CPU, FLUSHES, MISSES, RATE, READS, RESPONSE, WRITES
from simulator.results import Result


def figures_of(result: Result) -> dict[str, float]:
    """Every kind of figure of a run. Devices are those that hold data, with the log if it lies on one of them."""
    per_s = result.transactions_per_s
    disks = [device for device in result.devices if device.name.startswith("disk")]
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
