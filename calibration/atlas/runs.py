"""Runs of the atlas: a measured rate, the formulas' rate of the machine's line, and the place of the machine.

A place says in the model's terms what a machine is: engine, workload, processor, storage, sizes, and where the formulas
see a transaction's time go. Two machines of near places are missed by the model alike.
"""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from oltpsim.models.machine import FlashDiskSpec
from oltpsim.models.reading import Description
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.results import Result

SHIPPED_RUNS = Path(__file__).with_name("runs.csv")
KIB_PER_GIB = 2**20
COLUMNS = ("source", "line", "repeats", "measured", "calculated", "noise", "assumed")
FEWEST_READS = 0.01
"""page reads a transaction below which a machine counts as one in memory"""
PROCESSOR_TIMES = ("cpu", "cpu queue", "critical section")
STORAGE_TIMES = ("disk read", "page wait", "write throttle", "swap", "log")
KINDS = ("replacement", "workload", "processor", "storage")
"""columns of a place that two machines share or don't"""
NUMBERS = (
    "log clients a thread",
    "log cores",
    "log pool GiB",
    "log memory GiB",
    "log10 page reads",
    "log page KiB",
    "processor's share",
    "log's share",
)
"""columns of a place that are near or far; shares are of the mean response time"""


@dataclass(frozen=True)
class Place:
    """Place of a machine: what it shares with others by name, and how far it is from them in numbers.

    `storage_share`: share of the mean response time that storage and log take.
    """

    kinds: tuple[str, ...]
    numbers: tuple[float, ...]
    storage_share: float

    @property
    def processor_share(self) -> float:
        """Share of the mean response time on processors and in queues for them."""
        return self.numbers[NUMBERS.index("processor's share")]


@dataclass(frozen=True)
class AtlasRun:
    """Measured rate of a described line beside the formulas' rate, both per minute.

    `noise_sd`: standard deviation of the measured rate's logarithm by its repeats; `assumed`: facts that the line left
    to assumptions.
    """

    source: str
    line: str
    repeats: int
    measured_per_min: float
    calculated_per_min: float
    noise_sd: float
    assumed: frozenset[str]
    place: Place

    @property
    def machine(self) -> str:
        """The first piece of the line."""
        return self.line.partition(",")[0]

    @property
    def missed(self) -> float:
        """Logarithm of the measured rate by the formulas' rate."""
        return math.log(self.measured_per_min / self.calculated_per_min)


def assumed_facts(description: Description) -> dict[str, str]:
    """Facts that a description leaves to assumptions, by their keys; a fact that is known better is another one."""
    return {
        row.key: row.what if row.factor is None else f"{row.what} x{row.factor:g}"
        for row in description.rows
        if row.uncertain
    }


def place_of(scenario: ScenarioSpec, result: Result) -> Place:
    """Place of a scenario by the formulas' result of it."""
    machine, database = scenario.machine, scenario.database
    disk, cpu = machine.disks.disk, machine.cpu
    storage = "volume" if isinstance(disk, FlashDiskSpec) else disk.name
    if machine.disks.level is not None:
        storage += f", {machine.disks.level}"
    completed = sum(each.completed for each in result.classes)
    times = {name: sum(each.time_by_s[name] * each.completed for each in result.classes) for name in _names(result)}
    whole = sum(times.values())
    share = {name: value / whole if whole > 0.0 else 0.0 for name, value in times.items()}
    reads = sum(each.disk_reads for each in result.tables) / max(completed, 1)
    return Place(
        kinds=(database.pool.replacement, scenario.workload.name, cpu.model, storage),
        numbers=(
            math.log(max(scenario.workload.clients, 1) / (cpu.cores * cpu.threads_per_core)),
            math.log(cpu.cores),
            math.log(database.pool.buffers * database.page_kib / KIB_PER_GIB),
            math.log(machine.memory_gib),
            math.log10(reads + FEWEST_READS),
            math.log(database.page_kib),
            sum(share.get(name, 0.0) for name in PROCESSOR_TIMES),
            share.get("log", 0.0),
        ),
        storage_share=sum(share.get(name, 0.0) for name in STORAGE_TIMES),
    )


def read_atlas_runs(path: Path = SHIPPED_RUNS) -> tuple[AtlasRun, ...]:
    """Runs that `write_atlas_runs` wrote; in the file's order."""
    with path.open(encoding="utf-8", newline="") as text:
        return tuple(_run(row) for row in csv.DictReader(text))


def write_atlas_runs(runs: Iterable[AtlasRun], path: Path = SHIPPED_RUNS) -> None:
    """Write runs as CSV, rounded to five digits."""
    with path.open("w", encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*COLUMNS, *KINDS, *NUMBERS, "storage's share"])
        for run in runs:
            figures = (run.measured_per_min, run.calculated_per_min, run.noise_sd)
            place = (*run.place.kinds, *(f"{value:.5g}" for value in run.place.numbers))
            words = "; ".join(sorted(run.assumed))
            row = [run.source, run.line, run.repeats, *(f"{each:.5g}" for each in figures), words, *place]
            table.writerow([*row, f"{run.place.storage_share:.5g}"])


def _run(row: dict[str, str]) -> AtlasRun:
    place = Place(
        kinds=tuple(row[name] for name in KINDS),
        numbers=tuple(float(row[name]) for name in NUMBERS),
        storage_share=float(row["storage's share"]),
    )
    return AtlasRun(
        source=row["source"],
        line=row["line"],
        repeats=int(row["repeats"]),
        measured_per_min=float(row["measured"]),
        calculated_per_min=float(row["calculated"]),
        noise_sd=float(row["noise"]),
        assumed=frozenset(filter(None, row["assumed"].split("; "))),
        place=place,
    )


def _names(result: Result) -> set[str]:
    return {name for each in result.classes for name in each.time_by_s}
