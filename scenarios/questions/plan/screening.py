"""Every candidate's verdict: what it costs, what it does at the load that is asked for, and why it falls out, if so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from oltpsim.models.reading import room_faults
from oltpsim.scenarios.questions.plan.bill import Till
from oltpsim.scenarios.questions.plan.candidates import Stock
from oltpsim.scenarios.questions.plan.loads import Assembly, Machines, answers, capacities
from oltpsim.scenarios.questions.plan.question import PlanQuestion
from oltpsim.simulator.form import FloatArray, IntArray


class Verdict(IntEnum):
    """Whether a candidate does what is asked, or the first thing that it fails by. Arrays hold the numbers."""

    MEETS = 0
    NO_PRICE = 1
    BUDGET = 2
    ROOM = 3
    MEMORY = 4
    PROCESSORS = 5
    OVERLOAD = 6
    LATENCY = 7


VERDICTS = (
    "does what is asked",
    "no price",
    "over the budget",
    "no room for the data",
    "too little memory",
    "processors too slow",
    "overloaded",
    "answers too slow",
)
"""by verdict"""
AT_ONCE = 4096
"""machines between two words of progress"""
SMALLEST_POOL = 1000
"""buffers; a pool with less is none"""
Tell = Callable[[float, str], None]


@dataclass(frozen=True)
class MachineVerdicts:
    """Machines of a stock under the load, an entry for each; without a target `reach_per_min` is what they do.

    `need`: how busy the busiest part, number `busiest`, would have to be. `time_s`: how long answers take of the
    objective number `objective`, the worst. `reach_per_min`: about the most the machine could do, by its busiest part.
    """

    verdict: IntArray
    need: FloatArray
    busiest: IntArray
    time_s: FloatArray
    objective: IntArray
    reach_per_min: FloatArray
    why: dict[int, str]
    """sentences of those that have no room or too little memory"""

    @classmethod
    def blank(cls, count: int) -> MachineVerdicts:
        """Nothing is known of any of them."""
        whole, unknown = np.zeros(count, dtype=np.int64), np.full(count, np.nan)
        return cls(whole, unknown, whole.copy(), unknown.copy(), whole.copy(), unknown.copy(), {})


@dataclass(frozen=True)
class ScreenedStock:
    """All candidates of a stock; arrays have an entry for each. Cost is nan where there is no price."""

    assembly: Assembly
    cost: FloatArray
    kind: IntArray
    """which machine of `judged` a candidate is; -1 if it fell out before"""
    judged: MachineVerdicts
    verdict: IntArray
    without_price: dict[int, str] = field(default_factory=dict)
    solved: int = 0
    """machines that the engine has solved"""

    @property
    def stock(self) -> Stock:
        """The candidates."""
        return self.assembly.stock

    @property
    def meets(self) -> IntArray:
        """Numbers of the candidates that do what is asked, the best first: see `worth`."""
        found = np.flatnonzero(self.verdict == Verdict.MEETS)
        by = ranking_key(self.stock.question, self.cost, self.reach_per_min)
        return found[np.lexsort((found, self.cost[found], by[found]))]

    @property
    def reach_per_min(self) -> FloatArray:
        """About the most that each candidate could do."""
        values = self.judged.reach_per_min
        return np.where(self.kind >= 0, values[self.kind], np.nan) if len(values) else np.full(len(self.kind), np.nan)


def ranking_key(question: PlanQuestion, cost: FloatArray, per_min: FloatArray) -> FloatArray:
    """Key by which machines are ranked, the least first.

    Of a target the cost, else the cost for a rate, or if there is a budget the rate, the highest first.
    """
    if question.target_per_min is not None:
        return cost
    return -per_min if question.budget is not None else cost / np.maximum(per_min, 1e-9)


def screened(assembly: Assembly, till: Till, tell: Tell = lambda *_: None) -> ScreenedStock:
    """Every candidate's verdict. `tell`: called with the share that is done."""
    stock = assembly.stock
    count = len(stock.candidates)
    costs = [till.cost(each.items) for each in stock.candidates]
    cost = np.array([np.nan if each is None else each for each in costs])
    verdict = np.where(np.isnan(cost), Verdict.NO_PRICE, Verdict.MEETS)
    missing = {
        number: ", ".join(till.without_price(stock.candidates[number].items))
        for number in np.flatnonzero(verdict == Verdict.NO_PRICE).tolist()
    }
    if stock.question.budget is not None:
        verdict = np.where((verdict == Verdict.MEETS) & (cost > stock.question.budget), Verdict.BUDGET, verdict)
    which = np.array([each.parts for each in stock.candidates], dtype=np.int64)
    left = np.flatnonzero(verdict == Verdict.MEETS)
    kinds, same = np.unique(which.reshape(count, 3)[left], axis=0, return_inverse=True)
    judged, solved = judge(assembly, kinds, tell)
    kind = np.full(count, -1)
    kind[left] = same.ravel()
    verdict[left] = judged.verdict[kind[left]]
    return ScreenedStock(assembly, cost, kind, judged, verdict, missing, solved)


def judge(assembly: Assembly, kinds: IntArray, tell: Tell) -> tuple[MachineVerdicts, int]:
    """Machines of these parts, and how many of them the engine has solved."""
    stock, found = assembly.stock, MachineVerdicts.blank(len(kinds))
    faults: dict[tuple[int, int], tuple[Verdict, str]] = {}
    """of machines with this memory and storage: no room for pool or data"""
    for row, (processors, memory, storage) in enumerate(kinds.tolist()):
        if (memory, storage) not in faults:
            faults[memory, storage] = _fault(stock, processors, memory, storage)
        verdict, reason = faults[memory, storage]
        if verdict != Verdict.MEETS:
            found.verdict[row], found.why[row] = verdict, reason
    left = np.flatnonzero(found.verdict == Verdict.MEETS)
    done = 0
    for chosen, machines in assembly.machines(kinds[left]):
        at, alive = left[chosen], np.arange(len(chosen))
        if stock.question.target_per_min is not None:
            busy = machines.per_s * machines.path_s / machines.parameters.cpu.processors
            slow = busy >= 1.0  # even if nothing is ever missed, written or waited for
            found.verdict[at[slow]], found.need[at[slow]] = Verdict.PROCESSORS, busy[slow]
            alive = np.flatnonzero(~slow)
        for begin in range(0, len(alive), AT_ONCE):
            rows = alive[begin : begin + AT_ONCE]
            _measure(stock.question, machines.subset(rows), at[rows], found)
            done += len(rows)
            tell(done / len(left), f"{done:,} of {len(left):,} machines")
    return found, done


def _measure(question: PlanQuestion, machines: Machines, at: IntArray, found: MachineVerdicts) -> None:
    """Write figures and verdicts of machines under the load to the rows `at`."""
    if question.target_per_min is None:
        found.reach_per_min[at] = rates = capacities(machines, question.objectives)
        found.verdict[at[rates <= 0.0]] = Verdict.LATENCY
        return
    answer = answers(machines, question.objectives)
    found.busiest[at] = answer.needs.argmax(axis=1)
    found.need[at] = answer.needs.max(axis=1)
    found.reach_per_min[at] = question.target_per_min / np.maximum(found.need[at], 1e-6)
    limits = np.array([each.limit_s for each in question.objectives])
    if len(limits):
        worst = np.nan_to_num(answer.times_s / limits).argmax(axis=1)
        found.objective[at] = worst
        found.time_s[at] = np.take_along_axis(answer.times_s, worst[:, None], axis=1)[:, 0]
        found.verdict[at[found.time_s[at] > limits[worst]]] = Verdict.LATENCY
    found.verdict[at[~answer.fits]] = Verdict.OVERLOAD


def _fault(stock: Stock, processors: int, memory: int, storage: int) -> tuple[Verdict, str]:
    if stock.storage[storage].fault:
        return Verdict.ROOM, stock.storage[storage].fault
    gib, buffers = stock.memory[memory].gib, stock.memory[memory].buffers
    if buffers < SMALLEST_POOL:
        return (
            Verdict.MEMORY,
            f"of {gib:g} GiB system, server and clients leave {buffers} buffers; at least {SMALLEST_POOL:,}",
        )
    fault = next(room_faults(stock.put_together((processors, memory, storage), "machine")), None)
    return (Verdict.MEETS, "") if fault is None else (Verdict.ROOM, fault.partition(": ")[2])
