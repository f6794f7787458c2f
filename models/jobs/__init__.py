"""Other jobs than transactions over an interval: simulated on the machine's parts (docs/model.md)."""

from models.jobs.answer import job_faults, run_job
from models.jobs.result import JobResult
