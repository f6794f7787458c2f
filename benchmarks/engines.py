"""One timed run of an engine of ours."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

from benchmarks.machine import resident_bytes
from oltpsim.simulator.form import Progress, System, to_s
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.reference import ReferenceEngine
from oltpsim.simulator.results import Result

ENGINES = {"kernel": KernelEngine, "reference": ReferenceEngine}


@dataclass(frozen=True)
class Run:
    """CPU times. `run_s` is that in which simulated time passed; making the state and the result come on top."""

    set_up_s: float
    run_s: float
    result_s: float
    simulated_s: float
    transactions: int
    references: int
    database_pages: int
    state_bytes: int
    """of memory that the run took beside the model: the engine, and what becomes the result"""
    steps: tuple[tuple[float, float], ...]
    """(simulated s, CPU s) at the steps of the time series"""
    result: Result

    def run_s_after(self, simulated_s: float) -> float:
        """Wall time of what came after a simulated time."""
        before = [cpu_s for at_s, cpu_s in self.steps if at_s <= simulated_s]
        return self.run_s - (before[-1] if before else 0.0)


def run_engine(engine: str, model: System, seed: int) -> Run:
    """Simulate; every part of it timed."""
    steps: list[tuple[float, float]] = []
    bytes_before = resident_bytes()
    began = process_time()
    simulation = ENGINES[engine](model, seed)
    ready = process_time()

    def note(progress: Progress) -> None:
        steps.append((progress.simulated_s, process_time() - ready))

    simulation.run(note)
    ended = process_time()
    state_bytes = resident_bytes() - bytes_before
    begins_result = process_time()
    result = simulation.record.result()
    done = process_time()
    return Run(
        set_up_s=ready - began,
        run_s=ended - ready,
        result_s=done - begins_result,
        simulated_s=to_s(model.interval.end_ns),
        transactions=simulation.record.snapshots[-1].counters.ended,
        references=simulation.record.snapshots[-1].counters.pool.references,
        database_pages=model.program.pages,
        state_bytes=state_bytes,
        steps=tuple(steps),
        result=result,
    )
