"""The kernel: the engine that executes a system as compiled code. Its trajectory is the reference engine's."""

from oltpsim.simulator.expectation import start_state
from oltpsim.simulator.form import IntArray, OnProgress, SeededRun, StartState, System, run_of
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
            refuse_what_does_not_fit(run_of(system, seed), DRAW_BYTES * system.program.pages)
        self.kernel = CompiledSystem(*self.passed(seed, traced))
        self.record = KernelRecorder(system, seed, self.kernel)

    def passed(self, seed: int, traced: int) -> tuple[SeededRun, StartState]:
        """The records that the compiled engine takes."""
        return run_of(self.system, seed, traced), start_state(self.system, seed)

    def run(self, on_progress: OnProgress | None) -> None:
        """Let time pass until the end of the interval, noting the series and reporting progress on the way."""
        self.record.take_snapshot(0)
        for stop_ns in self.record.stops_ns():
            now = self.kernel.run(stop_ns)
            self.record.take_snapshot(now)
            if on_progress is not None:
                on_progress(self.record.progress(now))

    def counter(self, name: str) -> IntArray:
        """The values of one of the program's counter tables now, by group."""
        program = self.system.program
        start, length = program.counter_tables[program.counter_names.index(name)].tolist()
        return self.kernel.values().counters[start : start + length, 0]

    def register(self, name: str) -> IntArray:
        """The values of one of the program's registers now, by client."""
        return self.kernel.values().registers[:, self.system.program.registers.index(name)]
