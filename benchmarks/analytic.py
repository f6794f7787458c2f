"""Benchmark 10: the analytic engine: one machine, many at once, and beside the kernel."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from time import process_time

import numpy as np

from benchmarks.checkout import Options
from benchmarks.page import Section, at_least, at_most, figure, table
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files
from oltpsim.simulator import kernel
from oltpsim.simulator.analytic import Parameters, parameters_of, rates, read_workload, simulate, solve

MACHINES, SEED = 4096, 1
SETTINGS = ("machine.disks.count=8", "machine.log_disk=scsi-10k-73", "interval.start=warm")
"""Five classes; processors, eight data disks and one for the log: ten stations; pool and page cache"""
MOST_MS, LEAST_PER_S = 1, 20_000


def varied(machine: Parameters) -> Parameters:
    """Machines that differ in memory, processors, disks and clients."""
    rng = np.random.default_rng(SEED)
    buffers = machine.buffers * rng.uniform(0.3, 2.0, MACHINES)
    return replace(
        machine,
        buffers=buffers,
        resident=buffers,
        dirty_high=0.75 * buffers,
        dirty_low=0.72 * buffers,
        processors=rng.integers(1, 33, MACHINES).astype(float),
        clients=rng.integers(10, 401, MACHINES).astype(float),
        data_devices=rng.integers(1, 17, MACHINES).astype(float),
        cache_pages=machine.cache_pages * rng.uniform(0.2, 3.0, MACHINES),
    )


def section(options: Options) -> Section:
    rounds = 15 if options.full else 5
    model = build(load_scenario(library_files()["v20z"], SETTINGS))
    workload = read_workload(model)
    machine, policy = parameters_of(model, workload), model.pool.replacement
    many = varied(machine)
    solve(workload, machine, policy)

    def timed(work: object) -> float:
        assert callable(work)
        began = process_time()
        work()
        return process_time() - began

    one_s = median(timed(lambda: solve(workload, machine, policy)) for _ in range(rounds))
    many_s = median(timed(lambda: rates(workload, many, policy)) for _ in range(rounds))
    whole_s = median(timed(lambda: simulate(model, SEED)) for _ in range(rounds))
    kernel.simulate(model, SEED)
    kernel_s = median(timed(lambda: kernel.simulate(model, SEED)) for _ in range(3))
    rows = [
        ["one machine, equations alone", f"{1e3 * one_s:.1f} ms"],
        ["one machine, from the model to the result", f"{1e3 * whole_s:.1f} ms"],
        ["the kernel, an hour of it", f"{1e3 * kernel_s:,.0f} ms"],
        ["kernel / analytic", figure(kernel_s / whole_s)],
        [f"machines a second, {MACHINES:,} at once", figure(MACHINES / many_s)],
    ]
    text = (
        "The V20z with eight disks and one for the log: five classes, ten stations, two tiers of cache. Many machines: "
        "memory, processors, disks and clients drawn at random, one workload. CPU times: of one core."
    )
    goals = [
        at_most("ms for one machine:", MOST_MS, 1e3 * one_s),
        at_least("machines a second, many at once:", LEAST_PER_S, MACHINES / many_s),
    ]
    return Section("The analytic engine", [text, table(["what", "figure"], rows)], goals)
