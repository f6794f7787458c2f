"""Simulation of a partitioned store by the kernel: what `models.jobs.run_job` calculates its figures from."""

from __future__ import annotations

import numpy as np

from models.jobs import StoreRun, StoreState
from scenarios.run.engines import load_engine
from simulator.form import Model


def simulate_store(model: Model, seed: int) -> StoreRun:
    """Run of a store's model by the kernel."""
    kernel = load_engine("kernel")
    engine = kernel.KernelEngine(model, seed)
    engine.run(None)
    program, state = engine.model.program, engine.state
    left = StoreState(
        program,
        {name: kernel.counter_values(state, program, name) for name in program.counter_names},
        {name: kernel.register_values(state, program, name) for name in program.registers},
    )
    return StoreRun(engine.record.result(), left, np.array([each.histogram for each in engine.record.classes]))
