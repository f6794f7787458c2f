"""What background jobs do, in processes of their own; each writes its answer whole, or nothing."""

from pathlib import Path

from scenarios.page.jobs import report_share
from scenarios.page.question import PageQuestion
from scenarios.run import SavedRun, SimulationTask, simulate, write_saved_run
from simulator.form import Progress

SEED = 1


def confirm(question: PageQuestion, path: Path) -> None:
    """Simulate a question by the kernel and write the run. Raises InputError."""

    def tell(progress: Progress) -> None:
        report_share(progress.simulated_s / progress.end_s)

    scenario = question.scenario("kernel").scenario
    result = simulate(SimulationTask(scenario, SEED), tell)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_saved_run(path, SavedRun(scenario, result))
