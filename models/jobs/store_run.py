"""A simulated run of a partitioned store: what it leaves behind."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oltpsim.models.jobs.simulated import kernel_engine
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import IntArray, Program, System
from oltpsim.simulator.results import Result


@dataclass(frozen=True)
class StoreState:
    """State at the end of a run: the program's counter tables, and its registers by client, by name."""

    program: Program
    counters: Mapping[str, IntArray]
    registers: Mapping[str, IntArray]

    def counter(self, name: str) -> IntArray:
        """A counter table. Raises InternalError if the program has none of that name, since it loses no server."""
        if name not in self.counters:
            raise InternalError(f"a program without the counter {name!r} loses no server")
        return self.counters[name]

    def register(self, name: str) -> IntArray:
        """A register of all clients, (clients,)."""
        return self.registers[name]


@dataclass(frozen=True)
class StoreRun:
    """A run's result, the state at its end, and histograms of response times, (classes, cells)."""

    result: Result
    state: StoreState
    histograms: IntArray


def simulate_store(model: System, seed: int) -> StoreRun:
    """Run of a store's model by the kernel."""
    engine = kernel_engine(model, seed)
    engine.run(None)
    left = StoreState(
        model.program,
        {name: engine.counter(name) for name in model.program.counter_names},
        {name: engine.register(name) for name in model.program.registers},
    )
    return StoreRun(engine.record.result(), left, np.array([each.histogram for each in engine.record.classes]))
