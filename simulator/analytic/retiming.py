"""The same transactions with other CPU times or on more devices: a workload changed without reading its program again.

Times are sums over operations of executions x time, and executions don't depend on times.
"""

from dataclasses import fields, replace

import numpy as np
import numpy.typing as npt

from simulator.analytic.workload import Workload, drawn_ns
from simulator.form import CODES, NS_PER_S, OPERATION_WIDTH, OPERATIONS, Program, System

TIMES = {"cpu": (1, 2, 3), "section": (2,), "touch": (3,)}
"""operations that hold times in ns, and the columns of them"""
IS_TIME = np.array([[column in TIMES.get(name, ()) for column in range(OPERATION_WIDTH)] for name in CODES])
"""mask of the operands that are times, (codes, columns)"""
MOST_KEPT = 256
"""programs whose times a workload remembers"""


def same_but_times(one: System, other: System) -> bool:
    """Whether two models' transactions and data devices differ in CPU times at most, and clients in their number.

    However many there are, as many of them must begin with each value of a register: as many to a warehouse.
    """
    return one.storage.data_devices == other.storage.data_devices and same_transactions(one, other)


def same_transactions(one: System, other: System) -> bool:
    """As `same_but_times`, on any numbers of data devices: see `striped`."""
    return (
        one.arrivals_per_s == other.arrivals_per_s
        and one.terminals == other.terminals
        and len(one.sections) == len(other.sections)
        and one.stations == other.stations
        and one.writing.files == other.writing.files
        and _same_shares(one.client_registers, other.client_registers)
        and _same_program(one.program, other.program)
    )


def striped(workload: Workload, devices: int) -> Workload:
    """`workload` on another number of data devices, over which its pages are striped."""
    return replace(workload, groups=workload.groups.striped(devices))


def retimed(workload: Workload, system: System) -> Workload:
    """`workload` with the times of `system`, which must be the same but for times."""
    known, program = workload.timed, system.program
    if not len(program.operations):
        return workload
    found = known.get(id(program))
    if found is None:
        if len(known) >= MOST_KEPT:
            known.clear()
        found = known[id(program)] = program, _with_times(workload, program)
    return found[1]


def _with_times(w: Workload, program: Program) -> Workload:
    code, a, b, c = program.operations[:, :4].T
    is_cpu = code == CODES["cpu"]
    system_ns, client = is_cpu * b, is_cpu * c
    user = is_cpu * a + (code == CODES["touch"]) * c + drawn_ns(program)[0]
    classes = len(w.classes)
    done, before = w.executed[:classes] / NS_PER_S, w.executed[classes:] / NS_PER_S
    section = code == CODES["section"]
    inside = [done @ (section * b * (a == number)) for number in range(len(program.sections))]
    asked_s = (before @ (user + system_ns + client)).tolist()
    return replace(
        w,
        user_s=done @ user,
        drawn_s2=w.executed[:classes] @ drawn_ns(program)[1] / NS_PER_S**2,
        system_s=done @ system_ns,
        client_s=done @ client,
        inside_s=np.array(inside).reshape(len(program.sections), classes).T,
        locks=tuple(replace(lock, cpu_s=time_s) for lock, time_s in zip(w.locks, asked_s, strict=True)),
    )


def _same_shares(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> bool:
    if one is other:
        return True
    if one.shape[1] != other.shape[1]:
        return False
    used = one.any(axis=0) | other.any(axis=0)
    for mine, theirs in zip(one.T[used], other.T[used], strict=True):
        (values, counts), (others, other_counts) = (np.unique(each, return_counts=True) for each in (mine, theirs))
        if not (np.array_equal(values, others) and np.array_equal(counts * len(theirs), other_counts * len(mine))):
            return False
    return True


def _cpu_demand_distributions(program: Program) -> npt.NDArray[np.bool_]:
    """Mask of the distributions that only CPU demands are drawn from."""
    code, used = program.operations[:, 0], np.zeros((2, len(program.distributions)), dtype=np.bool_)
    for name, operands in OPERATIONS.items():
        for column, operand in enumerate(operands, 1):
            if operand == "distribution":
                used[int(name == "work"), program.operations[code == CODES[name], column]] = True
    return np.asarray(used[1] & ~used[0])


def _same_program(one: Program, other: Program) -> bool:
    """Whether programs differ in times at most; those of one outline share their arrays."""
    for field in fields(Program):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if a is b:
            continue
        if field.name == "operations":
            same = len(a) == len(b) and bool((IS_TIME[a[:, 0]] | (a == b)).all())
        elif field.name == "distributions":
            same = a.shape == b.shape and bool((_cpu_demand_distributions(one) | (a == b).all(axis=1)).all())
        else:
            same = np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        if not same:
            return False
    return True
