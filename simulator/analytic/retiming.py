"""The same transactions with other times or on more devices: a workload changed without reading its program again."""

from collections.abc import Hashable
from dataclasses import replace

from oltpsim.simulator.analytic.workload import Workload, by_class_s
from oltpsim.simulator.expectation import ProgramKey, spent_times
from oltpsim.simulator.form import NS_PER_S, Program, System

MOST_KEPT = 256
"""programs whose times a workload remembers"""


def transactions_key(system: System) -> Hashable:
    """A key that is equal for systems whose transactions differ in times at most, and clients in their number.

    However many there are, as many of them must begin with each value of a register: as many to a warehouse. Such
    systems' transactions are read once; data devices are put in by `striped`.
    """
    key = ProgramKey(system.program, system.client_registers)
    stations = len(system.sections), system.stations
    return key, system.arrivals_per_s, system.terminals, *stations, system.writing.files


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
    classes = len(w.classes)
    before = spent_times(program, w.executed[classes:])
    asked_s = ((before.user_ns + before.system_ns + before.client_ns) / NS_PER_S).tolist()
    return replace(
        w,
        **by_class_s(spent_times(program, w.executed[:classes])),
        locks=tuple(replace(lock, cpu_s=time_s) for lock, time_s in zip(w.locks, asked_s, strict=True)),
    )
