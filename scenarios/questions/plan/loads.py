"""Many machines under one load by the analytic engine: what each serves, how long answers take, and the most it holds.

Machines are put together from parts: a model is built for each kind of processor, of memory and of storage, not for
each machine; machines that differ in price only are solved once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from oltpsim.calibration.fit import AnalyticInput, AnalyticReader
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.questions.plan.candidates import Stock
from oltpsim.scenarios.questions.plan.question import ResponseObjective
from oltpsim.simulator.analytic import (
    DECIDED_FACTOR,
    Parameters,
    Solution,
    Workload,
    combined,
    loaded,
    parameters_of,
    percentile_half_widths,
    rate_half_widths,
    response_quantiles_s,
    retimed,
    rows,
    stacked,
)
from oltpsim.simulator.form import FloatArray, IntArray

STORAGE = 2
"""place of storage among a machine's parts; processors and memory are the same with any"""
CHUNK = 1024
"""machines solved together"""
WIDE, STEPS = 9.0, 15
"""how far below what the processors could do at most the search for what a machine holds begins, as a logarithm; its
steps, each twice as fine: within 0.03 %"""
CLOSE, CLOSE_STEPS = 0.5, 11
"""how far around a rate that is near, and the steps there"""


@dataclass(frozen=True)
class Machines:
    """Machines that run one workload on data files of one number, at rates of transactions of the whole mix."""

    workload: Workload
    parameters: Parameters
    per_s: FloatArray
    policy: str
    per_min: float
    """new orders per minute for one transaction of the mix per second"""

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def path_s(self) -> FloatArray:
        """CPU time of a mean transaction that misses, writes and waits for nothing, (machines,)."""
        p = self.parameters
        path_s: FloatArray = ((p.cpu.path_s + p.cpu.section_s) @ self.workload.mix) * p.cpu.slowdowns[:, -1]
        return path_s

    def at_load(self, times: float) -> Machines:
        """The machines at a multiple of their rates."""
        return replace(self, per_s=self.per_s * times)

    def subset(self, which: IntArray) -> Machines:
        """The machines of these rows."""
        return replace(self, parameters=rows(self.parameters, which), per_s=self.per_s[which])


@dataclass(frozen=True)
class Answers:
    """Machines under their load: whether they take it, and how busy parts are.

    `times_s`: response time that each objective limits, (machines, objectives); NaN where its model error is above
    `DECIDED_FACTOR`.
    """

    fits: npt.NDArray[np.bool_]
    needs: FloatArray
    """processors, data disks, the log's own; (machines, 3)"""
    reads_per_s: FloatArray
    times_s: FloatArray

    def misses(self, objectives: Sequence[ResponseObjective]) -> npt.NDArray[np.bool_]:
        """Whether a time is known to be too long, (machines,)."""
        return np.asarray((self.times_s > np.array([each.limit_s for each in objectives])).any(axis=1))


class Assembly:
    """Puts a stock's machines together; every part and every workload is read once."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.reader = AnalyticReader()
        self._files = np.array([each.disks.files for each in stock.storage], dtype=np.int64)
        self._parts: dict[tuple[int, int, int], Parameters] = {}

    def machines(self, which: IntArray) -> Iterator[tuple[IntArray, Machines]]:
        """The machines of rows of numbers (processors, memory, storage), (machines, 3), by how many files data lies in.

        Yields which rows, and them. Every row's pool must fit into its memory.
        """
        files = self._files[which[:, 2]]
        for count in np.unique(files).tolist():
            mine = np.flatnonzero(files == count)
            yield mine, self._machines(which[mine], count)

    def candidates(self, numbers: Sequence[int]) -> Iterator[tuple[IntArray, Machines]]:
        """The machines of candidates of these numbers."""
        parts = [self.stock.candidates[number].parts for number in numbers]
        yield from self.machines(np.array(parts, dtype=np.int64).reshape(-1, 3))

    def _machines(self, which: IntArray, files: int) -> Machines:
        first = which[0].tolist()
        parts: list[Parameters] = []
        part_rows: list[IntArray] = []
        point = self.reader.read(self.stock.put_together(first, "candidates"))
        for place, column in enumerate(which.T):
            numbers, row = np.unique(column, return_inverse=True)
            parts.append(stacked([self._part(place, number, files, first, point) for number in numbers.tolist()]))
            part_rows.append(row.ravel())
        p = combined(parts[0], parts[1], parts[2], np.stack(part_rows, axis=1))
        w = point.workload
        return Machines(
            w, p, p.clients.arrivals_per_s, point.system.pool.replacement, 60.0 * float(w.mix[w.main_class])
        )

    def _part(self, place: int, number: int, files: int, first: Sequence[int], point: AnalyticInput) -> Parameters:
        key = (place, number, files if place == STORAGE else 0)
        if key not in self._parts:
            model = build(self.stock.put_together([*first[:place], number, *first[place + 1 :]], "candidates"))
            self._parts[key] = parameters_of(model, retimed(point.workload, model))
        return self._parts[key]


def answers(machines: Machines, objectives: Sequence[ResponseObjective]) -> Answers:
    """Each machine under what arrives at it."""
    w, found = machines.workload, []
    for begin in range(0, len(machines), CHUNK):
        chunk = machines.subset(np.arange(begin, min(begin + CHUNK, len(machines))))
        with np.errstate(over="ignore"):  # an overflowing power is an endless queue
            at = loaded(w, chunk.parameters, machines.policy, chunk.per_s)
        times = [_time_s(chunk, at.solution, each) for each in objectives]
        found.append(
            Answers(
                fits=at.fits,
                needs=np.stack([at.needs.cpu, at.needs.disks, at.needs.log], axis=1),
                reads_per_s=at.needs.reads_per_s,
                times_s=np.stack(times, axis=1) if times else np.zeros((len(chunk), 0)),
            )
        )
    return Answers(*(np.concatenate([getattr(each, name) for each in found]) for name in Answers.__annotations__))


def _time_s(machines: Machines, solution: Solution, objective: ResponseObjective) -> FloatArray:
    """Response time that an objective limits, (machines,); NaN where it isn't known well enough."""
    number = machines.workload.classes.index(objective.transaction)
    machine = machines.workload, machines.parameters, solution
    of = *machine, np.array([number]), np.array([objective.share])
    is_known = percentile_half_widths(*of, rate_half_widths(*machine))[:, 0, 0] <= math.log(DECIDED_FACTOR)
    return np.where(is_known, response_quantiles_s(*of)[:, 0, 0], np.nan)


def capacities(
    machines: Machines, objectives: Sequence[ResponseObjective], near: FloatArray | None = None
) -> FloatArray:
    """Most new orders per minute at which no objective is known to be missed, (machines,); 0 if one is without load.

    Of machines that are loaded by clients who wait for their answers what they do, whatever the objectives. `near`:
    rates, new orders per minute, around which alone is looked.
    """
    p = machines.parameters
    if not p.clients.arrivals_per_s.any():
        objectives = ()
    high = np.log(p.cpu.processors / machines.path_s)
    low, held, steps = high - WIDE, np.zeros(len(p)), STEPS
    if near is not None:
        around = np.log(np.maximum(near, 1e-9) / machines.per_min)
        low, high, steps = around - CLOSE, np.minimum(around + CLOSE, high), CLOSE_STEPS
        held = np.exp(low)
    for _ in range(steps):
        middle = (low + high) / 2.0
        rate = np.exp(middle)
        at = answers(replace(machines, per_s=rate), objectives)
        holds = at.fits & ~at.misses(objectives)
        held = np.where(holds, rate, held)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return held * machines.per_min


def capacities_of(
    scenarios: Sequence[ScenarioSpec],
    objectives: Sequence[ResponseObjective],
    reader: AnalyticReader,
    near: FloatArray | None = None,
) -> FloatArray:
    """Capacities, as by `capacities`, of whole scenarios, which may differ in anything. Raises InputError."""
    groups: dict[tuple[int, str], list[int]] = {}
    points = [reader.read(each) for each in scenarios]
    for number, point in enumerate(points):
        groups.setdefault((id(point.workload), point.system.pool.replacement), []).append(number)
    found = np.zeros(len(points))
    for (_, policy), numbers in groups.items():
        w = points[numbers[0]].workload
        parameters = stacked([points[number].parameters for number in numbers])
        machines = Machines(w, parameters, parameters.clients.arrivals_per_s, policy, 60.0 * float(w.mix[w.main_class]))
        found[numbers] = capacities(machines, objectives, None if near is None else near[numbers])
    return found
