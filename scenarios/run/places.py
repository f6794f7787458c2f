"""Places where work is done: this process, worker processes, or a Dask cluster, with the same answers at each."""

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager

from oltpsim.calibration.workers import worker_pool
from oltpsim.scenarios.run.dask_executor import dask_cluster
from oltpsim.scenarios.run.executors import LocalExecutor, LostWorkers, ProcessExecutor, ProgressMeter, TaskExecutor
from oltpsim.scenarios.run.progress import Display


@contextmanager
def executor_for(
    engines: Sequence[str], workers: int, meter: ProgressMeter, cluster: str | None = None
) -> Iterator[TaskExecutor]:
    """Executor for tasks of these engines: a cluster by its address, else processes; this one for one worker or task.

    The analytic engine alone stays in this process: others would start in more time than they'd save.
    """
    if cluster is not None:
        with dask_cluster(cluster, meter.display) as place:
            yield place
        return
    if min(workers, sum(engine != "analytic" for engine in engines)) < 2:
        yield LocalExecutor(meter)
        return
    processes = ProcessExecutor(min(workers, len(engines)), meter)
    try:
        with _loss_in_words():
            yield processes
    finally:
        processes.close()


@contextmanager
def calls_executor(
    most_calls: int, workers: int, display: Display, cluster: str | None = None
) -> Iterator[Executor | None]:
    """Executor of concurrent.futures for a fit's calls: a cluster's, else that of processes; None for one worker.

    `most_calls`: calls that can be made at the same time.
    """
    if cluster is not None:
        with dask_cluster(cluster, display) as place:
            yield place.calls
        return
    with _loss_in_words(), worker_pool(min(workers, most_calls)) as pool:
        yield pool


@contextmanager
def _loss_in_words() -> Iterator[None]:
    """A worker that is lost in words."""
    try:
        yield
    except BrokenExecutor as error:
        raise LostWorkers(
            "a worker process was ended from outside, most likely because memory ran out: give fewer by --workers"
        ) from error
