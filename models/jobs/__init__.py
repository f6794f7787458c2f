"""Other jobs than transactions over an interval: what a machine needs for them, by formulas (docs/model.md)."""

from models.jobs.answer import faults, run_job
from models.jobs.result import JobResult

__all__ = ["JobResult", "faults", "run_job"]
