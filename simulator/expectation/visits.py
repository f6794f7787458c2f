"""What a transaction is expected to do: a program executed once with probabilities in place of draws.

Every operation is visited with a weight, its expected number of executions in one transaction of its class. Branches
split the weight, joins add it up, loops go round with what is left of it. Registers hold distributions (values.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation.values import (
    LEAST_WEIGHT,
    Frontier,
    Numbers,
    Part,
    Value,
    affine,
    chances_of,
    constant,
    effective,
    evenly,
    joined,
    mapped,
    only,
    shares_of,
    total,
    without_own,
)
from oltpsim.simulator.form import (
    CODES,
    CUT_ONE,
    DISTRIBUTION_KINDS,
    REFERENCE_KINDS,
    WITH_INDEX_PAGE,
    FloatArray,
    IntArray,
    Program,
    alias_pmf,
    weighted_sum,
)

CODE_NAMES = tuple(CODES)
ROWS = (REFERENCE_KINDS.index("row"), REFERENCE_KINDS.index("append"))
NOTHING_KNOWN = ("cpu", "work", "network", "visit", "section")
"""operations that change nothing that is known"""
WITHOUT_PAGES = ("visit_one", "gate", "put", "note", "sleep_until", "flush")
"""operations that change no register, and what a later jump finds only after the start"""
NOWHERE = constant(0)
"""Stands for the row of references that choose their page themselves."""


@dataclass(frozen=True)
class Touches:
    """References of one class by one operation. `repeats`: those to the page that it has just referred to."""

    transaction_class: int
    reference: int
    write: bool
    index_write: bool
    group: Value
    row: Value
    visits: float
    repeats: float
    put_aside: bool = False
    """only if the pool has the page; if not, the change waits"""


@dataclass
class ExpectedWork:
    """Expected work of one transaction of a class; `touches` by (operation, group, row). Times: times.py."""

    executed: FloatArray
    """expected executions of each operation of the program"""
    log_bytes: float = 0.0
    commits: float = 0.0
    """commits that have something to log"""
    locks: list[tuple[int, float, Value, ExpectedWork]] = field(default_factory=list)
    """(kind of lock, acquisitions, row, work done before it was asked for)"""
    touches: dict[tuple[int, int, int], Touches] = field(default_factory=dict)

    def so_far(self) -> ExpectedWork:
        """A copy that further work doesn't change; locks are not part of it."""
        return ExpectedWork(self.executed.copy(), self.log_bytes, self.commits, [], dict(self.touches))


@dataclass
class _PathState:
    """What is known where paths have met: weight, registers, and which draws have been referred to."""

    weight: float
    registers: list[Value]
    touched: dict[tuple[int, int, int], float]
    log_bytes: float

    def going(self, share: float, *, alone: bool) -> _PathState:
        """A share of the weight on its way; a copy, unless it goes one way alone."""
        if alone and share == 1.0:
            return self
        return _PathState(self.weight * share, list(self.registers), dict(self.touched), self.log_bytes)


def _meet(a: _PathState | None, b: _PathState) -> _PathState:
    if a is None:
        return b
    weight = a.weight + b.weight
    if weight <= 0:
        return a
    registers = [
        x if x is y else joined([(a.weight, x), (b.weight, y)]) for x, y in zip(a.registers, b.registers, strict=True)
    ]
    keys = a.touched.keys() | b.touched.keys()
    touched = {key: (a.touched.get(key, 0.0) * a.weight + b.touched.get(key, 0.0) * b.weight) / weight for key in keys}
    return _PathState(weight, registers, touched, (a.log_bytes * a.weight + b.log_bytes * b.weight) / weight)


class ProgramReader:
    """Reads one program. Raises InputError for what can't be known beforehand (a loop without a bound)."""

    MOST_STEPS = 200_000

    def __init__(
        self, program: Program, client_registers: IntArray, mix: int | None = None, *, at_start: bool = False
    ) -> None:
        """`mix`: the alias table of classes, if the program does not draw them itself.

        `at_start`: what follows from counters alone, a jump or how often a loop goes round, is as at the start.
        """
        self.program, self.at_start = program, at_start
        self.start = [only(_distribution(client_registers[:, r])) for r in range(client_registers.shape[1])]
        self.claims = np.ones(len(program.counter_tables))
        """probability that a claim finds its counter below the limit"""
        self._references = program.references.tolist()
        self._rows_per_page = [row.rows_per_page for row in map(program.region, range(len(program.regions)))]
        self._memory: dict[tuple[object, ...], Part] = {}
        self._rows_before: dict[int, tuple[Part, int]] = {}
        """by the identity of a part: the part so many rows before it"""
        first = program.operations[: program.entries.min() if len(program.entries) else 0]
        self.mix = np.ones(1) if mix is None else self.pmf(mix)
        self.think_ns = 0.0
        for code, a, *_ in first.tolist():
            if CODE_NAMES[code] == "choose":
                self.mix = self.pmf(a)
            elif CODE_NAMES[code] == "think":
                self.think_ns = self._mean_ns(a)
        self.works = self._classes()
        if self._balance_claims():
            self.works = self._classes()

    @cached_property
    def moves_per_transaction(self) -> FloatArray:
        """How far each counter moves in a transaction, over the whole mix."""
        moved = np.zeros(len(self.program.counter_tables))
        for share, steps in zip(self.mix, self._moves, strict=True):
            moved += share * steps
        return moved

    def _classes(self) -> list[ExpectedWork]:
        self._moves = [np.zeros(len(self.program.counter_tables)) for _ in self.program.classes]
        self._claimed: dict[int, tuple[int, float]] = {}
        self.__dict__.pop("moves_per_transaction", None)
        return [self._read(number) for number in range(len(self.program.classes))]

    def _balance_claims(self) -> bool:
        """In the long run no more can be claimed than others have made; True if that binds.

        A limit that nothing moves is as far away as at the start.
        """
        bound, moved = False, self._moved_counters()
        for counter, (limit, tried) in self._claimed.items():
            made = self.moves_per_transaction[limit]
            if limit not in moved:
                left = self.initial(limit).mean() - self.initial(counter).mean()
                self.claims[counter], bound = float(left > 0), bound or left <= 0
            elif tried > made * (1 + 1e-9):
                self.claims[counter], bound = made / tried, True
        return bound

    def _moved_counters(self) -> set[int]:
        """Counters that some operation changes."""
        operations = self.program.operations
        place = {"take": 2, "claim": 2, "put": 1, "note": 1, "gate": 2}
        codes = [CODE_NAMES[code] for code in operations[:, 0].tolist()]
        return {int(row[place[name]]) for name, row in zip(codes, operations, strict=True) if name in place}

    def pmf(self, table: int) -> FloatArray:
        """What an alias table draws, exactly."""
        start, length = self.program.tables[table]
        return alias_pmf(self.program.alias[start : start + length])

    def _mean_ns(self, distribution: int) -> float:
        kind, a, b = self.program.distributions[distribution].tolist()
        return (a + b) / 2 if DISTRIBUTION_KINDS[kind] == "uniform" else float(a)

    def _remembered(self, key: tuple[object, ...], make: Callable[[], Part]) -> Part:
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    def _read(self, number: int) -> ExpectedWork:
        """One class: from its entry until all weight has arrived at `end`."""
        work = ExpectedWork(np.zeros(len(self.program.operations)))
        pending = {int(self.program.entries[number]): _PathState(1.0, list(self.start), {}, 0.0)}
        operations = self.program.operations.tolist()
        for _ in range(self.MOST_STEPS):
            if not pending:
                return work
            pc = min(pending)
            here = pending.pop(pc)
            code, *operands = operations[pc]
            name = CODE_NAMES[code]
            work.executed[pc] += here.weight
            ways = self._execute(name, operands, pc, here, work, number)
            for target, share in ways:
                if share > LEAST_WEIGHT and target >= 0:
                    pending[target] = _meet(pending.get(target), here.going(share, alone=len(ways) == 1))
        raise InputError(
            f"class {self.program.classes[number]}: more than {self.MOST_STEPS:,} steps; "
            "the analytic engine and a warm start need loops with bounds"
        )

    def _execute(  # noqa: C901 - one branch for each kind of operation
        self, name: str, operands: list[int], pc: int, here: _PathState, work: ExpectedWork, number: int
    ) -> list[tuple[int, float]]:
        """Do one operation; returns where the weight goes, as (operation, share)."""
        a, b, c, d, e = operands
        weight, registers = here.weight, here.registers
        if name in ("touch", "put_aside"):
            self._touch(name, operands, pc, here, work, number)
        elif name == "lock":
            work.locks.append((a, weight, registers[b], work.so_far()))
        elif name == "log":
            here.log_bytes += a
        elif name == "commit":
            work.log_bytes += weight * here.log_bytes
            work.commits += weight if here.log_bytes > 0 else 0.0
            here.log_bytes = 0.0
        elif name == "rollback":
            here.log_bytes = 0.0
        elif name == "maybe":
            return [(c, a / CUT_ONE), (pc + 1, 1.0 - a / CUT_ONE)]
        elif name == "jump":
            return [(a, 1.0)]
        elif self.at_start and name in ("if_equal", "if_between"):
            share = self._equal(a, registers[b], registers[c]) if name == "if_equal" else self._open(a, b, registers[c])
            return [(d, share), (pc + 1, 1.0 - share)]
        elif name == "end":
            return []
        elif name == "loop":
            return self._loop(a, b, pc, here)
        elif name == "claim":
            self._moves[number][b] += weight * self.claims[b]
            limit, tried = self._claimed.get(b, (d, 0.0))
            self._claimed[b] = limit, tried + self.mix[number] * weight
            registers[a] = only(self._remembered(("counter", b), lambda: Frontier(b, 1, constant(0))))
            return [(pc + 1, float(self.claims[b])), (e, 1.0 - float(self.claims[b]))]
        elif name not in NOTHING_KNOWN and not (self.at_start and name in WITHOUT_PAGES):
            self._compute(name, operands, here, number)
        return [(pc + 1, 1.0)]

    def initial(self, counter: int) -> IntArray:
        """A counter table's values at the start, by group."""
        start, length = self.program.counter_tables[counter].tolist()
        return self.program.counters[start : start + length]

    def _equal(self, counter: int, group: Value, register: Value) -> float:
        """Chance that a counter holds at the start what is in a register."""
        values = self.initial(counter)
        return float(weighted_sum(shares_of(group, len(values)), chances_of(register, values)))

    def _open(self, since: int, until: int, group: Value) -> float:
        """Chance that the start lies between two counters."""
        is_open = (self.initial(since) <= 0) & (self.initial(until) > 0)
        return float(weighted_sum(shares_of(group, len(is_open)), is_open))

    def _compute(self, name: str, operands: list[int], here: _PathState, number: int) -> None:
        """The operations that only change registers and counters."""
        a, b, c, d, e = operands
        registers = here.registers
        if name == "uniform":
            registers[a] = only(self._drawn(("uniform", b, c), lambda: evenly(b, c)))
        elif name == "sample":
            registers[a] = only(self._drawn(("sample", b, c), lambda: Numbers(c, self.pmf(b))))
        elif name == "other":
            own = registers[c][0][1]
            registers[a] = only(
                self._drawn(
                    ("other", b, id(own)), lambda: without_own(own, b) if isinstance(own, Numbers) else evenly(b, 0)
                )
            )
        elif name == "set":
            registers[a] = only(self._remembered(("set", b), lambda: constant(b)))
        elif name == "combine":
            pairs = [(u * v, x, y) for u, x in registers[b] for v, y in registers[d]]
            registers[a] = tuple(
                (w, self._remembered(("combine", id(x), c, id(y)), lambda x=x, y=y: total(x, c, y)))  # type: ignore[misc]
                for w, x, y in pairs
                if w > LEAST_WEIGHT
            )
        elif name == "affine":
            registers[a] = mapped(registers[b], lambda part: self._affine(part, c, d, e))
        elif name in ("take", "peek"):
            back = d if name == "peek" else 0
            if name == "take":
                self._moves[number][b] += here.weight * d
            registers[a] = only(self._remembered(("counter", b, back), lambda: Frontier(b, 1, constant(-back))))
        else:
            raise InputError(f"operation {name}: nobody can say beforehand what it does; start cold, and simulate")

    def _affine(self, part: Part, factor: int, add: int, modulus: int) -> Part:
        """An affine function of a part; if it is so many rows behind a drawn one, that is remembered too."""
        found = self._remembered(
            ("affine", id(part), factor, add, modulus), lambda: self._spread(part, factor, add, modulus)
        )
        if factor == 1 and add > 0 and isinstance(part, Numbers):  # frontiers: simulator/analytic/reading/pages.py
            self._rows_before[id(found)] = part, add
        return found

    def _spread(self, part: Part, factor: int, add: int, modulus: int) -> Part:
        """The function of a part, one of its own; draws alike share its numbers."""
        if isinstance(part, Frontier):
            return affine(part, factor, add, modulus)
        key = ("spread", id(part.share), part.low, part.apart, factor, add, modulus)
        numbers = self._remembered(key, lambda: affine(part, factor, add, modulus))
        assert isinstance(numbers, Numbers)
        return Numbers(numbers.low, numbers.share, numbers.apart)

    def _drawn(self, key: tuple[object, ...], make: Callable[[], Part]) -> Part:
        """A fresh draw each time: a part of its own that shares the numbers with others of its kind."""
        numbers = self._remembered(key, make)
        assert isinstance(numbers, Numbers)
        part = Numbers(numbers.low, numbers.share)
        self._memory[("draw", len(self._memory))] = part  # keeps it alive, so that its identity stays its own
        return part

    def _loop(self, register: int, target: int, pc: int, here: _PathState) -> list[tuple[int, float]]:
        left: dict[int, float] = {}
        for weight, value in here.registers[register]:
            part = value
            if isinstance(part, Frontier) and self.at_start:
                part = constant(round(float(self.initial(part.counter).mean()) * part.factor + part.offset.mean))
            if isinstance(part, Frontier):
                raise InputError("a loop counts a register that follows a counter: the analytic engine can't bound it")
            for place in np.flatnonzero(part.share).tolist():
                count = part.low + place - 1
                left[count] = left.get(count, 0.0) + weight * float(part.share[place])
        again = {count: weight for count, weight in left.items() if count > 0}
        share = sum(again.values())
        if again:
            low, high = min(again), max(again)
            numbers = np.array([again.get(count, 0.0) for count in range(low, high + 1)])
            here.registers[register] = only(Numbers(low, numbers / numbers.sum()))
        return [(target, share), (pc + 1, 1.0 - share)]

    def _touch(
        self, name: str, operands: list[int], pc: int, here: _PathState, work: ExpectedWork, number: int
    ) -> None:
        """A reference. What is put aside is none to a page that others find in the pool by it."""
        reference, write, *_ = operands
        put_aside = name == "put_aside"
        kind, region, group_register, row_register, *_ = self._references[reference]
        group, row = here.registers[group_register], here.registers[row_register]
        rows_per_page = self._rows_per_page[region]
        for share, part in row if kind in ROWS else only(NOWHERE):
            repeated = 0.0
            for weight, page_group in group if kind in ROWS else ():
                key = region, id(page_group), id(part)
                touched = here.touched.get(key, 0.0)
                before, rows = self._rows_before.get(id(part), (part, 0))
                if 0 < rows < rows_per_page:  # rows further on, which may lie on the same page
                    same_page = 1.0 - rows / rows_per_page
                    touched = max(touched, here.touched.get((region, id(page_group), id(before)), 0.0) * same_page)
                repeated += min(share * weight, touched)
                if not put_aside:
                    here.touched[key] = share * weight
            place = pc, id(group), id(part)
            earlier = work.touches.get(place)
            visits, repeats = here.weight * share, here.weight * repeated
            if earlier is not None:
                visits, repeats = visits + earlier.visits, repeats + earlier.repeats
            value = only(part) if kind in ROWS else row
            written = write != 0, write == WITH_INDEX_PAGE
            work.touches[place] = Touches(number, reference, *written, group, value, visits, repeats, put_aside)


def _distribution(values: IntArray) -> Numbers:
    low = int(values.min())
    share = np.bincount(values - low) / len(values)
    return Numbers(low, share, effective(share))
