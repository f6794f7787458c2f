"""A simulated run of a partitioned store: what it leaves behind, whichever engine ran it."""

from collections.abc import Callable
from dataclasses import dataclass

from simulator.errors import InternalError
from simulator.form import IntArray, Model, Program
from simulator.results.result import Result


@dataclass(frozen=True)
class StoreState:
    """State at the end: the program's counter tables, one behind the other, and (clients, registers)."""

    program: Program
    counters: IntArray
    registers: IntArray

    def counter(self, name: str) -> IntArray:
        """A counter table. Raises InternalError if the program has none of that name, since it loses no server."""
        if name not in self.program.counter_names:
            raise InternalError(f"a program without the counter {name!r} loses no server")
        start, length = self.program.counter_tables[self.program.counter_names.index(name)]
        return self.counters[start : start + length]

    def register(self, name: str) -> IntArray:
        """A register of all clients, (clients,)."""
        return self.registers[:, self.program.registers.index(name)]


@dataclass(frozen=True)
class StoreRun:
    """A run's result, the state at its end, and histograms of response times, (classes, cells)."""

    result: Result
    state: StoreState
    histograms: IntArray


RunStore = Callable[[Model, int], StoreRun]
"""An engine's run of a store's model with a seed."""


def run_by_kernel(model: Model, seed: int) -> StoreRun:
    """A run by the kernel, which is loaded here because whoever calculates only must not wait for it."""
    from simulator.kernel.columns import HISTOGRAM
    from simulator.kernel.engine import KernelEngine
    from simulator.kernel.state import REGISTERS

    engine = KernelEngine(model, seed)
    engine.run(None)
    state = StoreState(engine.model.program, engine.state.counters, engine.state.client[:, REGISTERS:])
    return StoreRun(engine.record.result(), state, engine.kernel.classes[:, HISTOGRAM:])
