"""Systems whose truth is known: small machines at random, their parameters drawn from the priors, runs by the kernel.

A run is handed over as a harness and monitors would: a rate and means of counters, each with a measurement's noise.
The same number always gives the same system; its runs are the same for any number of processes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oltpsim.calibration.fit import (
    RUN_TO_RUN,
    FigureKind,
    MeasuredRun,
    Parameter,
    default_parameters,
    measured_runs,
    simulated_figures,
)
from oltpsim.calibration.records import RunRecord
from oltpsim.models.reading import load_scenario, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.run import Display, SavedRun, SimulationTask, read_saved_run, run_all, write_saved_run
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

BASE = Path(__file__).resolve().parents[1] / "tests" / "scenarios" / "tiny.yaml"
WORKING_SET_PAGES = 8_450
"""pages of 8 KiB that a warehouse keeps busy: 66 MB, the Virtuoso scalability article"""
WARM_UP_S, DURATION_S, SERIES_STEP_S = 60, 240, 10
FITTED, HELD_OUT = 4, 2
"""runs of a system that are fitted, and that are predicted"""
FLASH = {
    "kind": "flash", "name": "small SSD", "capacity_gib": 200, "read_latency_us": 150, "write_latency_us": 60,
    "parallel_requests": 8, "source": "assumption: for systems of known truth",
}  # fmt: skip
ARM = {
    "kind": "rotating", "name": "small disk", "capacity_gib": 70, "rpm": 10000, "seek_track_to_track_ms": 0.5,
    "seek_average_ms": 4.5, "seek_full_stroke_ms": 10, "overhead_ms": 0.2, "transfer_mib_per_s": 60, "queue_depth": 8,
    "source": "assumption: for systems of known truth",
}  # fmt: skip
Settings = dict[str, float]


@dataclass(frozen=True)
class SyntheticMachine:
    """One system. `base` holds the priors' middles, `truth` what it really is; `sizes` set a run each."""

    number: int
    base: ScenarioSpec
    parameters: tuple[Parameter, ...]
    truth: dict[str, float]
    sizes: tuple[Settings, ...]

    def scenario(self, sizes: Settings, *, true: bool) -> ScenarioSpec:
        """The system with the settings of a run, as it is or as its owner believes."""
        return with_values(self.base, {**(self.truth if true else {}), **sizes})


def system(number: int) -> SyntheticMachine:
    """System `number`. Its first `FITTED` sizes are those of runs to be fitted, the others are held out."""
    rng = np.random.default_rng([number, 1])
    base = load_scenario(BASE, tuple(_settings(rng)))
    parameters = tuple(default_parameters(base))
    truth = {each.key: each.at(_drawn(each, rng)) for each in parameters}
    pool, clients = base.database.pool.buffers, _clients(base)
    sizes: list[Settings] = []
    for share, factor in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.25), (0.7, 2.0)):
        sizes.append(_size(pool * share, clients * factor))
    for _ in range(HELD_OUT):
        share, factor = np.exp(rng.uniform(np.log([0.4, 0.2]), np.log([1.3, 3.0])))
        sizes.append(_size(pool * float(share), clients * float(factor)))
    return SyntheticMachine(number, base, parameters, truth, tuple(sizes))


def _size(buffers: float, clients: float) -> Settings:
    return {"database.pool.buffers": round(buffers), "workload.arrivals.clients": max(round(clients), 1)}


def _clients(base: ScenarioSpec) -> int:
    arrivals = base.workload.arrivals
    assert arrivals.kind == "closed"
    return arrivals.clients


def _drawn(parameter: Parameter, rng: np.random.Generator) -> float:
    """A place from the prior, within the parameter's bounds and the middle 99 %."""
    while True:
        place = float(rng.normal())
        if abs(place) < 2.576 and parameter.low <= parameter.at(place) <= parameter.high:
            return place


def _settings(rng: np.random.Generator) -> list[str]:
    """Of every kind of machine some: bound by processors, by one disk, by several; durable or not; cached or direct."""

    def one_of(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    warehouses = one_of(2, 4, 8)
    clients = warehouses * one_of(1, 2, 4)
    cached = float(np.exp(rng.uniform(np.log(0.3), np.log(1.2))))
    buffers = round(cached * warehouses * WORKING_SET_PAGES)
    disk, count = (FLASH, 1) if one_of(True, False) else (ARM, one_of(1, 2, 4))
    direct = one_of(True, False)
    page_cache = 0.0 if direct else cached * warehouses * WORKING_SET_PAGES * 8 / 2**20 * float(rng.uniform(0.1, 0.6))
    memory = (0.15 + 3 * clients * 4 / 1024 + 1.4 * buffers * 9 / 2**20 + page_cache) / 0.88
    settings: dict[str, Any] = {
        "machine": {"cpu": {"cores": one_of(1, 2, 4)}, "memory_gib": memory, "disks": {"count": count, "disk": disk}},
        "database.io": "direct" if direct else "buffered",
        "database.requests_per_file": 64,
        "database.pool": {"buffers": buffers, "replacement": one_of("lru", "clock")},
        "database.writer": {"dirty_high_fraction": 0.75, "dirty_low_fraction": 0.72},
        "database.log": {"commit": one_of("durable", "buffered"), "flush_overhead_us": one_of(100, 400)},
        "database.critical_section.share_of_path": one_of(0.0, 0.1, 0.3),
        "workload.warehouses": warehouses,
        "workload.arrivals": {"kind": "closed", "clients": clients, "think_time_s": one_of(0, 0, 0.02)},
        "interval": {"start": "warm", "warm_up_s": WARM_UP_S, "duration_s": DURATION_S},
    }
    return [f"{key}={json.dumps(value)}" for key, value in settings.items()]


def simulated(
    systems: Sequence[SyntheticMachine], folder: Path, workers: int, display: Display
) -> dict[tuple[int, int], Result | InputError]:
    """Every run of the true systems by the kernel, by system's and run's number; kept in `folder` and used again.

    A run that the machine can't do is an InputError, as its user would find.
    """
    files: dict[tuple[int, int], Path] = {}
    tasks: list[tuple[tuple[int, int], SimulationTask]] = []
    found: dict[tuple[int, int], Result | InputError] = {}
    for one in systems:
        for number, sizes in enumerate(one.sizes):
            key = one.number, number
            files[key] = folder / f"{one.number}-{number}.json"
            try:
                scenario = one.scenario(sizes, true=True)
                digest = build(scenario).digest()
            except InputError as error:
                found[key] = error
                continue
            if files[key].exists() and (kept := read_saved_run(files[key]).result).model_hash == digest:
                found[key] = kept
            else:
                tasks.append((key, SimulationTask(scenario, one.number * 100 + number)))
    for number, outcome in run_all([task for _, task in tasks], workers, display):
        key, task = tasks[number]
        if isinstance(outcome, Result):
            write_saved_run(files[key], SavedRun(task.scenario, outcome))
        found[key] = outcome
    return found


def record(one: SyntheticMachine, number: int, result: Result, noise: bool = True) -> RunRecord:
    """A run's record: a harness's rate and its course, a monitor's means, with the noise that a fit takes them for."""
    rng = np.random.default_rng([one.number, 2, number])

    def read(value: float, sd: float = 0.0) -> dict[str, Any]:
        value *= float(np.exp(rng.normal(0.0, sd))) if noise else 1.0
        return {"value": value, "unit": "1", "source": "simulated", "definition": "with a meter's noise"}

    true, base = simulated_figures(result), one.scenario(one.sizes[number], true=False)
    orders = read(true[FigureKind.RATE], RUN_TO_RUN)
    factor = orders["value"] / true[FigureKind.RATE]
    per_s = result.transactions_per_s * factor
    """one run: a harness counts both rates of it"""
    busy = _share(true[FigureKind.CPU], read(1.0, FigureKind.CPU.noise_sd)["value"]) / max(true[FigureKind.CPU], 1e-9)
    arrivals = base.workload.arrivals
    assert arrivals.kind == "closed"
    resources: dict[str, Any] = {
        "cpu_user_fraction": read(result.cpu.user * busy),
        "cpu_system_fraction": read(result.cpu.system * busy),
        "devices": {"data": _device(result, factor, base.database.page_kib, read)},
        "buffer_hits_per_s": read(sum(table.pool_hits for table in result.tables) / result.duration_s * factor),
        "buffer_reads_per_s": read(true[FigureKind.MISSES] * per_s, FigureKind.MISSES.noise_sd),
        "commits_per_s": read(result.log.commits_per_s * factor),
    }
    if base.database.log.commit == "durable":
        resources["log_flushes_per_s"] = read(true[FigureKind.FLUSHES] * per_s, FigureKind.FLUSHES.noise_sd)
    return RunRecord.model_validate(
        {
            "name": f"system {one.number}, run {number}",
            "source": "simulated by the kernel, with a measurement's noise",
            "engine": {"page_kib": read(base.database.page_kib)},
            "workload": {"clients": read(arrivals.clients), "think_time_s": read(arrivals.think_time_s)},
            "window": {"kind": "steady", "duration_s": read(DURATION_S), "rate_definition": "all that ended in it"},
            "outcome": {
                "new_orders_per_minute": orders,
                "transactions_per_s": read(per_s),
                "mean_ms": read(max(arrivals.clients / per_s - arrivals.think_time_s, 0.0) * 1000.0),
                "series": {"new_orders_per_minute": _course(result, factor)},
            },
            "resources": resources,
        }
    )


def _device(result: Result, factor: float, page_kib: float, read: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """The data disks as one: a monitor's sums."""
    disks = [device for device in result.devices if device.name.startswith("disk")]
    reads, writes = (sum(getattr(disk, name) for disk in disks) * factor for name in ("reads_per_s", "writes_per_s"))
    await_ms = sum(disk.mean_queue for disk in disks) / max(reads + writes, 1e-9) * 1000.0
    busy = _share(max(disk.utilisation for disk in disks), read(1.0, FigureKind.BUSY.noise_sd)["value"])
    counted, written = read(reads, FigureKind.READS.noise_sd), read(writes, FigureKind.WRITES.noise_sd)
    return {
        "reads_per_s": counted,
        "writes_per_s": written,
        "read_kib_per_s": read(counted["value"] * page_kib),
        "read_await_ms": read(await_ms),
        "write_await_ms": read(await_ms),
        "queue_length": read((counted["value"] + written["value"]) * await_ms / 1000.0),
        "utilisation_fraction": read(busy),
    }


def _share(true: float, factor: float) -> float:
    """A share as a meter reads it that multiplies what is busy over what is idle: of 100 % nothing is wrong."""
    return true * factor / (true * factor + 1.0 - true)


def _course(result: Result, factor: float) -> dict[str, Any]:
    every = np.array(result.series.values[result.series.rate_key][-int(DURATION_S / result.series.step_s) :])
    means = every.reshape(-1, int(SERIES_STEP_S / result.series.step_s)).mean(axis=1) * factor
    return {
        "interval_s": SERIES_STEP_S, "values": means.tolist(), "unit": "1/min", "source": "simulated",
        "definition": "new orders by the time of their end",
    }  # fmt: skip


def run(one: SyntheticMachine, number: int, result: Result) -> MeasuredRun:
    """A run as a fit takes it: its sizes are what its owner knows."""
    [found] = measured_runs([record(one, number, result)], one.scenario(one.sizes[number], true=False), {})
    return found
