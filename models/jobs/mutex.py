"""Threads that acquire and free one mutex: what a contended hand-over costs."""

from oltpsim.models.jobs.result import JobResult
from oltpsim.models.machine import speed_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import MutexSpec

US = 1e-6


def mutex(scenario: ScenarioSpec, job: MutexSpec) -> JobResult:
    """How many times as long n threads take as one, if each enters as often as that one did.

    Only one thread is inside at a time, and each entry that is handed over costs the operating system's contended
    hand-over, as in a critical section of transactions. Threads that share one processor hardly meet: they are
    rarely interrupted inside.
    """
    machine = scenario.machine
    entry_s = job.mutex_us * US / speed_of(machine)
    together = min(job.threads, machine.cpu.threads) > 1
    handed_over = job.handed_over_fraction if together else 0.0
    handover_s = handed_over * scenario.operating_system.cpu.contended_handover_us * US / speed_of(machine)
    return JobResult(
        kind="mutex",
        figure=f"time of {job.threads} threads relative to one",
        value=job.threads * (entry_s + handover_s) / entry_s,
        unit="times",
        cpu_cores_busy=1.0,
        limited_by="mutex: contended hand-over" if handover_s > entry_s else "mutex: one thread at a time",
        parts_of="one entry",
        parts_s={"acquire and free": entry_s, "hand-over": handover_s},
    )
