"""Other jobs than transactions over an interval: what a machine needs for them, by formulas (docs/model.md)."""

from models.jobs.answer import job_faults, run_job
from models.jobs.result import JobResult
from models.jobs.store_run import StoreRun, StoreState
