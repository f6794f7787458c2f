"""Random look-ups of a join between partitions, all in memory: what cores, hardware threads and memory make of it."""

import numpy as np

from models.jobs.processors import NS, US, chances
from models.jobs.result import JobResult, most_crowded
from models.machine import slowed_by_busy
from models.scenario import ScenarioSpec
from models.workloads import LookupsSpec


def lookups(scenario: ScenarioSpec, job: LookupsSpec) -> JobResult:
    """Look-ups per second of a closed network: queries x processes threads, the processors, and waiting for each other.

    A look-up computes, and waits for memory where the processor's cache misses, both on a processor, which siblings and
    the memory bus slow down; then its thread waits for the others for an exponential time.
    """
    machine, cpu = scenario.machine, scenario.machine.cpu
    available = 1.0 - machine.hardware_share_lost
    core_s = job.core_us * US / cpu.relative_speed / available
    missing = max(1.0 - cpu.cache_mib / job.touched_mib, 0.0)
    memory_s = job.memory_references * missing * cpu.memory_latency_ns * NS / available
    threads, slow = job.queries * job.processes, slowed_by_busy(machine)

    away = np.arange(threads + 1.0)
    running = np.minimum(threads - away, len(slow))
    per_s = running / ((core_s + memory_s) * slow[np.maximum(running, 1).astype(int) - 1])
    with np.errstate(divide="ignore", over="ignore"):
        chance = chances(per_s[:-1], away[1:] / np.float64(job.exchange_us * US))
    rate_per_s, busy = float(chance @ per_s), float(chance @ running)
    return JobResult(
        kind="lookups",
        figure="random look-ups per second",
        value=rate_per_s,
        unit="look-ups/s",
        cpu_cores_busy=busy,
        limited_by=most_crowded({"processors": busy / len(slow)}, "threads: too few, and each waits for the others"),
        parts_of="a look-up",
        parts_s={
            "computing": core_s,
            "memory": memory_s,
            "slower beside other threads": max(busy / rate_per_s - core_s - memory_s, 0.0),
            "waiting for a processor": float(chance @ (threads - away - running)) / rate_per_s,
            "waiting for other processes": float(chance @ away) / rate_per_s,
        },
    )
