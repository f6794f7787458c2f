"""Times of a program's operations, and the key of programs that differ in them alone.

Times are sums over operations of executions x time, and executions don't depend on times: a program that differs from
another in times only needs no reading of its own.
"""

from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np

from oltpsim.simulator.expectation.visits import ProgramReader
from oltpsim.simulator.form import (
    CODES,
    DISTRIBUTION_KINDS,
    OPERATION_WIDTH,
    OPERATIONS,
    BoolArray,
    FloatArray,
    IntArray,
    Program,
    weighted_sum,
)

TIMES = {"cpu": (1, 2, 3), "section": (2,), "touch": (3,), "put_aside": (3,), "network": (1,)}
"""operations that hold times in ns, and the columns of them"""
IS_TIME = np.array([[column in TIMES.get(name, ()) for column in range(OPERATION_WIDTH)] for name in CODES])
"""mask of the operands that are times, (codes, columns)"""
MOST_KEPT = 64
"""programs whose executions at the start are kept"""


@dataclass(frozen=True)
class SpentTimes:
    """Times that each row of executions adds up to, ns: (rows,), (rows, sections) and (rows, stations)."""

    user_ns: FloatArray
    variance_ns2: FloatArray
    """of the user time, as far as the program draws it"""
    system_ns: FloatArray
    client_ns: FloatArray
    network_ns: FloatArray
    inside_ns: FloatArray
    """in each critical section"""
    entries: FloatArray
    """entries into each critical section"""
    served_ns: FloatArray
    """at each station"""
    visits: FloatArray
    """visits of each station"""

    @property
    def processor_ns(self) -> FloatArray:
        """All that processors spend."""
        return self.user_ns + self.system_ns + self.client_ns + self.inside_ns.sum(axis=1)


def spent_times(program: Program, executed: FloatArray) -> SpentTimes:
    """What so many executions of each operation take, (rows, operations)."""
    code, a, b, c = program.operations[:, :4].T
    is_cpu, is_section = code == CODES["cpu"], code == CODES["section"]
    is_reference = (code == CODES["touch"]) | (code == CODES["put_aside"])
    drawn_ns, drawn_ns2 = _drawn(program, "work", a)
    service_ns, _ = _drawn(program, "visit", b)

    def by_number(code: BoolArray, numbers: int, amounts: FloatArray | IntArray) -> FloatArray:
        """Sums of what operations of a code add up to, by their first operand."""
        sums = [weighted_sum(executed, code * amounts * (a == number)) for number in range(numbers)]
        return np.array(sums).reshape(numbers, len(executed)).T

    sections, stations = len(program.sections), len(program.stations)
    is_visit, once = code == CODES["visit"], np.ones(len(code))
    return SpentTimes(
        user_ns=weighted_sum(executed, is_cpu * a + is_reference * c + drawn_ns),
        variance_ns2=weighted_sum(executed, drawn_ns2),
        system_ns=weighted_sum(executed, is_cpu * b),
        client_ns=weighted_sum(executed, is_cpu * c),
        network_ns=weighted_sum(executed, (code == CODES["network"]) * a),
        inside_ns=by_number(is_section, sections, b),
        entries=by_number(is_section, sections, once),
        served_ns=by_number(is_visit, stations, service_ns),
        visits=by_number(is_visit, stations, once),
    )


class ProgramKey:
    """A program and what its clients begin with, as a key: equal to another that differs in times at most.

    However many clients there are, as many of them, in proportion, begin with each value of each register.
    """

    def __init__(self, program: Program, client_registers: IntArray) -> None:
        self.program, self.client_registers = program, client_registers
        operations = program.operations
        self._key = np.where(IS_TIME[operations[:, 0]], 0, operations).tobytes(), _shares(client_registers)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgramKey) and self._key == other._key and _same_program(self.program, other.program)


def processor_ns_at_start(program: Program, client_registers: IntArray) -> float:
    """Mean CPU time of a transaction of the mix, where what follows from counters alone is as at the start."""
    mix, executed = _executed_at_start(ProgramKey(program, client_registers))
    return float(weighted_sum(spent_times(program, executed).processor_ns, mix))


@lru_cache(maxsize=MOST_KEPT)
def _executed_at_start(key: ProgramKey) -> tuple[FloatArray, FloatArray]:
    """Shares of the classes, and executions of each operation in a transaction of each."""
    reader = ProgramReader(key.program, key.client_registers, at_start=True)
    return reader.mix, np.array([work.executed for work in reader.works])


def _shares(client_registers: IntArray) -> tuple[object, ...]:
    """Of each register its values and how many clients begin with them, divided by what the numbers have in common."""
    used = np.flatnonzero(client_registers.any(axis=0))
    found: list[object] = [client_registers.shape[1]]
    for register in used.tolist():
        values, counts = np.unique(client_registers[:, register], return_counts=True)
        found += [register, values.tobytes(), (counts // np.gcd.reduce(counts)).tobytes()]
    return tuple(found)


def _same_program(one: Program, other: Program) -> bool:
    """Whether programs whose operations are the same but for times are the same; many share arrays of one outline."""
    for field in fields(Program):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if a is b or field.name == "operations":
            continue
        if field.name == "distributions":
            same = a.shape == b.shape and bool((_cpu_demands(one) | (a == b).all(axis=1)).all())
        else:
            same = np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        if not same:
            return False
    return True


def _cpu_demands(program: Program) -> BoolArray:
    """Mask of the distributions that only CPU demands are drawn from."""
    code, used = program.operations[:, 0], np.zeros((2, len(program.distributions)), dtype=np.bool_)
    for name, operands in OPERATIONS.items():
        for column, operand in enumerate(operands, 1):
            if operand == "distribution":
                used[int(name == "work"), program.operations[code == CODES[name], column]] = True
    return np.asarray(used[1] & ~used[0])


def executions(program: Program, executed: FloatArray, name: str) -> FloatArray:
    """Executions of all operations of a name, by row of `executed`."""
    return weighted_sum(executed, program.operations[:, 0] == CODES[name])


def _drawn(program: Program, name: str, distribution: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean, ns, and variance, ns^2, of the times that operations of a name draw, by operation; 0 for others."""
    moments = [
        ((a + b) / 2, (b - a) ** 2 / 12) if DISTRIBUTION_KINDS[kind] == "uniform" else (a, _variance(kind, a, b))
        for kind, a, b in program.distributions.tolist()
    ]
    which = np.where(program.operations[:, 0] == CODES[name], distribution, -1)
    mean, variance = np.array([*moments, (0.0, 0.0)], dtype=np.float64)[which].T
    return mean, variance


def _variance(kind: int, mean: int, phases: int) -> float:
    """Variance of a drawn time, ns^2; `mean`: in ns."""
    return {"constant": 0.0, "exponential": 1.0, "erlang": 1.0 / max(phases, 1)}[DISTRIBUTION_KINDS[kind]] * mean**2
