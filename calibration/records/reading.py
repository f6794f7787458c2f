"""Contents of one file of a run, before they are merged: figures, samples over time, counters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import Protocol

from oltpsim.calibration.records.record import MOST_SERIES_POINTS
from oltpsim.models.input import SourceFile

UNEVEN = 0.5
"""Share of an interval by which intervals of one series may differ before each point keeps its own time"""
RecordKey = tuple[str, ...]
"""The keys down to a field of the record, such as ("resources", "devices", "sda", "reads_per_s")."""
Leaf = dict[str, object] | str
"""An Observed, an ObservedText, a MeasuredSeries or a plain word, not yet validated."""


@dataclass(frozen=True)
class Meaning:
    """Definition of a column or a counter: unit as read, factor to the field's unit, definition."""

    unit: str
    factor: float
    definition: str


@dataclass(frozen=True)
class MonitorSample:
    """Means of one interval. Times are seconds since 1970; None if the tool printed no time."""

    place: str
    values: Mapping[RecordKey, float]
    start_s: float | None = None
    end_s: float | None = None


@dataclass(frozen=True)
class MonitorSamples:
    """Intervals in order, in the fields' units, without a first one that some tools print of the time since boot."""

    rows: tuple[MonitorSample, ...]
    meanings: Mapping[RecordKey, Meaning]


@dataclass(frozen=True)
class CounterRate:
    """A field that is the rise of `counter`, divided by that of `per` (seconds if None), times `factor`."""

    path: RecordKey
    counter: str
    unit: str
    definition: str
    factor: float = 1.0
    per: str | None = None


@dataclass(frozen=True)
class CounterSnapshot:
    """Counters at one moment. `at_s`: seconds since 1970; `clock_s`: a clock of unknown zero; each may be unknown."""

    phase: str | None
    counters: Mapping[str, float]
    rates: tuple[CounterRate, ...]
    at_s: float | None = None
    clock_s: float | None = None


@dataclass(frozen=True)
class DiskPoint:
    """Disk's rate and mean completion latency with so many requests in flight, by fio; NaN is what fio doesn't tell.

    Reads and writes of one `file`, `depth` and `block_kib` were in flight together.
    """

    file: str
    """with the group of jobs, or with the line of a table, where it has several"""
    operation: str
    """read or write"""
    depth: float
    """in flight, of all jobs together"""
    block_kib: float
    per_s: float
    mean_us: float
    p99_us: float
    flush_us: float = math.nan
    """mean of the flushes that followed the writes (fsync=1)"""
    device: str = ""
    """of a table of several devices"""


class ResultRank(IntEnum):
    """Rank of a result among several of one run: the lowest is believed first."""

    SUMMARY = 0
    DETAIL = 1
    """logs and series beside a summary"""
    TIMES = 2
    """response times, maybe of some clients alone: its rate only counts where no other result is"""
    WITNESS = 3
    """the database's own report of its rate: only used where no load generator's is"""


@dataclass
class FileReading:
    """Contents of one file. `tool` is set if it is the harness's own result."""

    kind: str
    file: str
    tool: str | None = None
    rank: ResultRank = ResultRank.SUMMARY
    values: dict[RecordKey, Leaf] = field(default_factory=dict)
    window: tuple[float, float] | None = None
    """start and end of what was counted, seconds since 1970"""
    samples: MonitorSamples | None = None
    snapshot: CounterSnapshot | None = None
    disk: list[DiskPoint] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, key: str | RecordKey, value: float, unit: str, place: str, definition: str) -> None:
        """Add a figure, in the unit of the record's field; `key`: dotted, or its words; `unit`: the one that was read.

        `place`: where in the file it stands; `definition`: what it counts.
        """
        source = f"{self.file}, {place}"
        self.values[_words(key)] = {"value": float(value), "unit": unit, "source": source, "definition": definition}

    def add_text(self, key: str | RecordKey, value: str, place: str, definition: str) -> None:
        """Add a text, such as a name or a version; keys as of `add`."""
        self.values[_words(key)] = {"value": value, "source": f"{self.file}, {place}", "definition": definition}

    def set_database(self, name: str, place: str) -> None:
        """Set the name of the database engine."""
        self.add_text("engine.name", name, place, "database engine")

    def set_cores(self, value: float, place: str, definition: str = "CPUs that are on line") -> None:
        """Set the number of the machine's CPUs."""
        self.add("environment.cores", value, "CPUs", place, definition)

    def set_window(self, kind: str, duration_s: float, unit: str, place: str, rate_definition: str) -> None:
        """Set the window: `kind` is whole or steady; `rate_definition`: what its rate divides by what."""
        self.values["window", "kind"] = kind
        self.values["window", "rate_definition"] = rate_definition
        self.add("window.duration_s", duration_s, unit, place, "length of what was counted")

    def add_series(
        self, name: str, ends_s: Sequence[float], points: Sequence[float], unit: str, place: str, definition: str
    ) -> None:
        """Add a series to the outcome: means of so many points that a record holds them; a last part of one is left.

        `ends_s`: end of each point, s. Points that don't follow each other evenly keep their ends.
        """
        steps = sorted(after - before for before, after in pairwise(ends_s))
        if not steps or steps[0] <= 0:
            return
        size = -(-len(points) // MOST_SERIES_POINTS)
        groups = [range(at, at + size) for at in range(0, len(points) - len(points) % size, size)]
        step_s = steps[len(steps) // 2]
        is_even = steps[-1] - steps[0] <= UNEVEN * step_s
        self.values["outcome", "series", name] = {
            "interval_s": step_s * size if not is_even else (ends_s[-1] - ends_s[0]) / len(steps) * size,
            "ends_s": () if is_even else tuple(ends_s[group[-1]] for group in groups),
            "values": tuple(sum(points[at] for at in group) / size for group in groups),
            "unit": unit,
            "source": f"{self.file}, {place}",
            "definition": definition,
        }


def _words(key: str | RecordKey) -> RecordKey:
    return tuple(key.split(".")) if isinstance(key, str) else key


class Importer(Protocol):
    """Importer of one format: each module that the registry of calibration/importers names."""

    @property
    def KIND(self) -> str:  # noqa: N802 - a constant of a module
        """Name of the format, for messages and lists."""
        ...

    def detect(self, file: SourceFile) -> bool:
        """Whether the file is of this format, from its beginning; never raises."""
        ...

    def read(self, file: SourceFile) -> FileReading:
        """Contents of the whole file, or InputError; never of a part."""
        ...
