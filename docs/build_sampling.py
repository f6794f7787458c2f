"""Write the table of docs/sampling.md: the same systems at page level and sampled, side by side.

Runs are kept in out/sampling under the hash of their content, so a stopped build goes on where it was.
"""

from __future__ import annotations

from pathlib import Path

from docs.build import head, line, replaced
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import response_s, sample_of, turnover_s
from oltpsim.scenarios.library import library_files
from oltpsim.scenarios.run import (
    SavedRun,
    SimulationTask,
    default_workers,
    read_saved_run,
    run_all,
    run_hash,
    scenario_text,
    write_saved_run,
)
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import NOT_STEADY, Result

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "sampling.md"
STORE = DOCS.parent / "out" / "sampling"
BEGIN, END = "<!-- begin of the table: python docs/build_sampling.py -->\n", "<!-- end of the table -->\n"
SEED = 1
FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.025)
FLASH = DOCS.parent / "tests" / "scenarios" / "sampled.yaml"
STEADY = ("interval.start=warm", "interval.warm_up_s=60 min", "interval.duration_s=40 min")
"""Warm-ups end after page level has delivered the loaded orders, of which a sample has fewer."""
SYSTEMS = {
    "flash, buffered": (FLASH, ("interval.warm_up_s=50",)),
    "flash, direct, think time": (
        FLASH,
        (
            "database.io=direct",
            "database.log.commit=durable",
            "database.checkpoint.interval_s=20",
            "machine.disks={disk: sata-ssd, count: 3}",
            "machine.memory_gib=8",
            "workload.arrivals={kind: closed, clients: 800, think_time_s: 0.15}",
            "interval.warm_up_s=180",
        ),
    ),
    "flash, CLOCK, TPC-C's mix": (
        FLASH,
        (
            "database.pool.replacement=clock",
            "workload.mix={new_order: 0.45, payment: 0.43, order_status: 0.04, delivery: 0.04, stock_level: 0.04}",
            "interval.warm_up_s=50",
        ),
    ),
    "one disk, buffered": (library_files()["v20z"], STEADY),
    "one disk, swapping": (library_files()["v20z-150000-buffers"], STEADY),
}
COLUMNS = ("system", "held", "pool hits", "page cache hits", "dirty buffers", "reads per transaction",
           "writes per transaction", "new orders per minute", "mean response", "turnover / response")  # fmt: skip


def row(system: str, scenario: ScenarioSpec, result: Result, whole: Result) -> str:
    """One line of the table; a sampled run's figures that are counts carry their error against page level."""
    sample = sample_of(scenario)

    def error(value: float, at_page_level: float) -> str:
        return "" if result is whole else f" ({100 * (value / at_page_level - 1):+.1f} %)"

    reads, reads_whole = reads_per_transaction(result), reads_per_transaction(whole)
    writes, writes_whole = writes_per_transaction(result), writes_per_transaction(whole)
    rate, rate_whole = result.rate_per_min, whole.rate_per_min
    (pool, lower), response = result.caches, response_s(result)
    chance = f"± {rate.half_width:,.0f}" if rate.is_steady else NOT_STEADY
    cells = (
        system,
        f"{sample.units} of {sample.whole}",
        f"{100 * pool.hit_ratio:.2f} %",
        f"{100 * lower.hit_ratio:.1f} %" if lower.capacity_pages > 1 else "",
        f"{100 * pool.dirty_fraction:.1f} %",
        f"{reads:.3f}{error(reads, reads_whole)}",
        f"{writes:.3f}{error(writes, writes_whole)}",
        f"{rate.mean:,.0f} {chance}{error(rate.mean, rate_whole.mean)}",
        f"{1e3 * response:.3g} ms{error(response, response_s(whole))}",
        f"{turnover_s(result) / response:,.0f}",
    )
    return line(*cells)


def reads_per_transaction(result: Result) -> float:
    """Pages that came from the disks."""
    return sum(table.disk_reads for table in result.tables) / (result.transactions_per_s * result.duration_s)


def writes_per_transaction(result: Result) -> float:
    """Write requests at the data disks, which may be of several pages."""
    return sum(device.writes_per_s for device in result.devices) / result.transactions_per_s


def main() -> None:
    """Simulate what has not been simulated yet, then write the table."""
    scenarios = {
        (system, fraction): load_scenario(path, [*settings, f"sampling_fraction={fraction}"])
        for system, (path, settings) in SYSTEMS.items()
        for fraction in FRACTIONS
    }
    files = {key: STORE / f"{run_hash(scenario_text(scenario), SEED)}.json" for key, scenario in scenarios.items()}
    missing = [key for key, file in files.items() if not file.exists()]
    with progress_display(quiet=False) as shown:
        for number, outcome in run_all(
            [SimulationTask(scenarios[key], SEED) for key in missing], default_workers(), shown
        ):
            if isinstance(outcome, InputError):
                raise outcome
            write_saved_run(files[missing[number]], SavedRun(scenarios[missing[number]], outcome))
    results = {key: read_saved_run(file).result for key, file in files.items()}
    table = head(*COLUMNS)
    table += "".join(row(key[0], scenarios[key], results[key], results[key[0], 1.0]) for key in scenarios)
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, table), encoding="utf-8")


if __name__ == "__main__":
    main()
