"""Simulations: one, replications or many; executors, progress, stored and saved runs."""

from oltpsim.scenarios.run.dask_executor import dask_cluster
from oltpsim.scenarios.run.engines import simulate_by_kernel
from oltpsim.scenarios.run.executors import (
    POLL_S,
    FuturesExecutor,
    LostWorkers,
    ProgressMeter,
    TaskExecutor,
    work_through,
)
from oltpsim.scenarios.run.places import calls_executor, executor_for
from oltpsim.scenarios.run.progress import Display, Silent
from oltpsim.scenarios.run.runs import (
    check_replications,
    default_workers,
    pool_rates,
    pool_replications,
    replicate,
    run_all,
)
from oltpsim.scenarios.run.saved import SAVED_FORMAT, SavedRun, read_saved_run, write_saved_run
from oltpsim.scenarios.run.simulation import SimulationTask, simulate
from oltpsim.scenarios.run.store import (
    RunFigures,
    RunKey,
    Store,
    StoredRun,
    perform_run,
    program_hash,
    run_hash,
    scenario_text,
)
