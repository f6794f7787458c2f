"""Write the tables of docs/analytic.md and simulator/analytic/engine_errors.json: both engines on random machines.

Simulated runs are kept in out/analytic, so a stopped build goes on where it was. They are used again only for the
same machine and the same simulating code.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.random_machines import REGIMES, random_machine
from models.build import build
from models.scenario import ScenarioSpec
from scenarios.run import SavedRun, SimulationTask, default_workers, read_saved_run, run_all, write_saved_run
from scenarios.show.progress import progress_display
from simulator.analytic import RATE_ERRORS_FILE, regime_of_result, simulate
from simulator.analytic import REGIMES as LIMITS
from simulator.errors import InputError
from simulator.results import Result

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "analytic.md"
STORE = DOCS.parent / "out" / "analytic"
BEGIN, END = "<!-- begin of the tables: python docs/build_analytic.py -->\n", "<!-- end of the tables -->\n"
SEEN, FRESH = range(50), range(200, 220)
"""numbers of machines that were looked at while the engine was built, and of others"""
SEED = 1
FAR = 0.10
FEWEST = 5
"""an interval is claimed for machines of a kind only if so many were compared"""


@dataclass(frozen=True)
class Pair:
    """One machine by both engines."""

    regime: str
    number: int
    scenario: ScenarioSpec
    simulated: Result
    calculated: Result

    @property
    def error(self) -> float:
        """Of the calculated rate, relative to the simulated one."""
        return self.calculated.rate_per_min.mean / self.simulated.rate_per_min.mean - 1.0

    @property
    def doubted(self) -> bool:
        """Whether the analytic engine says that its assumptions don't hold."""
        return any("check with the kernel" in warning for warning in self.calculated.warnings)


def machines() -> dict[tuple[str, int], ScenarioSpec]:
    """The machines that are compared; those that can't run their workload are left out."""
    found = {}
    for number, regime in product([*SEEN, *FRESH], REGIMES):
        try:
            found[regime, number] = random_machine(regime, number)
        except InputError:
            continue
    return found


def simulated(scenarios: dict[tuple[str, int], ScenarioSpec]) -> dict[tuple[str, int], Result]:
    """Every machine by the kernel; what is in the store already is taken from there."""
    digests = {key: build(scenario).digest() for key, scenario in scenarios.items()}
    files = {key: STORE / f"{key[0].replace(' ', '-')}-{key[1]}.json" for key in scenarios}
    missing = [
        key
        for key, file in files.items()
        if not file.exists() or read_saved_run(file).result.model_hash != digests[key]
    ]
    tasks = [SimulationTask(scenarios[key], SEED) for key in missing]
    with progress_display(quiet=False) as shown:
        for number, outcome in run_all(tasks, default_workers(), shown):
            if isinstance(outcome, InputError):
                raise outcome
            write_saved_run(files[missing[number]], SavedRun(tasks[number].scenario, outcome))
    return {key: read_saved_run(file).result for key, file in files.items()}


def line(*cells: str) -> str:
    """Cells as a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |\n"


def row(name: str, pairs: list[Pair]) -> str:
    """Errors of some machines."""
    if not pairs:
        return line(name, "0", "", "", "", "", "")
    errors = np.array([pair.error for pair in pairs])
    far = np.abs(errors) > FAR
    sizes = [f"{100 * np.quantile(np.abs(errors), share):.1f} %" for share in (0.5, 0.9, 0.95)]
    return line(name, str(len(pairs)), *sizes, f"{100 * np.median(errors):+.1f} %", str(int(far.sum())))


def tables(pairs: list[Pair]) -> str:
    """Errors by kind of machine, then by doubt, then the machines that are far off without one."""
    head = line("machines", "number", "median error", "90 %", "95 %", "median with sign", "above 10 %")
    head += line("---", *("---:" for _ in range(6)))
    by_kind = "".join(row(regime, [pair for pair in pairs if pair.regime == regime]) for regime in REGIMES)
    disks = defaultdict(list)
    for pair in pairs:
        disks[pair.scenario.machine.disks.disk.kind].append(pair)
    by_disk = row("on flash", disks["flash"]) + row("on disks with an arm", disks["rotating"])
    doubted, trusted = ([pair for pair in pairs if pair.doubted is doubt] for doubt in (True, False))
    by_doubt = row("no doubt raised", trusted) + row("doubt raised", doubted)
    seen, fresh = ([pair for pair in pairs if (pair.number in SEEN) is known] for known in (True, False))
    by_doubt += row("looked at before", seen) + row("never looked at", fresh)
    by_doubt += row("never looked at, no doubt raised", [pair for pair in fresh if not pair.doubted])
    missed = [f"{pair.regime} {pair.number} ({100 * pair.error:+.0f} %)" for pair in trusted if abs(pair.error) > FAR]
    words = f"Off by more than 10 % without a doubt: {', '.join(missed) or 'none'}.\n"
    return f"{head}{by_kind}{row('all', pairs)}{by_disk}{by_doubt}\n{words}"


def error_table(pairs: list[Pair]) -> dict[str, dict[str, float]]:
    """What the engine's own intervals are made of: errors by what limits a machine."""
    by_limit = defaultdict(list)
    for pair in pairs:
        by_limit[regime_of_result(pair.calculated, pair.doubted)].append(abs(pair.error))
    everything = [abs(pair.error) for pair in pairs]
    table = {}
    for regime in LIMITS:
        errors = by_limit[regime] if len(by_limit[regime]) >= FEWEST else everything
        median, p95 = np.quantile(errors, [0.5, 0.95]).round(4).tolist()
        table[regime] = {"machines": len(errors), "median": median, "p95": p95}
    return table


def main() -> None:
    """Simulate what has not been simulated yet, calculate all, and write page and figures."""
    scenarios = machines()
    results = simulated(scenarios)
    pairs = [Pair(*key, scenario, results[key], simulate(build(scenario), SEED)) for key, scenario in scenarios.items()]
    RATE_ERRORS_FILE.write_text(json.dumps(error_table(pairs), indent=1) + "\n", encoding="utf-8")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + tables(pairs) + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
