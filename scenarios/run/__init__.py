"""Running scenarios: executors, progress, the store, saved runs."""

from scenarios.run.dask_executor import dask_cluster
from scenarios.run.executors import POLL_S, Meter, Place, place_for, work_through
from scenarios.run.kept import Figures, Record, perform, program, run_hash, scenario_text
from scenarios.run.progress import Display, Silent, display
from scenarios.run.runs import Task, check_replications, default_workers, pool, replicate, run_all, simulate
from scenarios.run.store import Run, Store

__all__ = [
    "POLL_S",
    "Display",
    "Figures",
    "Meter",
    "Place",
    "Record",
    "Run",
    "Silent",
    "Store",
    "Task",
    "check_replications",
    "dask_cluster",
    "default_workers",
    "display",
    "perform",
    "place_for",
    "pool",
    "program",
    "replicate",
    "run_all",
    "run_hash",
    "scenario_text",
    "simulate",
    "work_through",
]
