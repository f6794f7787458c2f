"""Transaction log and its group commit."""

from typing import Literal

from pydantic import Field

from models.input import Microseconds, Spec, WholeNumber
from simulator.form import NS_PER_US, Log


class LogSpec(Spec):
    """Transaction log. `durable`: a commit waits for a group flush; `buffered`: the OS writes it later."""

    commit: Literal["durable", "buffered"]
    flush_overhead_us: Microseconds = Field(default=0.0, ge=0)
    syncs_per_group: WholeNumber = Field(default=1, ge=1, le=4)
    """one after the other, each as large: 2 with a binary log that is synced at every commit"""


def log_of(log: LogSpec) -> Log:
    """Whether commits wait for the log, and the overhead of a flush."""
    return Log(log.commit == "durable", round(log.flush_overhead_us * NS_PER_US), log.syncs_per_group)
