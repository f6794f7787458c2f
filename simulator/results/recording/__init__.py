"""Recording of a run: snapshots on its way, and the result that they add up to, with intervals (loads SciPy)."""

from oltpsim.simulator.results.recording.run_recorder import MOST_SERIES_STEPS, RunRecorder
from oltpsim.simulator.results.recording.statistics import (
    CONFIDENCE_LEVEL,
    batch_means,
    mean_of_replications,
    steady_from,
    student_t_factor,
)
