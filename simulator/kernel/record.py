"""The recorder of one run of the kernel: figures that it reports become snapshots."""

from oltpsim.simulator.form import System
from oltpsim.simulator.kernel.compiled import CompiledSystem
from oltpsim.simulator.kernel.figures import ClassCompletions
from oltpsim.simulator.results import ClassRecorder, ResponseCounts, Snapshot
from oltpsim.simulator.results.recording import RunRecorder


class KernelRecorder(RunRecorder):
    """Takes snapshots of everything that accumulates."""

    engine_name = "kernel"

    def __init__(self, system: System, seed: int, kernel: CompiledSystem) -> None:
        super().__init__(system, seed)
        self.kernel = kernel

    @property
    def classes(self) -> list[ClassRecorder]:
        """Completions in the measured interval, by transaction class."""
        return [_recorder(ClassCompletions(*row)) for row in self.kernel.figures().classes.tolist()]

    @property
    def checkpoints_ns(self) -> list[tuple[int, int]]:
        """Begin and end of each checkpoint that is done."""
        return [(began, ended) for began, ended in self.kernel.figures().checkpoints.tolist()]

    def snapshot(self, now: int) -> Snapshot:
        """All counters and levels now."""
        figures = self.kernel.figures()
        return Snapshot(now, figures.counters, figures.levels, ResponseCounts(figures.classes["histogram"]))


def _recorder(completions: ClassCompletions) -> ClassRecorder:
    recorder = ClassRecorder()
    recorder.completed, recorder.rolled_back = completions.completed, completions.rolled_back
    recorder.total_ns = completions.total_ns
    recorder.spent_ns, recorder.histogram = completions.spent_ns.tolist(), completions.histogram.tolist()
    return recorder
