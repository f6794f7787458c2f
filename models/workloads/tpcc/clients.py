"""Who runs the TPC-C-like program: clients at their warehouses, or terminals there and connections for all of them."""

import numpy as np
import numpy.typing as npt

from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.tpcc.program import CLASSES, LOCKED_HOME
from oltpsim.models.workloads.tpcc.terminals import TerminalsSpec
from oltpsim.models.workloads.tpcc.workload import TpccFields
from oltpsim.models.workloads.transactions import MIX
from oltpsim.simulator.form import Program, Terminals, from_s


def client_registers(program: Program, workload: TpccFields, sample: UnitSample, clients: int) -> npt.NDArray[np.int64]:
    """Register values at the start: each client's home warehouse, dealt evenly over the active warehouses."""
    registers = np.zeros((clients, len(program.registers)), dtype=np.int64)
    active = workload.size
    homes = np.arange(clients) % active
    registers[:, program.registers.index("home")] = homes * sample.units // sample.whole
    if LOCKED_HOME in program.registers:
        registers[:, program.registers.index(LOCKED_HOME)] = homes
    return registers


def terminals_of(program: Program, workload: TpccFields, sample: UnitSample) -> Terminals | None:
    """The workload's terminals, dealt evenly over the active warehouses; None without."""
    arrivals, active = workload.arrivals, workload.size
    if not isinstance(arrivals, TerminalsSpec):
        return None
    registers = [(program.registers.index("home"), sample.units, sample.whole)]
    if LOCKED_HOME in program.registers:
        registers.append((program.registers.index(LOCKED_HOME), 1, 1))
    keys = [name.replace(" ", "_") for name in CLASSES]
    return Terminals(
        count=arrivals.terminals_per_warehouse * active,
        homes=active,
        registers=tuple(registers),
        mix=program.table_names.index(MIX),
        keying_ns=tuple(from_s(getattr(arrivals.keying_time_s, key)) for key in keys),
        thinking_ns=tuple(from_s(getattr(arrivals.think_time_s, key)) for key in keys),
        deferred_class=CLASSES.index("delivery") if arrivals.deferred_delivery else -1,
        middle_tier_ns=from_s(arrivals.middle_tier_ms / 1e3),
    )
