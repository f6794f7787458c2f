"""Other jobs than transactions over an interval: simulated on the machine's parts (docs/model.md)."""

from oltpsim.models.jobs.answer import job_faults, run_job
from oltpsim.models.jobs.result import JobResult
