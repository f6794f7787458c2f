"""Writes programs: names become numbers, labels become operation numbers, weights become alias tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form.program import (
    CODES,
    DISTRIBUTION_KINDS,
    OPERATION_WIDTH,
    OPERATIONS,
    REFERENCE_KINDS,
    Program,
    RegionRow,
)
from oltpsim.simulator.form.samplers import alias_table


@dataclass(frozen=True)
class Label:
    """A place in the program, known when `place` is called."""

    number: int


def _rows(rows: Sequence[tuple[int, ...]], width: int) -> npt.NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


@dataclass
class Assembler:
    """Collects the parts of a program; `finish` returns it. All methods raise InternalError on misuse."""

    classes: list[str] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    operations: list[tuple[str, tuple[int | Label, ...]]] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    streams: list[str] = field(default_factory=list)
    tables: list[tuple[str, npt.NDArray[np.int64]]] = field(default_factory=list)
    distributions: list[tuple[int, int, int]] = field(default_factory=list)
    counters: list[tuple[str, npt.NDArray[np.int64]]] = field(default_factory=list)
    regions: list[tuple[str, RegionRow]] = field(default_factory=list)
    references: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    windows: list[tuple[int, ...]] = field(default_factory=list)
    loaded_windows: list[tuple[int, ...]] = field(default_factory=list)
    locks: list[tuple[str, int, int]] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    stations: list[str] = field(default_factory=list)
    load_order: list[tuple[int, ...]] = field(default_factory=list)
    initial_high: list[npt.NDArray[np.int64]] = field(default_factory=list)
    labels: dict[Label, int] = field(default_factory=dict)
    labels_made: int = 0
    pages: int = 0

    def name(self, names: list[str], name: str) -> int:
        """The number of a register, stream or section, adding it if it is new."""
        if name not in names:
            names.append(name)
        return names.index(name)

    def register(self, name: str) -> int:
        """The number of a register."""
        return self.name(self.registers, name)

    def stream(self, purpose: str) -> int:
        """The number of a stream purpose."""
        return self.name(self.streams, purpose)

    def section(self, name: str) -> int:
        """The number of a critical section."""
        return self.name(self.sections, name)

    def table(self, name: str, weights: npt.ArrayLike) -> int:
        """A sampler over 0..n-1 with these weights."""
        self.tables.append((name, alias_table(weights)))
        return len(self.tables) - 1

    def station(self, name: str) -> int:
        """The number of a plain queueing station."""
        return self.name(self.stations, name)

    def distribution(self, kind: str, a_ns: int, b: int = 0) -> int:
        """A distribution of times; see DISTRIBUTION_KINDS."""
        self.distributions.append((DISTRIBUTION_KINDS.index(kind), a_ns, b))
        return len(self.distributions) - 1

    def counter(self, name: str, groups: int, initial: npt.ArrayLike) -> int:
        """A table of counters, one per group, with one initial value or (groups,) of them."""
        self.counters.append((name, np.full(groups, initial, dtype=np.int64)))
        return len(self.counters) - 1

    def window(self, length: int, groups: int) -> int:
        """Rings that remember the last `length` pages of each group."""
        start = sum(w[1] * w[2] for w in self.windows)
        self.windows.append((start, length, groups, sum(w[2] for w in self.windows)))
        return len(self.windows) - 1

    def loaded_window(self, window: int, region: int, table: int) -> None:
        """After a load a window's rings are full of pages of a region, whose offsets are drawn from an alias table."""
        self.loaded_windows.append((window, region, table))

    def lock(self, name: str, rows: int) -> int:
        """A kind of row lock."""
        self.locks.append((name, sum(lock[2] for lock in self.locks), rows))
        return len(self.locks) - 1

    def region(self, name: str, groups: int, group_pages: int, rows_per_page: int, fanout: int = 0) -> int:
        """A region of pages; with a fanout also the region of index pages above it."""
        interior = -1
        if fanout:
            interior = self.region(f"{name} index pages", 1, -(-groups * group_pages // fanout), 1)
        row = RegionRow(self.pages, groups, group_pages, rows_per_page, interior, max(fanout, 1))
        self.regions.append((name, row))
        self.pages += groups * group_pages
        return len(self.regions) - 1

    def loaded(self, region: int, group: int, pages: int) -> None:
        """A bulk load writes these first pages of a group next."""
        self.load_order.append((region, group, 0, min(pages, self.regions[region][1].group_pages)))

    def reference(  # noqa: PLR0913 - one argument per column
        self,
        name: str,
        kind: str,
        region: int,
        group: int,
        *,
        row: int = 0,
        table: int = -1,
        window: int = -1,
        stream: int = 0,
        appended_pages: int = -1,
    ) -> int:
        """A way to find a page; see program.py. `appended_pages`: pages that each group has at the start."""
        high = -1
        if kind == "append":
            high = sum(len(values) for values in self.initial_high)
            self.initial_high.append(np.full(self.regions[region][1].groups, appended_pages - 1, dtype=np.int64))
        code = REFERENCE_KINDS.index(kind)
        self.references.append((name, (code, region, group, row, table, window, stream, high)))
        return len(self.references) - 1

    def emit(self, operation: str, *operands: int | Label) -> None:
        """Add an operation."""
        if len(operands) != len(OPERATIONS[operation]):
            raise InternalError(f"{operation} takes {OPERATIONS[operation]}, got {operands}")
        self.operations.append((operation, operands))

    def label(self) -> Label:
        """A label to be placed later."""
        self.labels_made += 1
        return Label(self.labels_made)

    def place(self, label: Label) -> None:
        """The label means the next operation."""
        self.labels[label] = len(self.operations)

    def begin_class(self, name: str) -> None:
        """The next operation is the entry of a transaction class."""
        self.classes.append(name)
        self.entries.append(len(self.operations))

    def finish(self, main_class: str) -> Program:
        """The program."""
        operations = np.zeros((len(self.operations), OPERATION_WIDTH), dtype=np.int64)
        for number, (operation, operands) in enumerate(self.operations):
            values = [self.labels[o] if isinstance(o, Label) else o for o in operands]
            operations[number, : len(values) + 1] = [CODES[operation], *values]
        return Program(
            classes=tuple(self.classes),
            main_class=self.classes.index(main_class),
            entries=np.array(self.entries, dtype=np.int64),
            operations=operations,
            registers=tuple(self.registers),
            streams=tuple(self.streams),
            alias=np.concatenate([table for _, table in self.tables] or [_rows([], 2)]),
            tables=_spans([len(table) for _, table in self.tables]),
            table_names=tuple(name for name, _ in self.tables),
            distributions=_rows(self.distributions, 3),
            counters=np.concatenate([values for _, values in self.counters] or [np.zeros(1, dtype=np.int64)]),
            counter_tables=_spans([len(values) for _, values in self.counters]),
            counter_names=tuple(name for name, _ in self.counters),
            regions=_rows([row for _, row in self.regions], 6),
            region_names=tuple(name for name, _ in self.regions),
            references=_rows([row for _, row in self.references], 8),
            reference_names=tuple(name for name, _ in self.references),
            initial_high=np.concatenate([*self.initial_high, np.zeros(1, dtype=np.int64)]),
            windows=_rows(self.windows, 4),
            loaded_windows=_rows(self.loaded_windows, 3),
            lock_tables=_rows([(start, rows) for _, start, rows in self.locks], 2),
            lock_names=tuple(name for name, _, _ in self.locks),
            sections=tuple(self.sections),
            stations=tuple(self.stations),
            load_order=_rows(self.load_order, 4),
        )


def _spans(lengths: list[int]) -> npt.NDArray[np.int64]:
    starts = np.cumsum([0, *lengths])[:-1]
    return np.stack([starts, np.array(lengths, dtype=np.int64)], axis=1).astype(np.int64).reshape(-1, 2)
