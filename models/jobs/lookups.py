"""Random look-ups of a join between partitions, all in memory: threads on the machine's processors."""

import math
from dataclasses import replace

import numpy as np

from oltpsim.models.jobs.result import JobResult, most_crowded
from oltpsim.models.jobs.simulated import LONGEST, ONE_TRANSACTION_EACH, simulate_work
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import machine_model
from oltpsim.models.workloads import LookupsSpec
from oltpsim.simulator.form import NS_PER_S, NS_PER_US, Assembler, Station, System
from oltpsim.simulator.results import Activity

LEAST_LOOKUPS, LEAST_OF_A_THREAD = 200_000, 20
"""Fewest look-ups that are simulated: of all threads, and of each."""
MOST_THREADS = 100_000


def lookups(scenario: ScenarioSpec, job: LookupsSpec, seed: int) -> JobResult:
    """Look-ups per second of queries x processes threads.

    A look-up computes, and waits for memory where the processor's cache misses, both on a processor, which siblings and
    the memory bus slow down; then its thread waits for the others. Both times are exponential.
    """
    machine, cpu = scenario.machine, scenario.machine.cpu
    available = 1.0 - machine.hardware_share_lost
    core_ns = job.core_us * NS_PER_US / cpu.relative_speed / available
    missing = max(1.0 - cpu.cache_mib / job.touched_mib, 0.0)
    memory_ns = job.memory_references * missing * cpu.memory_latency_ns / available
    lookup_ns = core_ns + memory_ns
    threads = job.queries * job.processes
    count = max(LEAST_LOOKUPS, LEAST_OF_A_THREAD * threads)
    model = lookups_model(scenario, job, lookup_ns, count)
    done = simulate_work(model, seed)
    of_one = {activity: spent_ns / NS_PER_S / count for activity, spent_ns in done.spent_ns.items()}
    alone_s = min(lookup_ns / NS_PER_S if model.sharing else math.inf, of_one[Activity.CPU])
    return JobResult(
        kind="lookups",
        figure="random look-ups per second",
        value=count / done.seconds,
        unit="look-ups/s",
        cpu_cores_busy=done.cores_busy,
        limited_by=most_crowded(
            {"processors": done.cores_busy / model.processors}, "threads: too few, and each waits for the others"
        ),
        parts_of="a look-up",
        parts_s={
            "computing": alone_s * core_ns / lookup_ns,
            "memory": alone_s * memory_ns / lookup_ns,
            "slower beside other threads": of_one[Activity.CPU] - alone_s,
            "waiting for a processor": of_one[Activity.CPU_QUEUE],
            "waiting for other processes": of_one[Activity.STATIONS],
        },
        basis=f"simulated, seed {seed}: {count:,} look-ups",
    )


def lookups_model(scenario: ScenarioSpec, job: LookupsSpec, lookup_ns: float, count: int) -> System:
    """The scenario's processors with all threads, which make so many look-ups together."""
    asm, threads = Assembler(), job.queries * job.processes
    zero, claimed, times = asm.register("zero"), asm.register("claimed"), asm.stream("times")
    begun, lookups = asm.counter("begun", 1, 0), asm.counter("look-ups", 1, count)
    next_one, done = asm.label(), asm.label()
    asm.emit("think", asm.distribution("constant", 0), times)
    asm.emit("choose", asm.table("mix", [1.0]), times)
    asm.begin_class("look-ups")
    asm.place(next_one)
    asm.emit("claim", claimed, begun, zero, lookups, done)
    asm.emit("work", asm.distribution("exponential", max(round(lookup_ns), 1)), times)
    # a thread that waits for the others occupies nobody: each has a server of its own
    away = asm.distribution("exponential" if job.exchange_us else "constant", round(job.exchange_us * NS_PER_US))
    asm.emit("visit", asm.station("other processes"), away, times)
    asm.emit("jump", next_one)
    asm.place(done)
    asm.emit("end")
    program = asm.finish("look-ups")
    registers = np.zeros((threads, len(program.registers)), dtype=np.int64)
    return replace(
        machine_model(scenario, program, registers, LONGEST),
        work=ONE_TRANSACTION_EACH,
        stations=(Station("other processes", threads),),
        interrupts=None,
    )
