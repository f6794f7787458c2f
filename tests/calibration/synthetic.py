"""Runs whose truth is known: what the analytic engine says of a scenario, with noise, as run records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oltpsim.calibration.fit import (
    AnalyticReader,
    FigureKind,
    MeasuredRun,
    Parameter,
    engine_logs,
    measured_runs,
    parse_vary,
    solve_inputs,
)
from oltpsim.calibration.records import RunRecord
from oltpsim.models.reading import load_scenario, with_values
from oltpsim.models.scenario import ScenarioSpec

TINY = Path(__file__).parents[1] / "scenarios" / "tiny.yaml"
FLASH = (
    "machine.disks={count: 1, disk: {kind: flash, name: small SSD, capacity_gib: 70, read_latency_us: 150, "
    "write_latency_us: 60, parallel_requests: 8, source: 'assumption: for tests'}}"
)
DURATION_S = 60
READER = AnalyticReader()
"""of all scenarios: most tests change the times of a few programs, and reading one is most of an answer's work"""
DURABLE = "database.log={commit: durable, flush_overhead_us: 100}"
ROWS = "database.path.row_operation_us=10..160"
TRANSACTION = "database.path.transaction_us=50..800"
READ = "machine.disks.disk.read_latency_us=50..450"
SHARE = "database.critical_section.share_of_path=0..0.6"


def base(*settings: str) -> ScenarioSpec:
    return load_scenario(TINY, (FLASH, f"interval={{start: warm, warm_up_s: 5, duration_s: {DURATION_S}}}", *settings))


def parameters(scenario: ScenarioSpec, *texts: str) -> tuple[Parameter, ...]:
    return tuple(parse_vary(text, scenario) for text in texts)


def said_by(scenario: ScenarioSpec) -> dict[str, float]:
    """Every kind of figure of a machine, without noise."""
    [(workload, machines, solution, _)] = solve_inputs([READER.read(scenario)])
    found = engine_logs(workload, machines, solution)
    return {kind: float(np.exp(values[0])) - kind.negligible for kind, values in found.items()}


def observed(value: float, unit: str = "1") -> dict[str, Any]:
    return {"value": float(value), "unit": unit, "source": "synthetic", "definition": "synthetic"}


def record(name: str, figures: dict[str, float], scenario: ScenarioSpec, clients: int, pool_gib: float) -> RunRecord:
    """A record of these figures; kinds that are missing are missing."""
    per_s = figures[FigureKind.RATE] / 60.0 / scenario.workload.mix.new_order
    resources: dict[str, Any] = {"devices": {"sda": {}}}
    if FigureKind.CPU in figures:
        resources["cpu_user_fraction"] = observed(min(figures[FigureKind.CPU], 1.0))
        resources["cpu_system_fraction"] = observed(0.0)
    for kind, key in ((FigureKind.READS, "reads_per_s"), (FigureKind.WRITES, "writes_per_s")):
        if kind in figures:
            resources["devices"]["sda"][key] = observed(max(figures[kind], 0.0) * per_s)
    for kind, key in ((FigureKind.MISSES, "buffer_reads_per_s"), (FigureKind.FLUSHES, "log_flushes_per_s")):
        if kind in figures:
            resources[key] = observed(max(figures[kind], 0.0) * per_s)
    return RunRecord.model_validate(
        {
            "name": name,
            "source": "synthetic",
            "engine": {"buffer_pool_gib": observed(pool_gib, "GiB")},
            "workload": {"clients": observed(clients)},
            "window": {"kind": "steady", "duration_s": observed(DURATION_S), "rate_definition": "synthetic"},
            "outcome": {"new_orders_per_minute": observed(figures[FigureKind.RATE])},
            "resources": resources,
        }
    )


def runs(
    scenario: ScenarioSpec, truth: dict[str, float], sizes: Sequence[tuple[int, int]], kinds: Sequence[str],
    rng: np.random.Generator | None = None,
) -> list[MeasuredRun]:  # fmt: skip
    """Runs of so many clients and buffers on the true machine, with noise if `rng` is given."""
    records = []
    for clients, buffers in sizes:
        sizes_of_run = {"workload.arrivals.clients": clients, "database.pool.buffers": buffers}
        true = said_by(with_values(scenario, {**truth, **sizes_of_run}))
        noise = {kind: 0.0 if rng is None else rng.normal(0.0, kind.noise_sd) for kind in kinds}
        figures = {kind: (true[kind] + kind.negligible) * np.exp(noise[kind]) - kind.negligible for kind in kinds}
        pool_gib = buffers * scenario.database.page_kib / (1 << 20)
        records.append(record(f"{clients} clients, {buffers} buffers", figures, scenario, clients, pool_gib))
    return measured_runs(records, scenario, {})
