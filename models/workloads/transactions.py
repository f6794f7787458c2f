"""Writing transactions as a program: what those of every workload do, whatever rows they read and change.

A transaction begins with its request, pays for each row that it meets, and ends with its share of the critical section
and the commit. Times of the steps are put in last, so that programs of one outline share all arrays but the operations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from oltpsim.models.input import Spec
from oltpsim.models.workloads.arrivals import ClosedClientsSpec
from oltpsim.models.workloads.paths import PathTimes, Rows
from oltpsim.simulator.form import WITH_INDEX_PAGE, Assembler, IntArray, Label, Program, cut_of, from_s

INTERRUPTS = "interrupts"
"""station of the processors that are set aside for them"""
MIX = "mix"
"""alias table of the classes"""
READ, WRITE, MOVE = 0, 1, WITH_INDEX_PAGE
"""what a reference does to its row; MOVE: the leaf of its key changes too"""

StepTime = Callable[[PathTimes], int]
"""time of a step, ns, as the paths have it"""


class ProgramSteps(NamedTuple):
    """Which steps a program has. `sections`: by class; `interrupts_ns`: at processors of their own by class, or none.

    `drawn`: mean and phases of a transaction's own time by class, None if it doesn't vary.
    """

    network: bool
    sections: tuple[bool, ...]
    interrupts_ns: tuple[int, ...] | None
    drawn: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def needed(cls, counts: Mapping[str, Rows], round_trips: Sequence[int], paths: PathTimes) -> Self:
        """Those that classes with so many rows and round trips need."""
        interrupts = paths.interrupts
        bound = interrupts is not None and interrupts.bound > 0
        return cls(
            network=paths.network_ns > 0,
            sections=tuple(paths.section_ns(rows) > 0 for rows in counts.values()),
            interrupts_ns=tuple(round(each * interrupts.per_message * interrupts.served_ns) for each in round_trips)
            if interrupts and bound
            else None,
            drawn=tuple((paths.overhead_ns(rows), paths.transaction_phases) for rows in counts.values())
            if paths.transaction_phases
            else None,
        )


@dataclass(frozen=True)
class ProgramOutline:
    """A program whose steps have no times yet. `times`: those of operations `rows` in columns `columns`."""

    program: Program
    times: tuple[StepTime, ...]
    rows: IntArray
    columns: IntArray

    def at(self, paths: PathTimes) -> Program:
        """The program with its times."""
        operations = self.program.operations.copy()
        operations[self.rows, self.columns] = [time(paths) for time in self.times]
        return replace(self.program, operations=operations)


class TransactionWriter:
    """Writes what transactions of every workload have. `counts`: mean rows of each class."""

    def __init__(self, steps: ProgramSteps, counts: Mapping[str, Rows]) -> None:
        self.steps, self.row_counts = steps, counts
        self.numbers = {name: number for number, name in enumerate(counts)}
        self.asm = Assembler()
        self.rows, self.branches = self.asm.stream("rows"), self.asm.stream("branches")
        self.times: list[tuple[int, int, StepTime]] = []
        """operation, column and time"""

    def outline(self, main_class: str) -> ProgramOutline:
        """What has been written."""
        rows, columns, times = zip(*self.times, strict=True)
        return ProgramOutline(self.asm.finish(main_class), times, np.array(rows), np.array(columns))

    def await_next(self, arrivals: Spec) -> None:
        """A client's wait for its next transaction: it thinks, or one arrives."""
        if isinstance(arrivals, ClosedClientsSpec):
            think = self.asm.distribution("exponential", from_s(arrivals.think_time_s))
            self.asm.emit("think", think, self.asm.stream("think"))
        else:
            self.asm.emit("arrive")

    def emit(self, operation: str, *operands: int | StepTime) -> None:
        """An operation some of whose operands are times of the paths."""
        for column, operand in enumerate(operands, 1):
            if not isinstance(operand, int):
                self.times.append((len(self.asm.operations), column, operand))
        self.asm.emit(operation, *(operand if isinstance(operand, int) else 0 for operand in operands))

    def request(self, name: str, round_trips: int, driver_us: float) -> None:
        """What every transaction does first: messages over the network, its own CPU time and the driver's."""
        asm, rows = self.asm, self.row_counts[name]
        if self.steps.network:
            self.emit("network", lambda paths: round_trips * paths.network_ns)
        self.emit(
            "cpu",
            lambda paths: 0 if paths.transaction_phases else paths.overhead_ns(rows),
            lambda paths: round_trips * paths.message_ns,
            lambda paths: paths.client_ns(rows, driver_us),
        )
        if self.steps.drawn:
            asm.emit("work", asm.distribution("erlang", *self.steps.drawn[self.numbers[name]]), self.rows)
        if self.steps.interrupts_ns is not None:
            served = asm.distribution("constant", self.steps.interrupts_ns[self.numbers[name]])
            asm.emit("visit", asm.station(INTERRUPTS), served, self.rows)

    def touch(self, reference: int, write: int, rows: int = 1) -> None:
        """Refer to a page for one row, or for so many of a range."""
        time = (lambda paths: paths.row_ns) if rows == 1 else (lambda paths: rows * paths.scanned_row_ns)
        self.emit("touch", reference, write, time)

    def put_aside(self, reference: int, write: int) -> None:
        """Change a row's page if the pool has it; if not, the change waits, which takes as much CPU time."""
        self.emit("put_aside", reference, write, lambda paths: paths.row_ns)

    def touch_or(self, reference: int, chance: float, first: int, second: int, rows: int = 1) -> None:
        """The same: with a `chance` the row is treated as `first` says, and else as `second` says."""
        if not chance:
            self.touch(reference, second, rows)
            return
        otherwise, done = self.jump_unless(chance), self.asm.label()
        self.touch(reference, first, rows)
        self.asm.emit("jump", done)
        self.asm.place(otherwise)
        self.touch(reference, second, rows)
        self.asm.place(done)

    def section(self, name: str) -> None:
        """The transaction's share of the critical section."""
        if self.steps.sections[self.numbers[name]]:
            rows = self.row_counts[name]
            self.emit("section", self.asm.section("critical section"), lambda paths: paths.section_ns(rows))

    def commit(self) -> None:
        """The last that it does."""
        self.asm.emit("commit")
        self.asm.emit("end")

    def jump_unless(self, probability: float) -> Label:
        """Skip to the label with the complement of a probability."""
        label = self.asm.label()
        self.asm.emit("maybe", cut_of(1.0 - probability), self.branches, label)
        return label
