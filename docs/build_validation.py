"""Write the table of docs/validation.md: every scenario of the library that somebody has measured, simulated.

Runs are kept in out/validation under the hash of their content, so a stopped build goes on where it was.
"""

from __future__ import annotations

from pathlib import Path

from models.loading import load_scenario
from models.specs import ScenarioSpec
from scenarios import saved
from scenarios.commands.inputs import library
from scenarios.progress import display
from scenarios.runs import Task, default_workers, run_all
from simulator.errors import InputError
from simulator.results import Result

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "validation.md"
STORE = DOCS.parent / "out" / "validation"
BEGIN, END = "<!-- begin of the table: python docs/build_validation.py -->\n", "<!-- end of the table -->\n"
SEED = 1
COLUMNS = (
    "scenario",
    "measured",
    "simulated",
    "error",
    "row is",
    "CPU busy, measured",
    "CPU busy",
    "system share of CPU",
    "reads pending",
    "dirty buffers",
    "swap ins/s",
)


def row(name: str, scenario: ScenarioSpec, result: Result) -> str:
    """One line of the table. CPU in cores."""
    measured = scenario.measured
    assert measured is not None
    rate, cpu = result.rate_per_min, result.cpu
    busy = "" if measured.cpu_cores_busy is None else f"{measured.cpu_cores_busy:.2f}"
    cells = (
        name,
        f"{measured.new_orders_per_minute:,.0f}",
        f"{rate.mean:,.0f} [{rate.low:,.0f} .. {rate.high:,.0f}]",
        f"{100 * (rate.mean / measured.new_orders_per_minute - 1):+.1f} %",
        measured.role,
        busy,
        f"{cpu.utilisation * cpu.cores:.2f}",
        f"{100 * cpu.system / cpu.utilisation:.0f} %",
        f"{result.reads_pending:.1f}",
        f"{100 * result.caches[0].dirty_fraction:.0f} %",
        f"{result.swap_in_per_s:.1f}",
    )
    return line(cells)


def line(cells: tuple[str, ...]) -> str:
    """Cells as a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    """Simulate what has not been simulated yet, then write the table."""
    measured = {name: load_scenario(path) for name, path in sorted(library().items())}
    measured = {name: scenario for name, scenario in measured.items() if scenario.measured is not None}
    files = {name: STORE / f"{saved.content_hash(scenario, SEED)}.json" for name, scenario in measured.items()}
    missing = [name for name, file in files.items() if not file.exists()]
    with display(quiet=False) as shown:
        for number, outcome in run_all([Task(measured[name], SEED) for name in missing], default_workers(), shown):
            if isinstance(outcome, InputError):
                raise outcome
            saved.write(files[missing[number]], saved.SavedRun(measured[missing[number]], outcome))
    order = sorted(
        measured,
        key=lambda name: (measured[name].workload.active_warehouses or 0, measured[name].database.pool.buffers),
    )
    table = line(COLUMNS) + line(tuple("---" for _ in COLUMNS))
    table += "".join(row(name, measured[name], saved.read(files[name]).result) for name in order)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + table + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
