"""Runs in rounds, each of them one transaction of every client, so that counts for each transaction are exact."""

import dataclasses

import numpy as np

from oltpsim.simulator.form import CODES, OPERATIONS, Costs, Cpu, System
from oltpsim.simulator.kernel import KernelEngine

TICK_NS = 100_000_000_000
"""from the end of a client's transaction to its next: much longer than it takes"""


class Rounds:
    """A run after a load, by the clients of a closed model; nothing is written that no client waits for."""

    def __init__(self, model: System, seed: int) -> None:
        self.clients, self.done = len(model.client_registers), 0
        thinking = model.program.distributions.copy()
        assert len(thinking) == 1, "only think times are drawn"
        thinking[0] = [0, TICK_NS, 0]
        writers = tuple(daemon for daemon in model.daemons if any(daemon.operands("await_dirty")))
        model = dataclasses.replace(
            model, program=dataclasses.replace(model.program, distributions=thinking), cpu=Cpu(self.clients),
            daemons=writers, interval=dataclasses.replace(model.interval, start="after_load"),
            costs=Costs(0, 0, 0, 0),
        )  # fmt: skip
        self.engine = KernelEngine(model, seed)

    def run(self, rounds: int) -> None:
        """So many rounds more."""
        self.done += rounds
        self.engine.kernel.run(self.done * TICK_NS + TICK_NS // 2)
        assert self.engine.kernel.figures().counters.ended == self.done * self.clients


def without_time(model: System) -> System:
    """Transactions that take no time, one after the other, if no cache below the pool misses."""
    operations = model.program.operations.copy()
    for name, operands in OPERATIONS.items():
        ours = operations[:, 0] == CODES[name]
        for place, operand in enumerate(operands, 1):
            if operand.endswith("_ns"):
                operations[ours, place] = 0
        if name in {"section", "network"}:
            operations[ours] = [CODES["cpu"], *np.zeros(operations.shape[1] - 1, dtype=np.int64)]
    return dataclasses.replace(model, program=dataclasses.replace(model.program, operations=operations))
