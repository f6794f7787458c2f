"""The kernel: the engine that executes a system as compiled code. Its trajectory is the reference engine's."""

from dataclasses import replace

import numpy as np

from oltpsim.simulator.expectation import start_state
from oltpsim.simulator.form import IntArray, OnProgress, System, Table, tables_of
from oltpsim.simulator.kernel.compiled import CompiledSystem, refuse_what_does_not_fit
from oltpsim.simulator.kernel.record import KernelRecorder
from oltpsim.simulator.results import Result

DRAWN_AT_ONCE_PAGES = 1 << 22
"""A system of more pages is asked for its memory before its warm start is drawn."""
DRAW_BYTES = 128
"""memory of a drawn warm start at its peak, by page of the database (measured: 72 to 121)"""


def simulate(system: System, seed: int, on_progress: OnProgress | None = None) -> Result:
    """Run a system to the end of its interval. The same system and seed give the same result, byte for byte."""
    engine = KernelEngine(system, seed)
    engine.run(on_progress)
    return engine.record.result()


class KernelEngine:
    """One run. `traced`: keep the first so many ends of transactions."""

    def __init__(self, system: System, seed: int, traced: int = 0) -> None:
        self.system = system
        if system.interval.start == "warm" and system.program.pages > DRAWN_AT_ONCE_PAGES:
            cold = replace(system, interval=replace(system.interval, start="cold"))
            tables = tables_of(cold, seed, start_state(cold, seed))
            refuse_what_does_not_fit(self._with_trace(tables, 0), DRAW_BYTES * system.program.pages)
        self.kernel = CompiledSystem(self._with_trace(self.tables(seed), traced))
        self.record = KernelRecorder(system, seed, self.kernel)

    @staticmethod
    def _with_trace(tables: dict[str, Table], traced: int) -> dict[str, Table]:
        return tables | {"trace": Table(("ends",), np.array([[traced]], dtype=np.int64))}

    def tables(self, seed: int) -> dict[str, Table]:
        """The system as the compiled engine takes it."""
        return tables_of(self.system, seed, start_state(self.system, seed))

    def run(self, on_progress: OnProgress | None) -> None:
        """Let time pass until the end of the interval, noting the series and reporting progress on the way."""
        self.record.take_snapshot(0)
        for stop_ns in self.record.stops_ns():
            self.kernel.run(stop_ns)
            now = int(self.kernel.read("system").rows[0, 0])
            self.record.take_snapshot(now)
            if on_progress is not None:
                on_progress(self.record.progress(now))

    def counter(self, name: str) -> IntArray:
        """The values of one of the program's counter tables now, by group."""
        program = self.system.program
        start, length = program.counter_tables[program.counter_names.index(name)].tolist()
        return self.kernel.read("counters").rows[start : start + length, 0]

    def register(self, name: str) -> IntArray:
        """The values of one of the program's registers now, by client."""
        return self.kernel.read("registers").rows[:, self.system.program.registers.index(name)]
